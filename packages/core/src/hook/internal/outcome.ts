/** What a run of a point yields, and how a resumed one begins. */
import type * as HookAction from "../HookAction.ts"
import type { ObservedOutcome } from "../HookContext.ts"
import type { HookFailure } from "../HookRecord.ts"

/** The outcome of a point. */
export interface Outcome {
  readonly action: HookAction.HookAction
  /** What the next hook would have received: the event with every change in it. */
  readonly event: unknown
  readonly by: string | undefined
  /** Set when a hook failed and its failure policy chose the action. */
  readonly failure: HookFailure | undefined
  /** Set when a gate asks a question and all other hooks have already answered for this value. */
  readonly atGate?: true
}

/** Reads a changed value as the operation will: its decoded form, or why it does not fit. */
export type Decode = (
  value: unknown,
  event: unknown
) => { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

/** A question that was answered, about exactly this value. */
export interface Settled {
  readonly hook: string
  readonly fingerprint: string
  /** A person wrote this value: the hook looks at it, and may refuse it, but need not ask about it. */
  readonly edited?: boolean
}

/** Where a resumed fold begins, and what was answered already. */
export interface Resume {
  /** Skips the hooks up to this one, and this one. */
  readonly after?: string
  /** Skips all hooks but gates that have not answered for this value. */
  readonly gatesOnly?: boolean
  /** Questions that were answered: hook and the text of what it asked about. */
  readonly settled: ReadonlyArray<Settled>
}

/** The action of a chain whose hooks only changed the value. */
export const changed: HookAction.Transform<undefined> = Object.freeze({ _tag: "Transform", value: undefined })

/** What an observer gets to know. */
export const observed = (action: HookAction.HookAction, by: string | undefined): ObservedOutcome => ({
  action: action._tag,
  ...("reason" in action ? { reason: action.reason } : {}),
  ...(by === undefined ? {} : { decidedBy: by })
})
