/**
 * The error with which an adapter refuses something, if the SDK has no other way to say it.
 *
 * @since 0.2.0
 */

/**
 * The guard refused a message, a model call or a tool call. Nothing of it has run.
 *
 * @category errors
 * @since 0.2.0
 */
export class GuardError extends Error {
  override readonly name = "GuardError"
  /** `deny` refuses one operation, `stop` ends the turn, `ask` waits for a person. */
  readonly verdict: "deny" | "stop" | "ask"
  /** The hook that decided, `policy`, `person` or `runtime`. */
  readonly by: string
  /** Why. */
  readonly reason: string

  constructor({ by, reason, type }: {
    readonly type: "deny" | "stop" | "ask"
    readonly by: string
    readonly reason: string
  }) {
    super(reason)
    this.verdict = type
    this.by = by
    this.reason = reason
  }
}
