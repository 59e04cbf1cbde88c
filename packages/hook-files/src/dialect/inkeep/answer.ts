/** The answer of an attached hook, and the verdict of all hooks at one point. */
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../Dialect.ts"
import { defined } from "../../internal/defined.ts"
import { changes, type HookPoint } from "./response.ts"

export interface Answer extends Dialect.Answer {
  /** Why the turn ends. */
  readonly abort?: string
  /** What is answered in place of the operation. */
  readonly block?: Json
  /** The value that the point may change. */
  readonly value?: Json
}

/** The end of the turn, an answer in place of the operation, or another value. */
export interface Verdict {
  readonly abort?: string
  readonly block?: Json
  readonly value?: Json
}

export const silent: Answer = { outcome: "success", messages: [], problems: [] }

/** The fields of a point with the change of a hook. A payload only says what is to change of it. */
export const withChange = (fields: JsonObject, point: HookPoint, { value }: Answer): JsonObject => {
  if (value === undefined) return fields
  const name = changes[point]
  // Payloads were decoded as objects.
  const changed = name === "payload" ? { ...fields[name] as JsonObject, ...value as JsonObject } : value
  return { ...fields, [name]: changed }
}

/** The verdict after the last hook that ran; `fields` have all changes. */
export const merge = (answers: ReadonlyArray<Answer>, point: HookPoint | undefined, fields: JsonObject): Verdict => {
  const { abort, block } = answers.at(-1) ?? silent
  const isChanged = answers.some(({ value }) => value !== undefined)
  if (abort !== undefined || block !== undefined) return defined({ abort, block })
  return point !== undefined && isChanged ? defined({ value: fields[changes[point]] }) : {}
}
