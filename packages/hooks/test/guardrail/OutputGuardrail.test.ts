import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { LlmDelta } from "@belay/core/LlmCall"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answer } from "../../../../test/support/events.ts"
import { stream } from "../support/guarded.ts"

const guarded = (options: OutputGuardrail.Options) => HookChain.makeUnsafe([OutputGuardrail.make(options)])

const key = "sk-abcdefghijklmnopqrst"
const patterns = ["sk-[a-z]{8,}"]

describe("OutputGuardrail", () => {
  // rows: A-65
  it.effect("rejects a response that matches, together with its tool calls", () =>
    Effect.gen(function*() {
      const event = answer({
        text: `use ${key}`,
        toolCalls: [{ id: "1", name: "deploy", args: {} }],
        finishReason: "tool-calls"
      })
      const { action, by } = yield* guarded({ patterns }).run("postLlmCall", event, TestScope.make())
      assert.deepEqual(action, { _tag: "Reject", reason: "Response blocked by content policy" })
      assert.strictEqual(by, "output-guardrail")
    }))

  it.effect("does not change other responses", () =>
    Effect.gen(function*() {
      const event = answer({ text: "nothing secret" })
      const outcome = yield* guarded({ patterns }).run("postLlmCall", event, TestScope.make())
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.strictEqual(outcome.event, event)
    }))

  it.effect("searches reasoning and refusals too", () =>
    Effect.gen(function*() {
      for (const part of [{ reasoning: key }, { refusal: key }]) {
        const { action } = yield* guarded({ patterns }).run("postLlmCall", answer(part), TestScope.make())
        assert.strictEqual(action._tag, "Reject")
      }
    }))

  it.effect("searches the arguments of tool calls at any depth if the option is set", () =>
    Effect.gen(function*() {
      const event = answer({ toolCalls: [{ id: "1", name: "post", args: { body: [{ headers: { auth: key } }] } }] })
      const tag = (toolCalls: boolean) =>
        Effect.map(
          guarded({ patterns, toolCalls }).run("postLlmCall", event, TestScope.make()),
          ({ action }) => action._tag
        )
      assert.strictEqual(yield* tag(false), "Continue")
      assert.strictEqual(yield* tag(true), "Reject")
    }))

  it.effect("calls the model again with its advice", () =>
    Effect.gen(function*() {
      const chain = guarded({
        patterns,
        reason: "a key",
        userMessage: "Sorry.",
        feedback: "Leave out keys.",
        retries: 2
      })
      const { action } = yield* chain.run("postLlmCall", answer({ text: key }), TestScope.make())
      assert.deepEqual(action, {
        _tag: "Reject",
        reason: "a key",
        userMessage: "Sorry.",
        feedback: "Leave out keys.",
        retries: 2
      })
    }))

  it.effect("redacts every match by a literal text, if the option is set", () =>
    Effect.gen(function*() {
      const chain = guarded({ patterns: [...patterns, /pin \d+/], redact: "[$1]", toolCalls: true })
      const args = { keys: [key, 1, null], [key]: true }
      const event = answer({
        text: `${key}, ${key}, pin 1234`,
        reasoning: key,
        toolCalls: [{ id: "1", name: "post", args }]
      })
      const { event: { response } } = yield* chain.run("postLlmCall", event, TestScope.make())
      assert.strictEqual(response.text, "[$1], [$1], [$1]")
      assert.strictEqual(response.reasoning, "[$1]")
      assert.deepEqual(response.toolCalls[0]?.args, { keys: ["[$1]", 1, null], "[$1]": true })
    }))

  it("rejects a function as a pattern for redaction", () => {
    assert.throws(
      () => OutputGuardrail.make({ patterns: [() => true], redact: "x" }),
      ConfigError,
      /output-guardrail\.redact/
    )
  })

  it("rejects patterns that RE2 does not support", () => {
    assert.throws(() => OutputGuardrail.make({ patterns: ["(?=a)"] }), ConfigError, /output-guardrail\.patterns\[0\]/)
  })

  it.effect("rejects the response when a pattern throws", () =>
    Effect.gen(function*() {
      const chain = guarded({
        patterns: [() => {
          throw new Error("broken pattern")
        }]
      })
      const { action, failure } = yield* chain.run("postLlmCall", answer(), TestScope.make())
      assert.strictEqual(action._tag, "Reject")
      assert.strictEqual(failure?.policy, "reject")
    }))

  it.effect("checks the response again when a later hook changes it", () =>
    Effect.gen(function*() {
      const last = defineHook({
        name: "last",
        priority: 1,
        postLlmCall: ({ response }) => HookAction.transform({ ...response, text: key })
      })
      const chain = HookChain.makeUnsafe([OutputGuardrail.make({ patterns }), last])
      assert.strictEqual((yield* chain.run("postLlmCall", answer(), TestScope.make())).action._tag, "Reject")
    }))

  it.effect("is not skipped by a hook that replaces the response", () =>
    Effect.gen(function*() {
      const cache = defineHook({
        name: "cache",
        postLlmCall: ({ response }) => HookAction.replace({ ...response, text: key })
      })
      const chain = HookChain.makeUnsafe([OutputGuardrail.make({ patterns }), cache])
      assert.strictEqual((yield* chain.run("postLlmCall", answer(), TestScope.make())).action._tag, "Reject")
    }))
})

