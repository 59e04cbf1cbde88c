/** The outcome of a point, and where a resumed run starts. */
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
  /** Set when a gate asks a question and all other hooks have already answered for this value. */
  readonly atGate?: true
}

/** Decodes a value that the hook `by` changed, as the operation will. Returns it, or why it does not fit. */
export type Decode = (
  value: unknown,
  event: unknown,
  by: string
) => { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

/** A question that was answered, about exactly this value. */
export interface Settled {
  readonly hook: string
  readonly fingerprint: string
  /**
   * Set if a person wrote this value. The hook still runs and may reject it, but a question of it counts as answered.
   */
  readonly edited?: boolean
  /** Set if the hook that asked proposed this value. */
  readonly proposed?: true
}

/** Where a resumed run starts, and which questions were already answered. */
export interface Resume {
  /** Skips the hooks up to this one, and this one. */
  readonly after?: string
  /** The hooks up to this one have run for other arguments. They run again as hooks that are asked again. */
  readonly again?: string
  /** Skips all hooks except gates that have not answered for this value. */
  readonly gatesOnly?: boolean
  /** The answered questions: the hook, and the text of what it asked about. */
  readonly settled: ReadonlyArray<Settled>
}

/** The action of a chain whose hooks only changed the value. */
export const changed: HookAction.Transform<undefined> = Object.freeze({ _tag: "Transform", value: undefined })

/** The outcome as observers receive it. */
export const observed = (action: HookAction.HookAction, by: string | undefined): ObservedOutcome => ({
  action: action._tag,
  ...("reason" in action ? { reason: action.reason } : {}),
  ...(by === undefined ? {} : { decidedBy: by })
})

/** The action of a hook that failed, if its failure policy is not `open`. */
export const decisionAfter = (
  { hook, kind, message, point, policy }: HookFailure
): HookAction.Abort | HookAction.Reject => {
  const reason = `hook ${hook} failed at ${point} (${kind}): ${message}`
  return policy === "abort" ? { _tag: "Abort", reason } : { _tag: "Reject", reason }
}
