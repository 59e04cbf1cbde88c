/** Values that an untyped hook returns and that do not fit their point: the hook fails, and nothing changes. */
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import type { HookAction } from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookPointName } from "../../src/hook/HookPoint.ts"
import { eventAt } from "./events.ts"

/** Runs a hook with an answer that is not checked by types. Returns how it failed, and the event afterwards. */
const failureAt = (point: HookPointName, answer: object, event = eventAt(point, "text")) => {
  const scope = scopeOf()
  const chain = HookChain.makeUnsafe([{ name: "h", [point]: () => answer as HookAction }])
  const outcome = chain.runNow(point, event as never, scope) as HookChain.Outcome<HookPointName>
  return { outcome, event, failure: scope.failures[0] }
}

const request = { messages: [], tools: [], parameters: {} }
const wrongValues: ReadonlyArray<readonly [HookPointName, ReadonlyArray<unknown>]> = [
  ["onSessionStart", [null, "text", {}, { context: {} }]],
  ["preTurn", [null, "text", {}, { message: 1 }]],
  ["postTurn", [null, "text", {}, { text: 1 }]],
  [
    "preLlmCall",
    [null, { ...request, messages: {} }, { ...request, tools: undefined }, { ...request, parameters: null }]
  ],
  ["onLlmDelta", [null, {}, { type: "image", text: "x" }]],
  ["postLlmCall", [null, { toolCalls: [] }, { text: "x" }, { text: 1, toolCalls: [] }, { text: "x", toolCalls: {} }]],
  ["onLlmError", [null, {}, { type: "again" }]],
  ["preToolCall", [null, {}, { args: {} }, { id: "call-1", name: "deploy" }, { id: "call-1", name: "rm", args: {} }]],
  ["postToolCall", [null, {}, { ok: true }, { ok: false }, { ok: false, error: 1 }, { ok: 1, output: "x" }]],
  ["onPermission", [null, {}, { type: "maybe" }]],
  ["postStep", [null, {}, "text"]],
  ["preStop", [null, {}, "text"]],
  ["preDelegation", [null, {}, { agent: "a" }, { message: "m" }, { agent: 1, message: "m" }]],
  ["postDelegation", [null, {}, { text: 1 }]],
  ["preCompaction", [null, "text"]]
]

/** What a hook can answer instead of the operation. */
const wrongOutputs: ReadonlyArray<readonly [HookPointName, ReadonlyArray<unknown>]> = [
  ["preTurn", [null, {}, { text: 1 }]],
  ["preLlmCall", [null, { toolCalls: [] }, { text: "x" }, { text: "x", toolCalls: {} }]],
  ["preToolCall", [() => 1, { at: new Date(0) }, 1n]],
  ["preDelegation", [null, {}, { text: 1 }]],
  ["preCompaction", [null, {}, { messages: [] }, { summary: "s" }, { messages: {}, summary: "s" }]]
]

describe("an answer of another shape is a failure of the hook, and changes nothing:", () => {
  it.each(wrongValues)("as the value at %s", (point, values) => {
    for (const value of values) {
      const { event, failure, outcome } = failureAt(point, { _tag: "Transform", value })
      assert.strictEqual(failure?.kind, "illegal", JSON.stringify(value))
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.deepStrictEqual<unknown>(outcome.event, event)
    }
  })

  it.each(wrongOutputs)("as the answer in place of the operation at %s", (point, outputs) => {
    for (const output of outputs) {
      const { failure, outcome } = failureAt(point, { _tag: "Respond", output })
      assert.strictEqual(failure?.kind, "illegal", String(output))
      assert.strictEqual(outcome.action._tag, "Continue")
    }
  })
})

