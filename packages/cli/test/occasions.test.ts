/** Which event of an agent a trial makes of an occasion. */
import { assert, describe, it } from "vitest"
import { type Facts, lastOf, overOf, planOf } from "../src/internal/trial/occasions.ts"

const facts = (occasion: Facts["occasion"], more: Partial<Facts> = {}): Facts => ({
  event: "Event",
  occasion,
  input: { a: 1 },
  payload: {},
  ...more
})
const call = { id: "call-1", name: "Bash", args: { a: 1 } }
const payload = (given: Facts["payload"]): Partial<Facts> => ({ payload: given })

describe("the event of an occasion", () => {
  it.for<readonly [Facts["occasion"], Partial<Facts>, string, object]>([
    ["session-start", {}, "onSessionStart", { source: "startup" }],
    ["session-start", payload({ source: "resume" }), "onSessionStart", { source: "resume" }],
    ["session-start", payload({ source: "compact" }), "postCompaction", { trigger: "threshold", summary: "" }],
    ["session-end", {}, "onSessionEnd", { reason: "done" }],
    ["session-end", payload({ reason: "clear" }), "onSessionEnd", { reason: "rotate" }],
    ["prompt", { prompt: "hi" }, "preTurn", { message: "hi" }],
    ["prompt", {}, "preTurn", { message: "hello" }],
    ["model-request", {}, "preLlmCall", { messages: [{ role: "user", content: "hello" }] }],
    ["model-response", { output: "so" }, "postLlmCall", {
      response: { text: "so" },
      request: { messages: [{ role: "user", content: "hello" }] }
    }],
    ["model-failure", {}, "onLlmError", {}],
    ["turn-failure", {}, "onTurnError", { input: { message: "hello" } }],
    ["turn-end", {}, "postTurn", { input: { message: "hello" }, output: { text: "hi" } }],
    ["tool-call", {}, "preToolCall", call],
    ["permission", {}, "onPermission", { call }],
    ["denied", {}, "onToolDenied", { call, reason: "not allowed" }],
    ["denied", payload({ reason: "no" }), "onToolDenied", { call, reason: "no" }],
    ["tool-result", { tool: "Bash", output: { b: 2 } }, "postToolCall", {
      call,
      result: { ok: true, output: { b: 2 } }
    }],
    ["tool-failure", { error: "broke" }, "postToolCall", { call, result: { ok: false, error: "broke" } }],
    ["stop", {}, "preStop", { text: "hi", followUps: 0 }],
    ["stop", payload({ stop_hook_active: true }), "preStop", { text: "hi", followUps: 1 }],
    ["compact", payload({ trigger: "manual" }), "preCompaction", { trigger: "manual" }],
    ["compacted", {}, "postCompaction", { trigger: "threshold", summary: "they said hello" }],
    ["compacted", payload({ compact_summary: "s" }), "postCompaction", { trigger: "threshold", summary: "s" }],
    ["budget", {}, "onBudget", { level: "exceeded" }],
    ["signal", payload({ a: 1 }), "onSignal", { name: "Event", payload: { a: 1 }, blockable: true }]
  ])("%s is made of the facts %o", ([occasion, more, point, event]) => {
    assert.deepEqual(planOf(facts(occasion, more)), { point, event, depth: 0 } as never)
  })

  it("is one level deeper for sub-agents", () => {
    assert.deepEqual(planOf(facts("subagent-start")), { point: "preTurn", event: { message: "hello" }, depth: 1 })
    assert.strictEqual(planOf(facts("subagent-stop")).depth, 1)
  })

  it("has the result of the tool as a text in the conversation of a step", () => {
    const results = ["text", { b: 2 }].map((output) => {
      const { messages } = planOf(facts("step", { output })).event as { readonly messages: ReadonlyArray<object> }
      return messages
    })
    assert.deepEqual(results.map((messages) => messages[2]), [
      { role: "tool", toolCallId: "call-1", content: "text" },
      { role: "tool", toolCallId: "call-1", content: `{"b":2}` }
    ])
    assert.deepEqual(results[0]?.[1], { role: "assistant", content: "", toolCalls: [call] })
  })

  it("takes fields of the payload that describe the call, and passes the others on", () => {
    const given = payload({ tool_name: "Edit", prompt: "p", custom: 1 })
    assert.deepEqual(overOf(facts("tool-call", given)), { prompt: "p", custom: 1 })
    assert.deepEqual(overOf(facts("prompt", given)), { tool_name: "Edit", custom: 1 })
    assert.deepEqual(overOf(facts("stop", given)), { tool_name: "Edit", prompt: "p", custom: 1 })
    assert.strictEqual(lastOf(facts("stop", { output: "o", ...payload({ last_assistant_message: "l" }) })), "l")
    assert.strictEqual(lastOf(facts("stop", { output: "o", tool: "Bash" })), "hi")
  })
})
