/** Answers of Base Coat hooks, made one contract before anything is done about them. */
import type { Json, JsonObject } from "@belay/core/Json"
import { JsonValue } from "@belay/core/Message"
import { redactText } from "@belay/hooks/Secrets"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Fields } from "../shared/fields.ts"
import { unheard } from "../shared/strayAnswer.ts"

/** What counts of an answer. */
export interface Answer {
  readonly action: "passThrough" | "injectContext" | "block" | "modify"
  readonly reason?: string
  readonly context: ReadonlyArray<string>
  readonly overwrite: boolean
  readonly input?: Json
  readonly output?: Json
  readonly warnings: ReadonlyArray<string>
  readonly metadata: JsonObject
}

const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))
const Texts = Schema.Union([Schema.Array(Schema.String), Schema.String])

const Wire = Schema.Struct({
  action: maybe(Schema.Literals(["passThrough", "injectContext", "block", "modify"])),
  reason: maybe(Schema.String),
  additionalContext: maybe(Texts),
  mode: maybe(Schema.Literals(["append", "overwrite"])),
  warnings: maybe(Texts),
  modifiedInput: Schema.optional(JsonValue),
  modifiedOutput: Schema.optional(JsonValue),
  metadata: maybe(Schema.Record(Schema.String, JsonValue))
})

const decode = Schema.decodeUnknownResult(Wire)

export const passThrough: Answer = { action: "passThrough", context: [], overwrite: false, warnings: [], metadata: {} }

/** Reads an answer, or says why it is none. */
export const normalise = (said: Fields | undefined): Result.Result<Answer, string> => {
  if (said === undefined) return Result.succeed(passThrough)
  const decoded = decode(
    Object.fromEntries(Object.keys(Wire.fields).flatMap((key) => Object.hasOwn(said, key) ? [[key, said[key]]] : []))
  )
  if (Result.isFailure(decoded)) {
    return Result.fail(`its response does not fit: ${decoded.failure.message.replaceAll(/\s+/g, " ")}`)
  }
  const { additionalContext, metadata, mode, modifiedInput: input, modifiedOutput: output, reason, warnings } =
    decoded.success
  const context = list(additionalContext)
  const modifies = input !== undefined || output !== undefined
  const action = decoded.success.action ?? (modifies ? "modify" : context.length > 0 ? "injectContext" : "passThrough")
  const stray = [
    ...(modifies && action !== "modify" ? [`its changes do not count, because its action is ${action}`] : []),
    ...(context.length > 0 && action === "passThrough"
      ? ["its context does not count, because its action is passThrough"]
      : []),
    ...unheard(said, { top: Object.keys(Wire.fields), inner: [] }, "hooks of Base Coat")
  ]
  return Result.succeed({
    action,
    ...(typeof reason === "string" ? { reason: redactText(reason.slice(0, maxText)) } : {}),
    context: action === "passThrough" ? [] : context.filter((one) => one.trim() !== "").map(redactText),
    overwrite: mode === "overwrite",
    ...(action === "modify" && input !== undefined ? { input } : {}),
    ...(action === "modify" && output !== undefined ? { output } : {}),
    warnings: [...list(warnings).slice(0, 20).map((one) => redactText(one.slice(0, 1_000))), ...stray],
    metadata: metadata ?? {}
  })
}

const maxText = 10_000

const list = (texts: string | ReadonlyArray<string> | null | undefined): ReadonlyArray<string> =>
  typeof texts === "string" ? [texts] : texts ?? []
