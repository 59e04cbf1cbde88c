import type { Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import type * as Command from "@belay/hook-files/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, request } from "../../../../../test/support/events.ts"
import { answer } from "../claude/support.ts"
import { group, specific, world } from "./support.ts"

describe("Gemini and models", () => {
  const asked = {
    ...request("gemini-3"),
    messages: [
      { role: "user", content: "hello" },
      { role: "assistant", content: "", toolCalls: [{ id: "1", name: "bash", args: { command: "ls" } }] },
      { role: "tool", toolCallId: "1", toolName: "bash", content: "a" },
      { role: "assistant", content: "hi" },
      { role: "user", content: "my key is 123" }
    ] as ReadonlyArray<Message>,
    tools: ["bash", "write_file", "read_file"].map((name) => call(name).tool),
    parameters: { temperature: 0.5, maxTokens: 100 }
  }

  it.effect("tells BeforeModel the request, and takes over what it changes", () =>
    Effect.gen(function*() {
      const { at, scope, told } = world({ BeforeModel: [group(["x"])] }, {
        x: specific({
          llm_request: {
            model: "gemini-fast",
            messages: [{ role: "user", content: "hello" }, { role: "model", content: "hi" }, {
              role: "user",
              content: "my key is [hidden]"
            }],
            config: { temperature: 0, topP: 0.9, topK: 3 }
          }
        })
      })
      const { event } = yield* at("preLlmCall", asked)
      assert.deepEqual(told[0]!.input["llm_request"], {
        model: "gemini-3",
        messages: [{ role: "user", content: "hello" }, { role: "model", content: "hi" }, {
          role: "user",
          content: "my key is 123"
        }],
        config: { temperature: 0.5, maxOutputTokens: 100 },
        toolConfig: { mode: "AUTO" }
      })
      assert.strictEqual(event["model"], "gemini-fast")
      assert.deepEqual(event["parameters"], { temperature: 0, topP: 0.9, maxTokens: 100 })
      assert.deepEqual(
        event["messages"],
        [...asked.messages.slice(0, 4), { role: "user", content: "my key is [hidden]" }] as never
      )
      assert.deepEqual(scope.warnings, ["llm_request.config.topK does not count"])
    }))

  it.effect("keeps calls of tools with their results when messages are left out, added or malformed", () =>
    Effect.gen(function*() {
      const of = (messages: Json) =>
        world({ BeforeModel: [group(["x"])] }, { x: specific({ llm_request: { messages } }) })
      const without = of([{ role: "model", content: "hi" }, { role: "user", content: "new" }, {
        role: "system",
        content: "be brief"
      }])
      const { event } = yield* without.at("preLlmCall", asked)
      assert.deepEqual(event["messages"], [{ role: "assistant", content: "hi" }, { role: "user", content: "new" }])
      assert.strictEqual(event["instructions"], "be brief")
      const added = yield* of([
        { role: "user", content: "hello" },
        { role: "user", content: [{ text: "by the way" }] },
        { role: "model", content: "hi" }
      ]).at("preLlmCall", { ...asked, messages: asked.messages.slice(0, 4) })
      assert.deepEqual((added.event["messages"] as ReadonlyArray<Message>).map(({ role }) => role), [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant"
      ])
      for (const wrong of ["x", [], [1], [{ role: "tool", content: "x" }]]) {
        const world = of(wrong as Json)
        assert.deepEqual((yield* world.at("preLlmCall", asked)).event["messages"], asked.messages as never)
        assert.match(world.scope.warnings[0]!, /^llm_request\.messages does not count/)
      }
    }))

  it.effect("answers for the model, refuses the call, or ends the turn", () =>
    Effect.gen(function*() {
      const of = (finished: Command.Finished) =>
        world({ BeforeModel: [group(["x"])] }, { x: finished }).at("preLlmCall", asked)
      const response = {
        candidates: [{ content: { role: "model", parts: ["cached ", "answer"] }, finishReason: "STOP" }]
      }
      const answeredBy = yield* of(specific({ llm_response: response }, { decision: "deny", reason: "cached" }))
      assert.deepEqual(answeredBy.output, {
        model: "gemini-3",
        text: "cached answer",
        toolCalls: [],
        finishReason: "stop"
      })
      assert.deepInclude((yield* of(specific({ llm_response: { text: "short" } }))).output, { text: "short" })
      assert.strictEqual((yield* of(specific({ llm_response: { candidates: [] } })))._tag, "Continue")
      assert.deepInclude(yield* of(answer("", 2, "no budget")), { _tag: "Reject", reason: "no budget" })
      assert.deepInclude(yield* of(answer({ continue: false, reason: "enough" })), { _tag: "Abort", reason: "enough" })
    }))

  it.effect("selects tools: NONE wins, else ANY, over the union of the names", () =>
    Effect.gen(function*() {
      const of = (...configs: ReadonlyArray<object>) =>
        Effect.map(
          world(
            { BeforeToolSelection: [group(configs.map((_, index) => `${index}`))] },
            Object.fromEntries(
              configs.map((
                toolConfig,
                index
              ) => [`${index}`, specific({ toolConfig }, { systemMessage: "quiet", decision: "deny" })])
            )
          ).at("preLlmCall", asked),
          ({ event }) => [
            (event["tools"] as ReadonlyArray<{ name: string }>).map(({ name }) => name),
            event["parameters"]
          ]
        )
      const plain = asked.parameters
      const any = { ...plain, toolChoice: "required" }
      assert.deepEqual(yield* of({ mode: "ANY", allowedFunctionNames: ["run_shell_command"] }), [["bash"], any])
      assert.deepEqual(yield* of({ mode: "AUTO", allowedFunctionNames: ["bash"] }), [["bash"], plain])
      assert.deepEqual(
        yield* of({ mode: "AUTO", allowedFunctionNames: ["read_file"] }, {
          mode: "ANY",
          allowedFunctionNames: ["write_file"]
        }),
        [
          ["write_file", "read_file"],
          any
        ]
      )
      assert.deepEqual(yield* of({ mode: "NONE" }, { mode: "ANY", allowedFunctionNames: ["bash"] }), [[], plain])
      assert.deepEqual(yield* of({ mode: "ANY", allowedFunctionNames: ["other"] }), [[], plain])
    }))

  it.effect("tells AfterModel the answer, and replaces, refuses or ends it", () =>
    Effect.gen(function*() {
      const of = (finished: Command.Finished) => world({ AfterModel: [group(["x"])] }, { x: finished })
      const given = {
        request: asked,
        response: {
          model: "m",
          text: "the key is 123",
          toolCalls: [],
          finishReason: "length" as const,
          usage: { inputTokens: 3, outputTokens: 4 }
        },
        provider: "p",
        attempt: 1,
        executed: true
      }
      const hidden = of(
        specific({ llm_response: { candidates: [{ content: { role: "model", parts: ["the key is [hidden]"] } }] } })
      )
      const { event } = yield* hidden.at("postLlmCall", given)
      assert.deepEqual(event["response"], { ...given.response, text: "the key is [hidden]" })
      assert.deepEqual(hidden.told[0]!.input["llm_response"], {
        text: "the key is 123",
        candidates: [{ content: { role: "model", parts: ["the key is 123"] }, finishReason: "MAX_TOKENS", index: 0 }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 }
      })
      assert.strictEqual(hidden.hook.hold, "untilPass")
      assert.deepInclude(yield* of(answer({ decision: "deny", reason: "no" })).at("postLlmCall", given), {
        _tag: "Reject",
        reason: "no"
      })
      assert.deepInclude(yield* of(answer({ continue: false })).at("postLlmCall", given), { _tag: "Abort" })
    }))
})
