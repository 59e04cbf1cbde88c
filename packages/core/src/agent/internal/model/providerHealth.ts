/**
 * Circuit breakers of the providers: a provider that fails again and again is not asked for a while, then a single call
 * tries it.
 */

/** When not to ask a provider. */
export interface Breaker {
  /** Failures in a row that are the provider's fault and not the request's. */
  readonly failures: number
  /** For how long not to ask it, in milliseconds. */
  readonly cooldownMs: number
}

/** A class because it is the memory of an agent: every turn reads it, every failed call writes it. */
export class ProviderHealth {
  private readonly breaker: Breaker
  private readonly states = new Map<string, { failures: number; closedUntil: number }>()

  constructor(breaker: Breaker) {
    this.breaker = breaker
  }

  /**
   * Whether a call may go to this provider now. After the cooldown one call may; others are sent elsewhere until that
   * call has succeeded, or another cooldown is over.
   */
  allows(provider: string, now: number): boolean {
    const state = this.states.get(provider)
    if (state === undefined || state.failures < this.breaker.failures) return true
    if (now < state.closedUntil) return false
    state.closedUntil = now + this.breaker.cooldownMs
    return true
  }

  recordSuccess(provider: string): void {
    this.states.delete(provider)
  }

  recordFailure(provider: string, now: number): void {
    const state = this.states.get(provider) ?? { failures: 0, closedUntil: 0 }
    state.failures++
    if (state.failures >= this.breaker.failures) state.closedUntil = now + this.breaker.cooldownMs
    this.states.set(provider, state)
  }
}