/** Every way to cut a text in pieces of one length. */
const cuts = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  Array.from(text, (_, index) => text.match(new RegExp(`.{1,${index + 1}}`, "gs")) ?? [])

describe("OutputGuardrail while an answer streams", () => {
  it("buffers the whole answer by default", () => {
    assert.strictEqual(OutputGuardrail.make({ patterns }).hold, "untilPass")
    assert.deepEqual(OutputGuardrail.make({ patterns, hold: { chars: 9 } }).hold, { chars: 9 })
    assert.strictEqual(OutputGuardrail.make({ patterns, hold: { chars: 9 }, feedback: "again" }).hold, "untilPass")
    assert.isUndefined(OutputGuardrail.make({ patterns, hold: "none" }).onLlmDelta)
  })

  it.effect("shows nothing of a rejected answer, however it is cut", () =>
    Effect.gen(function*() {
      for (const pieces of cuts(`the key is ${key}, keep it`)) {
        assert.deepInclude(yield* stream(OutputGuardrail.make({ patterns }), pieces), { shown: "", cut: true })
        const { cut, shown } = yield* stream(OutputGuardrail.make({ patterns, hold: { chars: 30 } }), pieces)
        assert.isTrue(cut)
        assert.notInclude(shown, "sk-")
      }
    }))

  it.effect("shows and keeps nothing of a redacted secret, however it is cut", () =>
    Effect.gen(function*() {
      for (const pieces of cuts(`the key is ${key}, keep it`)) {
        for (const hold of ["untilPass", { chars: 30 }] as const) {
          const { shown, text } = yield* stream(OutputGuardrail.make({ patterns, redact: "[key]", hold }), pieces)
          assert.strictEqual(text, "the key is [key], keep it")
          assert.isTrue(text.startsWith(shown))
        }
      }
    }))

  it.effect("shows the user the text of the options when it stops a stream", () =>
    Effect.gen(function*() {
      const chain = guarded({ patterns, hold: { chars: 30 }, userMessage: "not this" })
      const { action } = yield* chain.run("onLlmDelta", { type: "text", text: key }, TestScope.make())
      assert.deepInclude(action, { _tag: "Reject", userMessage: "not this" })
    }))

  it.effect("does not stream unchecked reasoning or arguments", () =>
    Effect.gen(function*() {
      const deltas: ReadonlyArray<LlmDelta> = [
        { type: "reasoning", text: key },
        { type: "tool-call", id: "1", name: "post", argsText: key }
      ]
      const chain = guarded({ patterns, toolCalls: true })
      const seen = yield* Effect.forEach(deltas, (delta) =>
        Effect.map(chain.run("onLlmDelta", delta, TestScope.make()), ({ event }) => event))
      assert.deepEqual(seen, [{ type: "reasoning", text: "" }, {
        type: "tool-call",
        id: "1",
        name: "post",
        argsText: ""
      }])
    }))
})
