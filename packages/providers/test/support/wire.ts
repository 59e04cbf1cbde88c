import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request, scripted, stream, success, textOf } from "./support.ts"

export type Chunk = JsonObject | string

export const chunk = (delta: JsonObject, more: JsonObject = {}, outer: JsonObject = {}): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  model: "m-1",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
  ...outer
})
export const finish = (reason: Json, outer: JsonObject = {}): JsonObject => chunk({}, { finish_reason: reason }, outer)
export const calls = (...pieces: ReadonlyArray<JsonObject>): JsonObject => chunk({ tool_calls: pieces })
export const call = (args: Json, more: JsonObject = {}, name: Json = "read_file"): JsonObject => ({
  index: 0,
  id: "call_a",
  type: "function",
  function: { name, arguments: args },
  ...more
})
export const sse = (chunks: ReadonlyArray<Chunk>, done = true): string =>
  chunks.map((one) => typeof one === "string" ? one : `data: ${JSON.stringify(one)}\n\n`).join("") +
  (done ? "data: [DONE]\n\n" : "")
export const completion = (message: JsonObject, reason: Json = "stop", outer: JsonObject = {}): JsonObject => ({
  id: "c",
  object: "chat.completion",
  model: "m-1",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: reason }],
  ...outer
})

export const pathCall = [{ id: "call_a", name: "read_file", args: { path: "a" } }]
export const pathArgs = `{"path":"a"}`
export const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
export const counted = { inputTokens: 10, outputTokens: 3, billableOutputTokens: 3 }

export interface Case {
  readonly chunks?: ReadonlyArray<Chunk>
  readonly done?: boolean
  readonly body?: JsonObject
  readonly expect: Partial<LlmResponse>
}

export const check = (expected: Partial<LlmResponse>, response: LlmResponse) => {
  for (const [key, value] of Object.entries(expected)) assert.deepStrictEqual(Reflect.get(response, key), value, key)
}

/** Runs a table of answers, streamed and plain. */
export const runTable = (cases: Record<string, Record<string, Case>>): void => {
  for (const [subject, group] of Object.entries(cases)) {
    describe(subject, () => {
      for (const [name, { body, chunks, done, expect }] of Object.entries(group)) {
        if (chunks !== undefined) {
          it.live(`${name}, streamed`, () =>
            Effect.gen(function*() {
              const { provider } = yield* scripted([{ chunks: [sse(chunks, done)] }])
              const { deltas, result } = yield* stream(provider)
              const response = success(result)
              check(expect, response)
              assert.strictEqual(textOf(deltas), response.text)
              assert.strictEqual(textOf(deltas, "reasoning"), response.reasoning ?? "")
              for (const toolCall of response.toolCalls.filter((one) => one.malformed === undefined)) {
                const shown = deltas.map((delta) =>
                  delta.type === "tool-call" && delta.id === toolCall.id ? delta.argsText : ""
                ).join("")
                assert.deepStrictEqual(JSON.parse(shown.replace(/^{}(?={)/, "") || "{}"), toolCall.args)
              }
              assert.strictEqual(response.model, "m-1")
            }))
        }
        if (body !== undefined) {
          it.live(`${name}, plain`, () =>
            Effect.gen(function*() {
              const { provider } = yield* scripted([{ status: 200, body }])
              check(expect, yield* provider.complete(request()))
            }))
        }
      }
    })
  }
}
