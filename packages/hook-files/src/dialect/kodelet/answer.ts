/** Reads the answers of Kodelet executables. Each type of hook has its own fields. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import { JsonValue, type Message } from "@belay/core/Message"
import type { ToolResult } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Dialect from "../../engine/Dialect.ts"
import { type Fields, isFields } from "../../internal/fields.ts"
import { objectOf } from "../shared/jsonAnswer.ts"
import { ignoredFields } from "../shared/strayAnswer.ts"
import type { Type } from "./events.ts"

/** A change of the message history. */
export type Change =
  | { readonly type: "mutate"; readonly messages: ReadonlyArray<Message> }
  | { readonly type: "callback"; readonly recipe: string; readonly args: { readonly [name: string]: string } }

export interface Answer extends Dialect.Answer {
  /** Why the tool call or the message is blocked. */
  readonly blocked?: string
  /** Why a person has to decide, because the executable may not run. */
  readonly asks?: string
  readonly input?: JsonObject
  readonly output?: Fields
  readonly change?: Change
  readonly followUps: ReadonlyArray<string>
}

/** A field can be null or absent, because programs in Go write empty fields as null. */
const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Wire = Schema.Struct({
  blocked: maybe(Schema.Boolean),
  input: maybe(Schema.Record(Schema.String, JsonValue)),
  output: maybe(Schema.Record(Schema.String, JsonValue)),
  result: maybe(Schema.String),
  messages: maybe(
    Schema.Array(Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Schema.String }))
  ),
  callback: maybe(Schema.String),
  callback_args: maybe(Schema.Record(Schema.String, Schema.String)),
  follow_up_messages: maybe(Schema.Array(Schema.String))
})

const fields: { readonly [T in Type]: ReadonlyArray<keyof typeof Wire.fields> } = {
  before_tool_call: ["blocked", "input"],
  after_tool_call: ["output"],
  user_message_send: ["blocked"],
  after_turn: ["result", "messages", "callback", "callback_args"],
  turn_end: [],
  agent_stop: ["result", "messages", "callback", "callback_args", "follow_up_messages"]
}

const decode = Schema.decodeUnknownResult(Wire)

export const silent: Answer = { outcome: "success", followUps: [], messages: [], problems: [] }

/** Reads standard output. Fields of other hook types are ignored. */
export const read = (type: Type, source: string) => (stdout: string): Result.Result<Answer, string> =>
  // The answer of a `turn_end` hook is ignored.
  type === "turn_end" ? Result.succeed(silent) : Result.flatMap(objectOf(stdout), (said) => {
    if (said === undefined) return Result.succeed(silent)
    // `blocked: true` is accepted even if other fields are invalid.
    if (fields[type].includes("blocked") && said["blocked"] === true) {
      return Result.succeed({ ...silent, blocked: reasonOf(said["reason"]) })
    }
    const problems = ignoredFields(said, { top: fields[type], inner: [] }, type)
    const known = Object.fromEntries(fields[type].flatMap((key) => Object.hasOwn(said, key) ? [[key, said[key]]] : []))
    const decoded = decode(known)
    if (Result.isFailure(decoded)) {
      return Result.fail(
        `wrote an answer that does not fit ${type}: ${decoded.failure.message.replaceAll(/\s+/g, " ")}`
      )
    }
    const { follow_up_messages, input, output } = decoded.success
    return Result.map(changeOf(decoded.success, source), (change): Answer => ({
      ...silent,
      ...defined({ input: input ?? undefined, output: output ?? undefined, change }),
      followUps: change === undefined ? (follow_up_messages ?? []).filter((one) => one.trim() !== "") : [],
      problems
    }))
  })

const reasonOf = (reason: unknown): string =>
  typeof reason === "string" && reason.trim() !== ""
    ? reason.slice(0, 10_000).toWellFormed()
    : "blocked without a reason"

const changeOf = (
  { callback, callback_args, messages, result }: Schema.Schema.Type<typeof Wire>,
  source: string
): Result.Result<Change | undefined, string> => {
  switch (result ?? "") {
    case "":
    case "continue":
      return Result.succeed(undefined)
    case "mutate": {
      const history = (messages ?? []).map(({ content, role }) =>
        role === "user" ? { role, content, source } : { role, content }
      )
      return Result.succeed(history.length === 0 ? undefined : { type: "mutate", messages: history })
    }
    case "callback":
      return (callback ?? "") === ""
        ? Result.fail("asked for a callback without a name")
        : Result.succeed({ type: "callback", recipe: callback!, args: callback_args ?? {} })
    default:
      return Result.fail(`wrote an unknown result: ${result!.slice(0, 100)}`)
  }
}

/** Converts a result to the format of executables. The output of the tool is in `metadata.output`. */
export const shown = (toolName: string, result: ToolResult, timestamp: string): JsonObject =>
  result.ok
    ? { toolName, success: true, metadata: { output: result.output }, timestamp }
    : { toolName, success: false, error: result.error, timestamp }

/**
 * Applies the output of an executable to a result. The first part that differs from the executable's input becomes the
 * new output. Returns undefined if no part differs.
 */
export const applyOutput = (before: ToolResult, input: JsonObject, output: Fields): ToolResult | undefined => {
  const { error, metadata, success } = output
  const failed = typeof success === "boolean" ? !success : !before.ok
  if (failed) {
    const text = typeof error === "string" && error !== ""
      ? error
      : before.ok
      ? "the result was withheld by a hook"
      : before.error
    return !before.ok && before.error === text ? undefined : { ok: false, error: text }
  }
  const was = before.ok ? before.output : undefined
  const inside = isFields(metadata) ? metadata : {}
  const candidates = [...direct.map((key) => output[key]), inside["output"], inside["result"]]
  const found = candidates.find((one) => one !== undefined && !same(one, was))
  if (found !== undefined) return { ok: true, output: found as Json }
  // An absent field leaves the result unchanged. Null means absent, as in Go.
  const isAbsent = metadata === undefined || metadata === null
  if (isAbsent || candidates.some((one) => one !== undefined) || same(metadata, input["metadata"])) {
    return before.ok
      ? undefined
      : { ok: true, output: "" }
  }
  return { ok: true, output: metadata as Json }
}

const direct = ["result", "output", "content"] as const

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
