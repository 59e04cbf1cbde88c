/**
 * An end of a turn that is not an error.
 *
 * @since 0.1.0
 */

/** Ends the turn from inside: an Abort, a suspension, a limit. Let it pass through. @category models @since 0.1.0 */
export interface TurnEnded {
  readonly _tag: "TurnEnded"
  readonly end:
    | { readonly type: "aborted"; readonly reason: string; readonly by: string }
    | { readonly type: "suspended" }
    | {
      readonly type: "limited"
      readonly limit: string
      readonly used: number
      readonly max: number
      readonly text: string
    }
}
