/** Calls the agent's model for a server (sampling). The server gets only the answer to its own messages. */
import { defined } from "@belay/core/Fields"
import type { ContentPart, Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { messageOf } from "./lost.ts"
import type { RunningCall } from "./runningCalls.ts"

/** The most tokens of an answer. */
const maxTokens = 4_096

const Content = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literals(["image", "audio"]), data: Schema.String, mimeType: Schema.String })
])

const Params = Schema.Struct({
  messages: Schema.Array(Schema.Struct({
    role: Schema.Literals(["user", "assistant"]),
    content: Schema.Union([Content, Schema.Array(Content)])
  })),
  systemPrompt: Schema.optional(Schema.String),
  maxTokens: Schema.Finite,
  temperature: Schema.optional(Schema.Finite),
  tools: Schema.optional(Schema.Unknown)
})

/** Runs the call through the hooks of the agent. Fails with the reason. */
export const sample = (server: string, params: unknown, call: RunningCall): Effect.Effect<object, string> =>
  Effect.gen(function*() {
    const read = Schema.decodeUnknownResult(Params)(params)
    if (Result.isFailure(read)) return yield* Effect.fail(`the request cannot be read: ${read.failure.message}`)
    const { messages, systemPrompt, temperature, tools } = read.success
    if (tools !== undefined) return yield* Effect.fail("sampling with tools is not supported")
    if (call.llm === undefined) return yield* Effect.fail("sampling works only for calls of an agent, not of a hook")
    const { finishReason, model, text } = yield* Effect.mapError(
      call.llm({
        prompt: messages.map((message) => toMessage(server, message)),
        parameters: { maxTokens: Math.min(read.success.maxTokens, maxTokens), ...defined({ temperature }) },
        ...defined({ instructions: systemPrompt })
      }),
      messageOf
    )
    const stopReason = finishReason === "length" ? "maxTokens" : "endTurn"
    return { role: "assistant", model, content: { type: "text", text }, stopReason }
  })

const toMessage = (
  server: string,
  { content, role }: { readonly role: "user" | "assistant"; readonly content: Said | ReadonlyArray<Said> }
): Message => {
  const all = "type" in content ? [content] : content
  if (role === "user") return { role, content: all.map(partOf), source: `mcp:${server}` }
  return { role, content: all.flatMap((one) => one.type === "text" ? [one.text] : []).join("\n") }
}

type Said = typeof Content.Type

const partOf = (said: Said): ContentPart =>
  said.type === "text"
    ? { type: "text", text: said.text }
    : { type: "file", mediaType: said.mimeType, url: `data:${said.mimeType};base64,${said.data}` }
