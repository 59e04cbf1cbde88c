/**
 * The control-flow failure that ends a turn without an error.
 *
 * @since 0.1.0
 */

/**
 * Ends the turn because of an Abort, a suspension, a limit, or because it was parked. A custom core must not catch it.
 *
 * @category models
 * @since 0.1.0
 */
export interface TurnEnded {
  readonly _tag: "TurnEnded"
  readonly end:
    | { readonly type: "aborted"; readonly reason: string; readonly by: string }
    | { readonly type: "suspended" }
    | { readonly type: "parked" }
    | {
      readonly type: "limited"
      readonly limit: string
      readonly used: number
      readonly max: number
      readonly text: string
    }
}
