/** Calls whose arguments a hook or a person changed, as they arrive at a vendor. */
import type { JsonObject } from "@belay/core/Json"
import type { Message, ToolCall } from "@belay/core/Message"
import * as EffectAi from "@belay/providers/EffectAi"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { completed, events, message, speaks } from "../../support/responsesWire.ts"
import { request, scripted } from "../../support/support.ts"

const answer = { choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] }

const conversation = (call: Partial<ToolCall>): ReadonlyArray<Message> => [
  { role: "user", content: "go" },
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call_1", name: "mail", args: { to: "ran" }, changed: { by: ["ada"] }, ...call }]
  },
  { role: "tool", toolCallId: "call_1", toolName: "mail", content: "sent", note: "changed by ada" }
]

/** The call and its result as an endpoint of chat completions gets them. */
const chat = (call: Partial<ToolCall>) =>
  Effect.gen(function*() {
    const { endpoint, provider } = yield* scripted([{ status: 200, body: answer }])
    yield* provider.complete({ ...request(), messages: conversation(call) })
    const { messages } = endpoint.requests[0]!.body as { readonly messages: ReadonlyArray<JsonObject> }
    const [, assistant, result] = messages as unknown as ReadonlyArray<object>
    return { call: (assistant! as { readonly tool_calls: ReadonlyArray<JsonObject> }).tool_calls[0], result }
  })

const signed = (vendor: string): Partial<ToolCall> => ({
  metadata: { [vendor]: { extra_content: { google: { thought_signature: "s" } } } },
  changed: { by: ["ada"], asked: { to: "written" } }
})

describe("a changed call", () => {
  it.live("has the arguments that ran, and the note is a part of its result", () =>
    Effect.gen(function*() {
      const { call, result } = yield* chat({})
      assert.deepStrictEqual(call, {
        id: "call_1",
        type: "function",
        function: { name: "mail", arguments: `{"to":"ran"}` }
      })
      assert.deepStrictEqual(result, { role: "tool", tool_call_id: "call_1", content: "sent\n\nchanged by ada" })
    }))

  it.live("that the vendor has signed arrives there as it was signed, and at another vendor as it ran", () =>
    Effect.gen(function*() {
      const same = yield* chat(signed("vendor"))
      assert.deepStrictEqual(same.call, {
        id: "call_1",
        type: "function",
        function: { name: "mail", arguments: `{"to":"written"}` },
        extra_content: { google: { thought_signature: "s" } }
      })
      const other = yield* chat(signed("another"))
      assert.deepStrictEqual(other.call?.function, { name: "mail", arguments: `{"to":"ran"}` })
    }))

  it.live("is an item of the Responses API, and signed reasoning before it is not changed", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([events(completed([message("ok")]))])
      const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "abc" }
      const [user, assistant, result] = conversation({})
      const thought = { ...assistant!, metadata: { vendor: { reasoningItems: [reasoning] } } } as Message
      yield* provider.stream!({ ...request(), messages: [user!, thought, result!] }, () => undefined as never)
      const { input } = endpoint.requests[0]!.body as { readonly input: ReadonlyArray<JsonObject> }
      assert.deepInclude(input, { type: "function_call", call_id: "call_1", name: "mail", arguments: `{"to":"ran"}` })
      assert.deepInclude(input, {
        type: "function_call_output",
        call_id: "call_1",
        output: "sent\n\nchanged by ada"
      })
      const sent = input.find(({ type }) => type === "reasoning")
      if (sent !== undefined) assert.deepStrictEqual(sent, reasoning)
    }))

  it.live("passes through a model of effect/ai", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ status: 200, body: answer }])
      const model = yield* EffectAi.toLanguageModel(provider)
      const back = EffectAi.fromLanguageModel(model, { name: "vendor", model: "scripted" })
      yield* back.complete({ ...request(), messages: conversation({}) })
      const text = JSON.stringify(endpoint.requests[0]?.body)
      assert.include(text, JSON.stringify(`{"to":"ran"}`))
      assert.include(text, "changed by ada")
    }))
})
