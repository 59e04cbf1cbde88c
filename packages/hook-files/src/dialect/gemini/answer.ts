/** The answer of a Gemini CLI hook, and the verdict of all hooks of an event. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../engine/Dialect.ts"
import { isFields } from "../../internal/fields.ts"

export interface Answer extends Dialect.Answer {
  /** Whether the answer of the entry could be read. */
  readonly isRead: boolean
  readonly denied?: string
  /** Why a person has to decide. */
  readonly asked?: string
  /** Why the turn ends. */
  readonly stopped?: string
  readonly specific: Specific
}

/** The fields of `hookSpecificOutput`. They belong to one event. */
export interface Specific {
  readonly context?: string
  readonly toolInput?: JsonObject
  readonly toolOutput?: string
  readonly tail?: { readonly name: string; readonly args: JsonObject }
  readonly request?: JsonObject
  readonly response?: JsonObject
  readonly mode?: "AUTO" | "ANY" | "NONE"
  readonly allowed?: ReadonlyArray<string>
  readonly clear?: boolean
}

export interface Verdict extends Omit<Specific, "context"> {
  readonly denied?: string
  readonly asked?: string
  readonly stopped?: string
  readonly contexts: ReadonlyArray<string>
}

export const silent: Answer = { outcome: "success", isRead: false, messages: [], problems: [], specific: {} }

/** The verdict if no entry runs. */
export const noVerdict: Verdict = { contexts: [] }

/** The modes of tool selection, in the order of strictness, with the strictest last. */
export const modes = ["AUTO", "ANY", "NONE"] as const

/**
 * Merges the answers of all entries. One entry that denies is enough to deny. All reasons and contexts are kept. If
 * several entries set the same other field, the value of the last entry is used.
 */
export const merge = (answers: ReadonlyArray<Answer>): Verdict => {
  const { context: _, ...specific } = answers.reduce<Specific>(
    (before, answer) => mergeSpecific(before, answer.specific),
    {}
  )
  return {
    ...specific,
    ...defined({
      denied: joined(answers.map(({ denied }) => denied)),
      asked: joined([...new Set(answers.map(({ asked }) => asked))]),
      stopped: joined(answers.map(({ stopped }) => stopped))
    }),
    contexts: answers.flatMap((answer) => answer.specific.context ?? [])
  }
}

const joined = (texts: ReadonlyArray<string | undefined>): string | undefined => {
  const found = texts.filter((text) => text !== undefined)
  return found.length === 0 ? undefined : found.join("\n")
}

const mergeSpecific = (before: Specific, next: Specific): Specific => ({
  ...before,
  ...next,
  ...defined({
    toolInput: both(before.toolInput, next.toolInput, (one, other) => ({ ...one, ...other })),
    request: both(before.request, next.request, mergeRequest),
    mode: both(before.mode, next.mode, (one, other) => modes[Math.max(modes.indexOf(one), modes.indexOf(other))]),
    allowed: both(before.allowed, next.allowed, (one, other) => [...one, ...other]),
    clear: before.clear === true ? true : undefined
  })
})

/** Combines two values. Returns undefined unless both are set. */
const both = <A>(one: A | undefined, other: A | undefined, combine: (one: A, other: A) => A | undefined) =>
  one === undefined || other === undefined ? undefined : combine(one, other)

/** Merges two requests for a model. The settings in their `config` are merged one by one. */
export const mergeRequest = (before: JsonObject, next: JsonObject): JsonObject => {
  const merged = { ...before, ...next }
  const [one, other] = [before["config"], next["config"]]
  return isFields(one) && isFields(other)
    // Both values are JSON objects, so the merged value is one too.
    ? { ...merged, config: { ...one, ...other } as JsonObject }
    : merged
}
