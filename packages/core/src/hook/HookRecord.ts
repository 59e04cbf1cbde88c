/**
 * Decision records: which hooks ran at a point, in which order, what each one answered, and which one decided. The same
 * hooks and the same input give the same record, except for the times.
 *
 * @since 0.1.0
 */
import { canonical, digest } from "../data/Json.ts"
import { checked } from "../data/option/ArgumentCheck.ts"
import type { HookPointName } from "./HookPoint.ts"

/** Why a hook failed. @category models @since 0.1.0 */
export type FailureKind = "threw" | "rejected" | "failed" | "died" | "timeout" | "interrupted" | "illegal"

/** The failure of a hook, and what followed from it. @category models @since 0.1.0 */
export interface HookFailure {
  readonly hook: string
  readonly point: HookPointName
  readonly kind: FailureKind
  readonly message: string
  /** `open` means that the chain continued as if the hook had answered Continue. */
  readonly policy: "open" | "reject" | "abort"
}

/** The part of one hook in a record. @category models @since 0.1.0 */
export interface HookAnswer {
  readonly hook: string
  readonly answer:
    | "Continue"
    | "Transform"
    | "Replace"
    | "Reject"
    | "Respond"
    | "Abort"
    | "Ask"
    | "failed-open"
    | "failed-closed"
    | "skipped"
    | "cancelled"
  /** The reason of a Reject, Abort or Ask, why the hook was skipped, or how it failed. */
  readonly why?: string
  /** Digests of the value before and after a change, and a description of the change. */
  readonly change?: { readonly before: string; readonly after: string; readonly diff: string }
  /** The answer of a shadow hook: it was recorded but had no effect. */
  readonly shadow?: true
  /** The hook ran again because a later hook changed the value. */
  readonly again?: true
  /** The change had no effect, because the hook was asked again. */
  readonly ignored?: true
  readonly durationMs: number
}

/** One run of a point. @category models @since 0.1.0 */
export interface HookRecord {
  readonly point: HookPointName
  /** The subject of the event: the name of the tool at tool points, the name of the signal at `onSignal`. */
  readonly subject?: string
  readonly hooks: ReadonlyArray<HookAnswer>
  /** The outcome of the whole chain. */
  readonly action: "Continue" | "Transform" | "Replace" | "Reject" | "Respond" | "Abort" | "Ask"
  readonly decidedBy?: string
  /** At tool points: the id of the tool call. */
  readonly callId?: string
  /** When the point ended, in milliseconds since the epoch. This field and the next ones are set by an agent. */
  readonly time?: number
  readonly sessionId?: string
  /** The names of the agents from the one that the host started to this one. */
  readonly agentPath?: ReadonlyArray<string>
  readonly turnNumber?: number
  readonly stepNumber?: number
}

/** Describes a change by digests and by the paths that differ. @category constructors @since 0.1.0 */
export const change = (before: unknown, after: unknown): NonNullable<HookAnswer["change"]> => ({
  before: digest(before),
  after: digest(after),
  diff: diff(before, after).slice(0, 4).join(", ") || "no difference"
})

/** The record of a change whose content is confidential. @category constants @since 0.1.0 */
export const confidential: NonNullable<HookAnswer["change"]> = Object.freeze({
  before: "confidential",
  after: "confidential",
  diff: "confidential"
})

/**
 * Lists the paths at which two values differ, as `path: before -> after`, each side at most 80 characters.
 *
 * @category reading
 * @since 0.1.0
 */
export const diff = (before: unknown, after: unknown, path = ""): ReadonlyArray<string> => {
  // Canonical text is `null` for a missing value.
  if (before === after || (before !== undefined && after !== undefined && canonical(before) === canonical(after))) {
    return []
  }
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return keys.flatMap((key) => diff(before[key], after[key], path === "" ? key : `${path}.${key}`))
  }
  return [`${path === "" ? "" : `${path}: `}${short(before)} -> ${short(after)}`]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const short = (value: unknown): string => {
  const text = value === undefined ? "nothing" : canonical(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/**
 * Renders records as readable lines: one for each point, then one for each of its hooks.
 *
 * @category reading
 * @since 0.1.0
 */
export const explain = checked(
  "HookRecord.explain",
  ["records"],
  (records: ReadonlyArray<HookRecord>): string => records.flatMap(lines).join("\n")
)

const lines = (record: HookRecord): ReadonlyArray<string> => [
  `${record.point}${record.subject === undefined ? "" : ` ${record.subject}`}: ${record.action}${
    record.decidedBy === undefined ? "" : ` by ${record.decidedBy}`
  }`,
  ...record.hooks.map((hook) => {
    const notes = [
      ...(hook.why === undefined ? [] : [hook.why]),
      ...(hook.change === undefined ? [] : [hook.change.diff]),
      ...(hook.shadow ? ["shadow, not obeyed"] : []),
      ...(hook.again ? ["asked again"] : []),
      ...(hook.ignored ? ["change not applied"] : [])
    ]
    return `  ${hook.hook}: ${hook.answer}${notes.length === 0 ? "" : ` (${notes.join("; ")})`} ${
      hook.durationMs.toFixed(2)
    } ms`
  })
]
