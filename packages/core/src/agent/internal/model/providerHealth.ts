/**
 * Which providers are worth trying: one that fails again and again is left alone for a while, then tried by a single
 * call.
 */

/** When to leave a provider alone. */
export interface Breaker {
  /** Failures in a row, of kinds that are the provider's and not the request's. */
  readonly failures: number
  /** How long to leave it alone, in milliseconds. */
  readonly cooldownMs: number
}

/** A class because it is the memory of an agent: every turn reads it, every failed call writes it. */
export class Health {
  private readonly breaker: Breaker
  private readonly states = new Map<string, { failures: number; closedUntil: number }>()

  constructor(breaker: Breaker) {
    this.breaker = breaker
  }

  /**
   * Whether a call may go there now. After the cooldown one call may; the others wait for what becomes of it, or for
   * another cooldown.
   */
  allows(provider: string, now: number): boolean {
    const state = this.states.get(provider)
    if (state === undefined || state.failures < this.breaker.failures) return true
    if (now < state.closedUntil) return false
    state.closedUntil = now + this.breaker.cooldownMs
    return true
  }

  succeeded(provider: string): void {
    this.states.delete(provider)
  }

  failed(provider: string, now: number): void {
    const state = this.states.get(provider) ?? { failures: 0, closedUntil: 0 }
    state.failures++
    if (state.failures >= this.breaker.failures) state.closedUntil = now + this.breaker.cooldownMs
    this.states.set(provider, state)
  }
}
