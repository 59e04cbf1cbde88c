/**
 * Circuit breakers of providers. A provider that keeps failing is not called for a while; then a single call tries it.
 */

/** When to stop calling a provider. */
export interface Breaker {
  /**
   * The number of failures in a row that open the circuit. Only failures of the provider count, not invalid requests.
   */
  readonly failures: number
  /** How long the provider is not called, in milliseconds. */
  readonly cooldownMs: number
}

/** A class, because it is mutable state of an agent: every turn reads it and every failed call writes it. */
export class ProviderHealth {
  private readonly breaker: Breaker
  private readonly states = new Map<string, { failures: number; closedUntil: number }>()

  constructor(breaker: Breaker) {
    this.breaker = breaker
  }

  /**
   * Whether the provider may be called now. After the cooldown, one call is allowed. Further calls are refused until
   * that call has succeeded or another cooldown has passed.
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
