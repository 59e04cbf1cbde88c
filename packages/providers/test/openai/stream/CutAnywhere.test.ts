import type { JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { ProviderError } from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import * as Exit from "effect/Exit"
import * as Codec from "../../../src/internal/codec.ts"
import * as Exchange from "../../../src/openai/internal/transport/exchange.ts"
import type { Transport } from "../../../src/openai/internal/transport/transport.ts"
import { request } from "../../support/support.ts"
import { chunk, finish, sse } from "../../support/wire.ts"

/** Sends a body in pieces, without a socket: every cut needs a fresh exchange, and there are thousands. */
const answerOf = (codec: Codec.Codec, pieces: ReadonlyArray<Uint8Array>): Exit.Exit<LlmResponse, ProviderError> => {
  let exit: Exit.Exit<LlmResponse, ProviderError> | undefined
  const transport: Transport = (_headers, _body, listener) => {
    const handle = { abort: () => {}, release: () => {} }
    start = () => {
      listener.onHeaders({ status: 200, headers: {}, pause: () => {}, resume: () => {} })
      for (const piece of pieces) listener.onData(piece)
      listener.onEnd()
    }
    return handle
  }
  let start = (): void => {}
  Exchange.run(transport, {
    request: request(),
    headers: {},
    body: "",
    source: { provider: "vendor", model: "m", secrets: [] },
    timeouts: { headersMs: 5000, firstEventMs: 5000, idleMs: 5000 },
    sink: () => {},
    assembler: codec.assembler
  }, (given) => (exit = given))
  start()
  return exit!
}

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
const call = (index: number, name: string, args: string): JsonObject =>
  chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args } }] })
const args = (index: number, text: string): JsonObject =>
  chunk({ tool_calls: [{ index, function: { arguments: text } }] })

const chat: Record<string, ReadonlyArray<JsonObject>> = {
  "text": [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Grü" }),
    chunk({ content: "ße 👋" }),
    finish("stop")
  ],
  "reasoning and text": [
    chunk({ reasoning_content: "so " }),
    chunk({ reasoning_content: "so" }),
    chunk({ content: "yes" }),
    finish("stop")
  ],
  "tool calls": [
    chunk({ content: "I look" }),
    call(0, "delete_files", ""),
    args(0, `{"path":`),
    args(0, `"/tmp/a"}`),
    call(1, "list", "{}"),
    call(2, "purge", ""),
    finish("tool_calls")
  ]
}

/** The same chunks with usage at another place. */
const usages: Record<string, (chunks: ReadonlyArray<JsonObject>) => ReadonlyArray<JsonObject>> = {
  "none": (chunks) => chunks,
  "in every chunk": (chunks) => chunks.map((one) => ({ ...one, usage })),
  "in the first chunk": ([first, ...rest]) => [{ ...first, usage }, ...rest],
  "before the first chunk": (chunks) => [{ choices: [], usage }, ...chunks],
  "with the finish reason": (chunks) => chunks.with(-1, { ...chunks.at(-1), usage }),
  "at the end": (chunks) => [...chunks, { choices: [], usage }],
  "of the choice in every chunk": (chunks) =>
    chunks.map((one) => ({ ...one, choices: [{ ...(one.choices as [JsonObject])[0], usage }] }))
}

const event = (type: string, more: JsonObject): JsonObject => ({ type, ...more })
const item = (index: number, more: JsonObject): JsonObject => ({
  type: "function_call",
  id: `fc_${index}`,
  call_id: `call_${index}`,
  ...more
})
const output = [
  { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "I look" }] },
  item(1, { name: "delete_files", arguments: `{"path":"/tmp/a"}`, status: "completed" }),
  item(2, { name: "purge", arguments: "", status: "completed" })
]
const responses: ReadonlyArray<JsonObject> = [
  event("response.created", { response: { id: "resp_1", status: "in_progress", usage: null } }),
  event("response.output_text.delta", { item_id: "m", output_index: 0, delta: "I lo" }),
  event("response.output_text.delta", { item_id: "m", output_index: 0, delta: "ok" }),
  event("response.output_item.added", { output_index: 1, item: item(1, { name: "delete_files", arguments: "" }) }),
  event("response.function_call_arguments.delta", { output_index: 1, item_id: "fc_1", delta: `{"path":` }),
  event("response.function_call_arguments.delta", { output_index: 1, item_id: "fc_1", delta: `"/tmp/a"}` }),
  event("response.output_item.done", { output_index: 1, item: output[1]! }),
  event("response.output_item.added", { output_index: 2, item: item(2, { name: "purge", arguments: "" }) }),
  event("response.output_item.done", { output_index: 2, item: output[2]! }),
  event("response.completed", { response: { id: "resp_1", object: "response", status: "completed", output } })
]

const whole = (codec: Codec.Codec, body: Uint8Array): LlmResponse => {
  const exit = answerOf(codec, [body])
  if (Exit.isFailure(exit)) throw new Error("the whole stream is not an answer")
  return exit.value
}

/** A cut stream is an error, or exactly the answer. Usage may be missing if it comes after the end of the answer. */
const check = (codec: Codec.Codec, body: Buffer): void => {
  const { usage: _, ...expected } = whole(codec, body)
  for (let at = 0; at < body.length; at++) {
    const exit = answerOf(codec, [body.subarray(0, at)])
    if (Exit.isSuccess(exit)) {
      const { usage: _, ...got } = exit.value
      assert.deepStrictEqual(got, expected, `cut at ${at}`)
    }
  }
}

describe("a chat stream that is cut at any byte gives the whole answer or an error", () => {
  for (const [what, chunks] of Object.entries(chat)) {
    for (const [where, place] of Object.entries(usages)) {
      it(`${what}, usage ${where}`, () => {
        for (const isMarked of [true, false]) check(Codec.chat, Buffer.from(sse(place(chunks), isMarked)))
      })
    }
  }
})

it("a Responses stream that is cut at any byte gives the whole answer or an error", () => {
  check(Codec.responses, Buffer.from(sse(responses, false)))
})

it("two cuts anywhere in the bytes give the same answer", () => {
  const bodies: ReadonlyArray<readonly [Codec.Codec, Buffer]> = [
    [Codec.responses, Buffer.from(sse(responses, false))],
    ...Object.values(chat).map((chunks) => [Codec.chat, Buffer.from(sse(usages["in every chunk"]!(chunks)))] as const)
  ]
  for (const [codec, body] of bodies) {
    const expected = whole(codec, body)
    for (let first = 1; first < body.length; first += 7) {
      for (let second = first; second < body.length; second += 61) {
        const exit = answerOf(codec, [body.subarray(0, first), body.subarray(first, second), body.subarray(second)])
        assert.deepStrictEqual(exit, Exit.succeed(expected))
      }
    }
  }
})
