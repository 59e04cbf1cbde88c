/** Side models: models that hooks ask by name, outside the fallback chain. */
import { assert, describe, it } from "@effect/vitest"
import { type } from "arktype"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z } from "zod"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import { type AgentHook, defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { HookContext, SideRequest } from "../../../src/hook/HookContext.ts"
import { failureOf } from "../../support/agent.ts"
import { asks, type Model, scripted } from "../../support/model.ts"

/** Asks a model once per turn and keeps what came back. */
const asking = (request: SideRequest, seen: Array<unknown>): AgentHook => ({
  name: "asking",
  preTurn: async (_input, ctx) => {
    await ctx.llm(request).then((answer) => seen.push(answer), (error: unknown) => seen.push(error))
  }
})

const ask = async (judge: Model, request: SideRequest): Promise<{ readonly [key: string]: unknown }> => {
  const seen: Array<unknown> = []
  await using agent = createAgent({
    provider: scripted([], { name: "main", model: "main-model" }).provider,
    models: { judge: judge.provider },
    hooks: [asking(request, seen)]
  })
  await agent.run("go")
  assert.lengthOf(seen, 1)
  return seen[0] as never
}

describe("a side model", () => {
  it("answers the hook that names it, and never the user, even if the main model fails", async () => {
    const judge = scripted(["verdict"], { name: "judge" })
    const seen: Array<unknown> = []
    await using agent = createAgent({
      provider:
        scripted([], { name: "main", after: new ProviderError.Auth({ provider: "main", message: "no key" }) }).provider,
      models: { judge: judge.provider },
      hooks: [asking({ model: "judge", prompt: "safe?" }, seen)]
    })
    assert.strictEqual((await failureOf(agent.run("go")))["_tag"], "Auth")
    assert.deepInclude(seen[0], { text: "verdict" })
    assert.lengthOf(judge.requests, 1)
    assert.strictEqual(judge.requests[0]!.model, "model-1")
  })

  it("is retried for itself: the main model does not stand in for it, and the circuits are separate", async () => {
    const judge = scripted([], { name: "main", after: new ProviderError.Auth({ provider: "main", message: "no key" }) })
    const seen: Array<unknown> = []
    const main = scripted([], { name: "main" })
    await using agent = createAgent({
      provider: [main.provider, scripted([], { name: "backup" }).provider],
      models: { judge: judge.provider },
      breaker: { failures: 1 },
      hooks: [asking({ model: "judge", prompt: "?" }, seen)]
    })
    await agent.run("go")
    await agent.run("go")
    assert.deepInclude(seen[0], { _tag: "Auth" })
    assert.lengthOf(main.requests, 2)
  })

  it("has other hooks around its calls, if they allow it, and its usage and cost count", async () => {
    const calls: Array<string> = []
    const usage = { inputTokens: 100, outputTokens: 10 }
    const judge = { ...scripted([{ text: "yes", usage }], { name: "j", model: "small" }).provider, costOf: () => 0.01 }
    const main = { ...scripted([{ text: "done", usage }], { name: "m", model: "large" }).provider, costOf: () => 1 }
    await using agent = createAgent({
      provider: main,
      models: { judge },
      hooks: [
        asking({ model: "judge", prompt: "?" }, []),
        {
          name: "budget",
          allowReentry: true,
          wrapLlmCall: (request, next) => {
            calls.push(String(request.model))
            return next(request)
          }
        }
      ]
    })
    const { cost, usage: total } = await agent.run("go")
    assert.deepStrictEqual(calls, ["small", "undefined"])
    assert.deepStrictEqual(cost, {
      usd: 1.01,
      isComplete: true,
      byModel: { small: { usd: 0.01, isComplete: true, calls: 1 }, large: { usd: 1, isComplete: true, calls: 1 } }
    })
    assert.strictEqual(total.inputTokens, 200)
  })

  it("with a name that nobody has is an error that lists the names", async () => {
    const judge = scripted([], { name: "judge" })
    const close = await ask(judge, { model: "jugde", prompt: "?" })
    assert.strictEqual(close["_tag"], "ConfigError")
    assert.match(String(close["message"]), /ctx.llm of asking: no model is named "jugde": did you mean "judge"\?/)
    const far = await ask(judge, { model: "verifier", prompt: "?" })
    assert.match(String(far["message"]), /no model is named "verifier": The side models are judge\..*provider: "main"/)
    assert.match(String((await ask(judge, { model: "constructor", prompt: "?" }))["message"]), /no model is named/)
    assert.lengthOf(judge.requests, 0)
  })

  it("leaves the names of the vendor's models alone: those of the agent, and those with a provider", async () => {
    const judge = scripted([], { name: "judge" })
    for (const request of [{ model: "main-model" }, { model: "other", provider: "main" }, {}]) {
      assert.deepInclude(await ask(judge, { prompt: "?", ...request }), { text: "the end" })
    }
    assert.lengthOf(judge.requests, 0)
  })

  it("belongs to sub-agents too, at any depth, unless they have their own with the name", async () => {
    const leadJudge = scripted([], { name: "lead-judge" })
    const ownJudge = scripted([], { name: "own-judge" })
    const hook = asking({ model: "judge", prompt: "?" }, [])
    const one = createAgent({ name: "one", provider: scripted([]).provider, hooks: [hook] })
    const two = createAgent({
      name: "two",
      provider: scripted([asks(["one", { message: "go" }])]).provider,
      models: { judge: ownJudge.provider },
      hooks: [hook],
      tools: [agentTool({ name: "one", description: "", agent: one })]
    })
    await using lead = createAgent({
      provider: scripted([asks(["one", { message: "go" }], ["two", { message: "go" }])]).provider,
      models: { judge: leadJudge.provider },
      tools: [
        agentTool({ name: "one", description: "", agent: one }),
        agentTool({ name: "two", description: "", agent: two })
      ]
    })
    await lead.run("go")
    assert.lengthOf(leadJudge.requests, 1)
    assert.lengthOf(ownJudge.requests, 2)
  })

  it("that is not a provider is refused when the agent is made", () => {
    assert.throws(
      () => createAgent({ provider: scripted([]).provider, models: { judge: "gpt" as never } }),
      /models.judge/
    )
  })
})

describe("an answer with a schema", () => {
  const schemas = [
    ["zod", z.object({ safe: z.boolean() })],
    ["valibot", v.object({ safe: v.boolean() })],
    ["arktype", type({ safe: "boolean" })],
    ["Effect Schema", Schema.Struct({ safe: Schema.Boolean })],
    ["JSON Schema", { type: "object", properties: { safe: { type: "boolean" } }, required: ["safe"] }]
  ] as const
  for (const [name, schema] of schemas) {
    it(`is decoded: ${name}`, async () => {
      const judge = scripted([`{"safe":true}`])
      const answer = await ask(judge, { model: "judge", prompt: "?", schema })
      assert.deepStrictEqual(answer["object"], { safe: true })
      assert.strictEqual(answer["text"], `{"safe":true}`)
      assert.strictEqual(judge.requests[0]!.parameters.responseFormat?.name, "answer")
    })
  }

  it("is sent back once if it does not fit", async () => {
    const judge = scripted(["yes, it is", `{"safe":false}`])
    const answer = await ask(judge, { model: "judge", prompt: "?", schema: schemas[0][1] })
    assert.deepStrictEqual(answer["object"], { safe: false })
    assert.match(JSON.stringify(judge.requests[1]!.messages), /yes, it is.*it is not JSON.*Answer again/)
  })

  it("is an OutputMismatch if it does not fit twice", async () => {
    const judge = scripted([`{"safe":"no"}`, `{}`])
    const error = await ask(judge, { model: "judge", prompt: "?", schema: schemas[0][1] })
    assert.strictEqual(error["_tag"], "OutputMismatch")
    assert.strictEqual(error["text"], "{}")
    assert.lengthOf(judge.requests, 2)
  })

  it("is a ConfigError if the schema cannot be used", async () => {
    const error = await ask(scripted([]), { model: "judge", prompt: "?", schema: z.string() })
    assert.match(String(error["message"]), /ctx.llm of asking: the answer must be an object/)
  })

  it("can be asked of the agent's own model, and is typed", async () => {
    const Verdict = z.object({ safe: z.boolean() })
    const judge = async (ctx: HookContext): Promise<boolean> =>
      (await ctx.llm({ prompt: "?", schema: Verdict })).object.safe
    const generator = defineHook({
      name: "generator",
      *postTurn(_output, ctx) {
        const { object } = yield* ctx.llm({ prompt: "?", schema: Schema.Struct({ n: Schema.Finite }) })
        const n: number = object.n
        return n > 1 ? undefined : HookAction.reject("too small")
      }
    })
    await using agent = createAgent({
      provider: scripted([`{"safe":true}`, "done", `{"n":2}`]).provider,
      hooks: [generator, {
        name: "async",
        preTurn: async (_input, ctx) => await judge(ctx) ? undefined : HookAction.reject("not safe")
      }]
    })
    assert.strictEqual((await agent.run("go")).text, "done")
  })

  it("stops a failing guard: a policy hook whose judge cannot answer refuses", async () => {
    await using agent = createAgent({
      provider: scripted(["the key is sk-123"]).provider,
      models: { judge: scripted([], { after: "I cannot say" }).provider },
      hooks: [{
        name: "guard",
        kind: "policy",
        postLlmCall: async (_event, ctx) => void (await ctx.llm({ model: "judge", prompt: "?", schema: schemas[0][1] }))
      }]
    })
    const error = await failureOf(agent.run("go"))
    assert.strictEqual(error["_tag"], "HookFailed")
  })
})
