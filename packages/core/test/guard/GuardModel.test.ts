/** The guard of a driver: model calls. */
import { assert, describe, it } from "@effect/vitest"
import type { LlmRequest, LlmResponse } from "../../src/data/LlmCall.ts"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"

const request = (...texts: ReadonlyArray<string>): LlmRequest => ({
  messages: texts.map((content) => ({ role: "user", content })),
  tools: [],
  parameters: {}
})

const answer = (text: string): LlmResponse => ({ model: "m", text, toolCalls: [], finishReason: "stop" })

const textsOf = ({ messages }: LlmRequest) => messages.map(({ content }) => content)

const make = (hooks: ReadonlyArray<AgentHook>, options: GuardSession.GuardOptions = {}) =>
  GuardSession.make({ hooks, log: false, ...options })

describe("a guarded model call", () => {
  it("reads what hooks inject, at the same place in every later request", async () => {
    const session = make([defineHook({
      name: "reminds",
      preTurn: (_input, ctx) => ctx.inject("be kind"),
      postToolCall: (_done, ctx) => ctx.inject("checked")
    })])
    await session.userMessage("one")
    const first = await session.modelRequest(request("one"))
    assert.deepStrictEqual(first.type === "allow" ? textsOf(first.request) : first, ["one", "be kind"])
    await session.callTool({ id: "1", name: "x" }, () => 1)
    const next = await session.modelRequest(request("one", "two"))
    assert.deepStrictEqual(next.type === "allow" ? textsOf(next.request) : next, ["one", "be kind", "two", "checked"])
    const last = await session.modelRequest(request("one", "two", "three"))
    assert.deepStrictEqual(last.type === "allow" ? textsOf(last.request) : last, [
      "one",
      "be kind",
      "two",
      "checked",
      "three"
    ])
    assert.deepStrictEqual(last.context, [])
  })

  it("is not passed on by a driver that only takes context, which then has the texts", async () => {
    const session = make([defineHook({ name: "reminds", preToolCall: (_call, ctx) => ctx.inject("be kind") })], {
      seesRequests: false
    })
    const verdict = await session.toolCall({ id: "1", name: "x" })
    assert.deepStrictEqual(verdict.context, [{ hook: "reminds", text: "be kind" }])
    assert.deepStrictEqual((await session.toolCall({ id: "2", name: "x" })).context.length, 1)
    assert.deepStrictEqual((await session.beforeStop({ text: "" })).context, [])
  })

  it("is in the context of one session of a guard whose other sessions see requests", async () => {
    const guard = GuardSession.guard({
      hooks: [defineHook({ name: "reminds", preToolCall: (_call, ctx) => ctx.inject("be kind") })]
    })
    const contextOf = async (options: GuardSession.GuardSessionOptions) =>
      (await guard.session(options).toolCall({ id: "1", name: "x" })).context
    assert.deepStrictEqual(await contextOf({ seesRequests: false }), [{ hook: "reminds", text: "be kind" }])
    assert.deepStrictEqual(await contextOf({}), [])
  })

  it("is answered by a hook, changed, or sent back with feedback as often as the hook allows", async () => {
    const session = make([defineHook({
      name: "critic",
      preLlmCall: ({ messages }) =>
        messages.at(-1)?.content === "cached" ? HookAction.respond(answer("from the cache")) : undefined,
      postLlmCall: ({ response: { text } }) =>
        text === "rude" ? HookAction.reject("rude", { feedback: "be polite", retries: 2 }) : undefined
    })])
    const cached = await session.modelRequest(request("cached"))
    assert.deepInclude(cached, { type: "respond", response: answer("from the cache") })
    await session.modelRequest(request("hi"))
    const again = { type: "again", feedback: "be polite", by: "critic", context: [] } as const
    assert.deepStrictEqual(await session.modelAnswer({ response: answer("rude") }), again)
    assert.deepStrictEqual(await session.modelAnswer({ response: answer("rude") }), again)
    assert.deepInclude(await session.modelAnswer({ response: answer("rude") }), { type: "deny", by: "critic" })
    assert.deepInclude(await session.modelAnswer({ response: answer("fine") }), { type: "allow" })
  })

  it("runs inside the hooks that wrap model calls, until they accept the answer", async () => {
    const asked: Array<ReadonlyArray<unknown>> = []
    const session = make([
      defineHook({
        name: "critic",
        postLlmCall: ({ response: { text } }) =>
          text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
      }),
      defineHook({
        name: "loud",
        wrapLlmCall: async (one, next) => {
          const response = await next({ ...one, messages: [...one.messages, { role: "user", content: "loud" }] })
          return { ...response, text: `${response.text}!` }
        }
      })
    ])
    const verdict = await session.callModel(request("hi"), (one) => {
      asked.push(textsOf(one))
      return Promise.resolve(answer(asked.length === 1 ? "rude" : "fine"))
    })
    // The wrapper changes the request, and the answer before the hooks see it.
    assert.strictEqual(verdict.type === "allow" ? verdict.response.text : verdict.type, "rude!")
    assert.deepStrictEqual(asked, [["hi", "loud"]])
    const failed = new Error("the driver's own error")
    const thrown = await session.callModel(request("hi"), () => Promise.reject(failed)).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.strictEqual(thrown, failed)
  })

  it("gives the driver its own request if no hook has changed it", async () => {
    const seen: Array<LlmRequest> = []
    const session = make([defineHook({
      name: "reads",
      preLlmCall: (one) =>
        textsOf(one).includes("4711") ? HookAction.transform({ ...one, messages: one.messages.slice(1) }) : undefined
    })])
    const call = (one: LlmRequest) => {
      seen.push(one)
      return Promise.resolve(answer("fine"))
    }
    const [plain, secret] = [request("hi"), request("4711", "hi")]
    await session.callModel(plain, call)
    await session.callModel(secret, call)
    assert.strictEqual(seen[0], plain)
    assert.deepStrictEqual(textsOf(seen[1]!), ["hi"])
    assert.isFalse(Object.isFrozen(plain))
  })

  it("asks again with the feedback, and hooks see which request was answered", async () => {
    const asked: Array<ReadonlyArray<unknown>> = []
    const seen: Array<number> = []
    const session = make([defineHook({
      name: "critic",
      postLlmCall: ({ request: { messages }, response: { text } }) => {
        seen.push(messages.length)
        return text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
      }
    })])
    const verdict = await session.callModel(request("hi"), (one) => {
      asked.push(textsOf(one))
      return Promise.resolve(answer(asked.length === 1 ? "rude" : "fine"))
    })
    assert.strictEqual(verdict.type === "allow" ? verdict.response.text : verdict.type, "fine")
    assert.deepStrictEqual(asked, [["hi"], ["hi", "be polite"]])
    assert.deepStrictEqual(seen, [1, 2])
  })

  it("streams through the hooks", async () => {
    const session = make([defineHook({
      name: "masks",
      onLlmDelta: (delta) =>
        delta.type === "text"
          ? HookAction.transform({ type: "text", text: delta.text.replace("1234", "****") })
          : undefined
    })])
    assert.deepInclude(await session.modelDelta({ type: "text", text: "pin 1234" }), {
      type: "allow",
      delta: { type: "text", text: "pin ****" }
    })
  })
})
