/** The answer of an attached hook, and the verdict of all hooks at one point. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../engine/Dialect.ts"
import { changes, type HookPoint } from "./response.ts"

export interface Answer extends Dialect.Answer {
  /** Why the turn ends. */
  readonly abort?: string
  /** The result that replaces the operation. */
  readonly block?: Json
  /** The changed value. Each point has one field that hooks can change. */
  readonly value?: Json
}

/** The reason to end the turn, a result that replaces the operation, or a changed value. */
export interface Verdict {
  readonly abort?: string
  readonly block?: Json
  readonly value?: Json
}

export const silent: Answer = { outcome: "success", messages: [], problems: [] }

/**
 * Applies the change of a hook to the fields of a point. A payload is merged, because a hook returns only the changed
 * parts of it.
 */
export const withChange = (fields: JsonObject, point: HookPoint, { value }: Answer): JsonObject => {
  if (value === undefined) return fields
  const name = changes[point]
  // Payloads were decoded as objects, so the casts are safe.
  const changed = name === "payload" ? { ...fields[name] as JsonObject, ...value as JsonObject } : value
  return { ...fields, [name]: changed }
}

/**
 * Merges the answers. The last hook that ran decides about `abort` and `block`. `fields` contains the changes of all
 * hooks.
 */
export const merge = (answers: ReadonlyArray<Answer>, point: HookPoint | undefined, fields: JsonObject): Verdict => {
  const { abort, block } = answers.at(-1) ?? silent
  const isChanged = answers.some(({ value }) => value !== undefined)
  if (abort !== undefined || block !== undefined) return defined({ abort, block })
  return point !== undefined && isChanged ? defined({ value: fields[changes[point]] }) : {}
}
