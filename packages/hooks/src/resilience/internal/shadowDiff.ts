/** Compares what a shadow would have done at a point with what happened there. */
import type { HookAction } from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, type Row, table as points } from "@belay/core/HookPoint"
import { diff } from "@belay/core/HookRecord"
import { withoutUndefined } from "../../internal/withoutUndefined.ts"
import type { Sent } from "./shadowContext.ts"

/** A decision of a hook or of the chain. @category models @since 0.1.0 */
export interface Decision {
  readonly action: HookAction["_tag"]
  readonly reason?: string
  /** The hook that decided. Present for decisions of the chain. */
  readonly by?: string
}

/**
 * How the decision of the hook differs from what happened.
 *
 * - `stricter`: it would have stopped something that continued, or stopped it in a stricter way.
 * - `laxer`: it would have continued something that was stopped, or stopped it in a milder way.
 * - `changed`: it would have changed the value.
 * - `said`: it would have sent a text to the model or the user.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "stricter" | "laxer" | "changed" | "said"

/** One difference. @category models @since 0.1.0 */
export interface Diff {
  readonly hook: string
  readonly point: HookPointName
  readonly kind: Kind
  /** The name of the tool, at the points of tool calls. */
  readonly subject?: string
  /** What the hook would have done. */
  readonly would: Decision
  /** What happened. */
  readonly did: Decision
  /** The differences as `path: before -> after`. Present for `changed`. */
  readonly changes?: ReadonlyArray<string>
  /** The texts for the model (`inject`, `followUp`) or the user (`notifyUser`). Present for `said`. */
  readonly said?: ReadonlyArray<Sent>
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
}

/** Whether the point allows the action. An absent answer means Continue. */
export const isLegal = (point: HookPointName, answer: unknown): boolean =>
  answer === undefined ||
  (typeof answer === "object" && answer !== null && "_tag" in answer &&
    (answer._tag === "Continue" || (points[point] as Row).legal.some((tag) => tag === answer._tag)))

interface Comparison {
  readonly point: HookPointName
  readonly event: unknown
  readonly answer: unknown
  readonly said: ReadonlyArray<Sent>
  readonly outcome: HookContext["outcome"]
}

type Difference = Pick<Diff, "kind" | "would" | "did" | "changes" | "said">

/** The actions that stop an operation. */
const stops: ReadonlySet<string> = new Set(["Reject", "Abort", "Ask", "Respond"])

/** Compares a legal answer of the hook, and what it would have sent, with the outcome of the point. */
export const differences = (
  { answer, event, outcome, point, said }: Comparison
): ReadonlyArray<Difference> => {
  // The answer is legal at the point, as was checked.
  const action = (answer ?? { _tag: "Continue" }) as HookAction
  const would: Decision = "reason" in action ? { action: action._tag, reason: action.reason } : { action: action._tag }
  const did = withoutUndefined<Decision>({
    action: outcome?.action ?? "Continue",
    reason: outcome?.reason,
    by: outcome?.decidedBy
  })
  const found: Array<Difference> = said.length === 0 ? [] : [{ kind: "said", would, did, said }]
  if (stops.has(would.action)) {
    if (would.action !== did.action) {
      found.push({
        kind: did.action === "Abort" || (did.action === "Reject" && would.action !== "Abort") ? "laxer" : "stricter",
        would,
        did
      })
    }
  } else if (stops.has(did.action)) found.push({ kind: "laxer", would, did })
  else if (action._tag === "Transform" || action._tag === "Replace") {
    const { field } = points[point] as Row
    const part = (value: unknown) =>
      field === undefined ? value : (value as { readonly [field: string]: unknown } | undefined)?.[field]
    const changes = diff(
      part(event),
      point === "preToolCall" || field === undefined ? part(action.value) : action.value
    )
    if (changes.length > 0) found.push({ kind: "changed", would, did, changes })
  }
  return found
}
