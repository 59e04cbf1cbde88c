/** Reads the answers of Base Coat hooks and drops what a hook may not do at its event. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import { JsonValue } from "@belay/core/Message"
import { redactText } from "@belay/hooks/Secrets"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Dialect from "../../engine/Dialect.ts"
import { type Fields, isFields } from "../../internal/fields.ts"
import { ignoredFields } from "../shared/strayAnswer.ts"
import type { Handler } from "./events.ts"
import { powers } from "./events.ts"

export interface Answer extends Dialect.Answer {
  /** The name of the hook in the log: the `hookId` of its metadata, or else its key. */
  readonly hookId: string
  readonly action: "passThrough" | "injectContext" | "block" | "modify"
  readonly reason?: string
  readonly blocked?: Block
  /** Why a person has to decide: the hook could have blocked, but it may not run. */
  readonly asks?: string
  readonly context: ReadonlyArray<string>
  readonly overwrite: boolean
  readonly input?: JsonObject
  readonly output?: Json
  readonly metadata: JsonObject
}

export interface Block {
  readonly by: string
  readonly reason: string
}

export const silent: Answer = {
  outcome: "success",
  messages: [],
  problems: [],
  hookId: "",
  action: "passThrough",
  context: [],
  overwrite: false,
  metadata: {}
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
const fields = Object.keys(Wire.fields)

/** Reads the response of a hook. Fails with a message if the response is invalid. */
export const read = (said: Fields | undefined, entry: Handler): Result.Result<Answer, string> => {
  if (said === undefined) return Result.succeed({ ...silent, hookId: entry.key })
  const decoded = decode(
    Object.fromEntries(fields.flatMap((key) => Object.hasOwn(said, key) ? [[key, said[key]]] : []))
  )
  if (Result.isFailure(decoded)) {
    return Result.fail(`its response is invalid: ${decoded.failure.message.replaceAll(/\s+/g, " ")}`)
  }
  const stray = ignoredFields(said, { top: fields, inner: [] }, "hooks of Base Coat")
  return Result.succeed(withPowers(answerOf(decoded.success, entry.key, stray), decoded.success, entry))
}

type Response = typeof Wire.Type

const answerOf = (response: Response, key: string, stray: ReadonlyArray<string>): Answer => {
  const { additionalContext, metadata, modifiedInput, modifiedOutput, reason, warnings } = response
  const context = list(additionalContext)
  const modifies = modifiedInput !== undefined || modifiedOutput !== undefined
  const action = response.action ?? (modifies ? "modify" : context.length > 0 ? "injectContext" : "passThrough")
  const hookId = metadata?.["hookId"]
  return {
    ...silent,
    hookId: typeof hookId === "string" && hookId !== "" ? hookId.slice(0, 100) : key,
    action,
    ...defined({ reason: typeof reason === "string" ? redactText(reason.slice(0, maxText)) : undefined }),
    context: action === "passThrough" ? [] : context.filter((one) => one.trim() !== "").map(redactText),
    overwrite: response.mode === "overwrite",
    problems: [
      ...list(warnings).slice(0, 20).map((one) => redactText(one.slice(0, 1_000))),
      ...(modifies && action !== "modify" ? [`its changes do not count, because its action is ${action}`] : []),
      ...(context.length > 0 && action === "passThrough"
        ? ["its context does not count, because its action is passThrough"]
        : []),
      ...stray
    ],
    metadata: metadata ?? {}
  }
}

/** Drops the parts of an answer that the hook may not use at its event. */
const withPowers = (answer: Answer, response: Response, { event, kind }: Handler): Answer => {
  const { action, hookId, problems, reason } = answer
  if (kind === "telemetry") {
    return action === "passThrough"
      ? answer
      : { ...answer, problems: [...problems, "its answer does not count, because it is telemetry"] }
  }
  const power = powers[event]
  const modified = action === "modify" ? response : {}
  const input = power.input === true && isFields(modified.modifiedInput) ? modified.modifiedInput : undefined
  const output = power.output === true ? modified.modifiedOutput : undefined
  const isIgnored = (modified.modifiedInput ?? input) !== input || (modified.modifiedOutput ?? output) !== output
  const isBlock = action === "block"
  const mayBlock = power.block === true && kind !== "advisory"
  return {
    ...answer,
    ...defined({
      // The value was decoded as JSON and it is an object, so it is a JSON object.
      input: input as JsonObject | undefined,
      output,
      blocked: isBlock && mayBlock ? { by: hookId, reason: reason ?? `blocked by ${hookId}` } : undefined
    }),
    problems: [
      ...problems,
      ...(isBlock && power.block === undefined ? [`${event} cannot be blocked`] : []),
      ...(isBlock && kind === "advisory" ? ["it does not block, because it is advisory"] : []),
      ...(isIgnored ? [`its changes do not count at ${event}`] : [])
    ]
  }
}

const maxText = 10_000

const list = (texts: string | ReadonlyArray<string> | null | undefined): ReadonlyArray<string> =>
  typeof texts === "string" ? [texts] : texts ?? []
