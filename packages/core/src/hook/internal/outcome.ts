/** The outcome of a point. */
import type * as HookAction from "../HookAction.ts"
import type { ObservedOutcome } from "../HookContext.ts"
import type { HookFailure } from "../HookRecord.ts"

/** The outcome of a point. */
export interface Outcome {
  readonly action: HookAction.HookAction
  /** The event with all changes, as a next hook would receive it. */
  readonly event: unknown
  readonly by: string | undefined
  /** Set when a hook failed and its failure policy chose the action. */
  readonly failure: HookFailure | undefined
  /** What hooks want a person to decide about this value, in the order of the hooks. Set if the action is an `Ask`. */
  readonly questions?: ReadonlyArray<HookQuestion>
}

/** A question that a hook asks. */
export interface HookQuestion {
  readonly by: string
  readonly ask: HookAction.Ask
}

/** Decodes a value that the hook `by` changed, as the operation will. Returns it, or why it does not fit. */
export type Decode = (
  value: unknown,
  event: unknown,
  by: string
) => { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

/** The action of a chain whose hooks only changed the value. */
export const changed: HookAction.Transform<undefined> = Object.freeze({ _tag: "Transform", value: undefined })

/** The outcome as observers receive it. */
export const observed = (
  action: HookAction.HookAction,
  by: string | undefined,
  failedOpen?: ReadonlyArray<string>
): ObservedOutcome => ({
  action: action._tag,
  ...("reason" in action ? { reason: action.reason } : {}),
  ...(by === undefined ? {} : { decidedBy: by }),
  ...(failedOpen === undefined ? {} : { failedOpen })
})

/** The action of a hook that failed, if its failure policy is not `open`. */
export const decisionAfter = (
  { hook, kind, message, point, policy }: HookFailure
): HookAction.Abort | HookAction.Reject => {
  const reason = `hook ${hook} failed at ${point} (${kind}): ${message}`
  return policy === "abort" ? { _tag: "Abort", reason } : { _tag: "Reject", reason }
}
