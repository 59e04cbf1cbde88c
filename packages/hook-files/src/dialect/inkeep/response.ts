/** Decodes the answers of attached hooks. Each hook point has its own actions, and other fields are errors. */
import { type Json, whyNot } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { nearest } from "@belay/core/NamePattern"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fields, isFields } from "../../internal/fields.ts"

export const points = ["before-args", "after-result", "before-delegation", "after-delegation"] as const

/** The hook points at which a definition can be attached. @category models @since 0.1.0 */
export type HookPoint = (typeof points)[number]

/** The field that a hook can change at each point. */
export const changes: { readonly [P in HookPoint]: string } = {
  "before-args": "args",
  "after-result": "result",
  "before-delegation": "payload",
  "after-delegation": "result"
}

const actions: { readonly [P in HookPoint]: ReadonlyArray<string> } = {
  "before-args": ["proceed", "block", "abort"],
  "after-result": ["proceed", "block", "abort"],
  "before-delegation": ["proceed", "abort"],
  "after-delegation": ["proceed", "block", "abort"]
}

/** A response that is valid at its point. */
export type Response =
  | { readonly action: "proceed"; readonly value?: Json }
  | { readonly action: "block"; readonly value: Json }
  | { readonly action: "abort"; readonly reason: string }

/** Reads an answer. Fails with a message about the expected answer if it is invalid. */
export const read = (point: HookPoint, said: unknown): Result.Result<Response, string> => {
  const legal = actions[point].map((one) => `"${one}"`).join(", ")
  const refuse = (found: string, hint?: string) =>
    Result.fail(
      `expected { action: ${legal} } at ${point}, found ${found}${hint === undefined ? "" : `; did you mean ${hint}?`}`
    )
  if (said === undefined) return refuse("nothing", `{ action: "proceed" }`)
  if (!isFields(said)) return refuse(JSON.stringify(said)?.slice(0, 100) ?? typeof said)
  const { action, reason } = said
  if (typeof action !== "string") {
    return refuse(`an object with ${Object.keys(said).slice(0, 10).join(", ") || "nothing in it"}`, guess(point, said))
  }
  if (!actions[point].includes(action)) {
    const near = synonyms.get(action.toLowerCase()) ?? nearest(action, actions[point])
    return refuse(
      JSON.stringify(action.slice(0, 100)),
      near === undefined || !actions[point].includes(near) ? undefined : `"${near}"`
    )
  }
  const key = action === "block" ? "result" : changes[point]
  const allowed = action === "abort" ? ["action", "reason"] : ["action", key]
  const other = Object.keys(said).find((one) => !allowed.includes(one) && said[one] !== undefined)
  if (other !== undefined) return refuse(`${action} with ${other.slice(0, 100)}`, action === "abort" ? `reason` : key)
  if (action === "abort") {
    return typeof reason === "string" && reason !== ""
      ? Result.succeed({ action, reason: reason.slice(0, 10_000) })
      : refuse("abort without a reason")
  }
  const value = said[key]
  const why = value === undefined ? undefined : whyNot(value)
  if (why !== undefined) return refuse(`a ${key} that is not JSON: ${why}`)
  if (action === "block") {
    return value === undefined
      ? refuse("block without a result")
      : Result.succeed({ action, value: value as Json })
  }
  return Result.succeed({ action: "proceed", ...(value === undefined ? {} : { value: value as Json }) })
}

const synonyms = new Map([
  ...["allow", "continue", "ok", "pass", "approve", "passthrough"].map((word) => [word, "proceed"] as const),
  ...["deny", "reject", "skip", "respond"].map((word) => [word, "block"] as const),
  ...["stop", "terminate", "fail", "end"].map((word) => [word, "abort"] as const)
])

const guess = (point: HookPoint, said: Fields): string =>
  said["proceed"] !== false && !("reason" in said)
    ? `{ action: "proceed" }`
    : actions[point].includes("block")
    ? `{ action: "block", result: reason }`
    : `{ action: "abort", reason }`

/**
 * Returns the response that an answer `{ proceed: false }` means. Hooks of other systems write a refusal like that, and
 * it must not let the call pass.
 */
export const refusalOf = (point: HookPoint, said: unknown): Response | undefined => {
  if (!isFields(said) || "action" in said || said["proceed"] !== false) return undefined
  const reason = typeof said["reason"] === "string" && said["reason"] !== ""
    ? said["reason"].slice(0, 10_000)
    : "a hook refused this without a reason"
  return actions[point].includes("block") ? { action: "block", value: reason } : { action: "abort", reason }
}

/** The input of a sub-agent in the format of hooks. */
export const Payload = Schema.Struct({
  message: Schema.optionalKey(Schema.String),
  systemPrompt: Schema.optionalKey(Schema.String),
  additionalContext: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  messages: Schema.optionalKey(
    Schema.Array(Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Schema.String }))
  )
})

const decodePayload = Schema.decodeUnknownOption(Payload)

/** Reads a payload. Fails with a message if it is invalid. */
export const payload = (value: Json): Result.Result<Schema.Schema.Type<typeof Payload>, string> =>
  Option.match(isFields(value) ? decodePayload(value) : Option.none(), {
    onNone: () =>
      Result.fail(
        "expected a payload of message, systemPrompt, additionalContext and messages of role user or assistant, " +
          "all texts"
      ),
    onSome: Result.succeed
  })

/** Converts the messages of a payload to messages for a sub-agent. */
export const messagesOf = (
  messages: ReadonlyArray<{ readonly role: "user" | "assistant"; readonly content: string }>,
  source: string
): ReadonlyArray<Message> =>
  messages.map(({ content, role }) => role === "user" ? { role, content, source } : { role, content })