describe("a question with a wrong condition", () => {
  const kinds = "`allowed` to be a list of approve, deny, edit, respond, delegate"
  const wrong: ReadonlyArray<readonly [string, object]> = [
    [kinds, { allowed: new Set(["deny"]) }],
    [kinds, { allowed: "deny" }],
    [kinds, { allowed: ["deny", "aprove"] }],
    ["`standing` to be session, none or a store of rules with `load` and `add`", { standing: "nowhere" }],
    ["`standing` to be session, none or a store of rules with `load` and `add`", { standing: {} }],
    ["`approvers` to be a list of texts", { approvers: new Set(["ada"]) }],
    ["`approvers` to be a list of texts", { approvers: "ada" }],
    ["`approvers` to be a list of texts", { approvers: ["ada", 5] }],
    ["`quorum` to be a number of people, at least 1", { quorum: "2" }],
    ["`quorum` to be a number of people, at least 1", { quorum: Number.NaN }],
    ["`quorum` to be a number of people, at least 1", { quorum: 0 }],
    ["`expiresInMs` to be a number of milliseconds", { expiresInMs: "1 day" }],
    ["`expiresInMs` to be a number of milliseconds", { expiresInMs: Number.NaN }],
    ["`expiresInMs` to be a number of milliseconds", { expiresInMs: -Infinity }]
  ]
  it.each(wrong)(
    "is a failure of the hook, because without the condition anybody could approve: expected %s",
    (what, condition) => {
      const { failure } = failureAt("preToolCall", { _tag: "Ask", reason: "sure?", ...condition })
      assert.strictEqual(failure?.kind, "illegal")
      assert.strictEqual(failure?.message, `Ask at preToolCall: expected ${what}`)
    }
  )

  it.each([{ quorm: 2 }, Object.freeze({ quorm: 2 })])(
    "is a failure of the hook if a condition is misspelt, also in an answer that is frozen",
    (condition) => {
      const answer = { _tag: "Ask", reason: "sure?", ...condition }
      const { failure } = failureAt("preToolCall", Object.isFrozen(condition) ? Object.freeze(answer) : answer)
      assert.strictEqual(failure?.message, "Ask at preToolCall: there is no field `quorm`; did you mean `quorum`?")
    }
  )

  it("is asked if its conditions are right", () => {
    const conditions = {
      details: { why: "big" },
      args: {},
      allowed: ["approve", "deny", "edit", "respond", "delegate"],
      approvers: ["ada"],
      quorum: 1.5,
      expiresInMs: Infinity,
      answer: () => ({ type: "deny", reason: "no" }),
      standing: "session"
    }
    const { failure, outcome } = failureAt("preToolCall", { _tag: "Ask", reason: "sure?", ...conditions })
    assert.isUndefined(failure)
    assert.strictEqual(outcome.action._tag, "Ask")
  })
})

describe("a hook in a chain without a runtime", () => {
  const uses: ReadonlyArray<readonly [string, (ctx: never) => unknown]> = [
    ["llm", (ctx: { llm: (request: object) => unknown }) => ctx.llm({ prompt: "hi" })],
    ["callTool", (ctx: { callTool: (name: string, args: object) => unknown }) => ctx.callTool("read", {})],
    ["http", (ctx: { http: (request: object) => unknown }) => ctx.http({ url: "https://example.com" })],
    ["mcp", (ctx: { mcp: unknown }) => ctx.mcp],
    ["tools", (ctx: { tools: unknown }) => ctx.tools],
    ["artifacts", (ctx: { artifacts: unknown }) => ctx.artifacts],
    ["rotate", (ctx: { rotate: () => unknown }) => ctx.rotate()],
    ["state.durable", (ctx: { state: { durable: unknown } }) => ctx.state.durable]
  ]
  it.each(uses)("fails when it uses ctx.%s, and the error says why", (name, use) => {
    const scope = scopeOf()
    HookChain.makeUnsafe([{ name: "h", preTurn: (_turn, ctx) => void use(ctx as never) }])
      .runNow("preTurn", { message: "a" }, scope)
    assert.strictEqual(
      scope.failures[0]?.message,
      `ctx.${name}: this chain runs without a runtime, which it requires`
    )
  })
})
