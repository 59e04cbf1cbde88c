/** Spans and metrics as a collector receives them. */
import { agentTool, createAgent, defineHook, defineTool, HookAction } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import { RateLimited, ServerError } from "@belay/core/ProviderError"
import * as Secrets from "@belay/hooks/Secrets"
import * as Tracing from "@belay/observe/Tracing"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { attributesOf, type Collector, type OtlpSpan, startCollector, treeOf } from "./support/collector.ts"

const anything = { type: "object" } as const

const tool = (name: string, execute: () => unknown = () => "ok") =>
  defineTool({ name, description: `Does ${name}`, input: anything, execute: execute as () => string })

const asks = (name: string, args: { readonly [key: string]: string } = {}) => Scripted.toolCalls({ name, args })

/** Runs an agent with tracing, and returns what the collector received. */
const traced = async (
  run: (tracing: Tracing.Tracing) => Promise<unknown>,
  options: Tracing.Options = {}
): Promise<Collector> => {
  const collector = await startCollector()
  const tracing = Tracing.make({ url: collector.url, serviceName: "tests", ...options })
  await run(tracing)
  await tracing.close()
  await collector[Symbol.asyncDispose]()
  return collector
}

const named = (spans: ReadonlyArray<OtlpSpan>, name: string) => {
  const span = spans.find((one) => one.name === name)
  assert.isDefined(span, `no span ${name} in ${spans.map((one) => one.name).join(", ")}`)
  return { ...span!, attributes: attributesOf(span!.attributes) }
}

const eventsOf = (span: Pick<OtlpSpan, "events">, name: string) =>
  span.events.filter((event) => event.name === name).map(({ attributes }) => attributesOf(attributes))

describe("spans", () => {
  it("are nested as the turns, model calls, tools and sub-agents are", async () => {
    const child = createAgent({
      name: "helper",
      provider: Scripted.make([asks("look"), "found"]),
      tools: [tool("look")]
    })
    const { resources, spans } = await traced(async ({ plugin }) => {
      await using lead = createAgent({
        name: "lead",
        provider: Scripted.make([asks("helper", { message: "look there" }), "done"]),
        tools: [agentTool({ agent: child, name: "helper", description: "Helps" })],
        plugins: [plugin]
      })
      await lead.run("hi")
    })
    assert.strictEqual(
      treeOf(spans),
      [
        "invoke_agent lead",
        "  chat scripted",
        "  execute_tool helper",
        "    invoke_agent helper",
        "      chat scripted",
        "      execute_tool look",
        "      chat scripted",
        "  chat scripted"
      ].join("\n")
    )
    assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 1)
    const conversations = new Set(spans.map(({ attributes }) => attributesOf(attributes)["gen_ai.conversation.id"]))
    assert.strictEqual(conversations.size, 1)
    assert.include(JSON.stringify(resources), "tests")
  })

  it("are the same when the lead agent and its sub-agent have the plugin", async () => {
    const { spans } = await traced(async ({ plugin }) => {
      const plugins = [plugin]
      const child = createAgent({ name: "helper", provider: Scripted.make(["found"]), plugins })
      await using lead = createAgent({
        name: "lead",
        provider: Scripted.make([asks("helper", { message: "look" }), "done"]),
        tools: [agentTool({ agent: child, name: "helper", description: "Helps" })],
        plugins
      })
      await lead.run("hi")
    })
    assert.deepStrictEqual(
      treeOf(spans).split("\n").map((line) => line.trim()),
      [
        "invoke_agent lead",
        "chat scripted",
        "execute_tool helper",
        "invoke_agent helper",
        "chat scripted",
        "chat scripted"
      ]
    )
  })

  it("describe the model call with the names of the conventions", async () => {
    const answer = {
      ...asks("look"),
      id: "resp_1",
      model: "small-2026",
      usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 40, reasoningTokens: 5, costUsd: 0.25 }
    }
    const { metrics, spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({
        provider: Scripted.make([answer, "done"], { model: "small" }),
        tools: [tool("look")],
        parameters: { temperature: 0.5, maxTokens: 100, stop: ["END"] },
        plugins: [plugin]
      })
      await agent.run("hi")
    })
    const { attributes, kind } = named(spans, "chat small")
    assert.strictEqual(kind, 3)
    assert.deepInclude(attributes, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "small",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.max_tokens": 100,
      "gen_ai.request.stop_sequences": ["END"],
      "gen_ai.response.id": "resp_1",
      "gen_ai.response.model": "small-2026",
      "gen_ai.response.finish_reasons": ["tool-calls"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 20,
      "gen_ai.usage.cache_read.input_tokens": 40,
      "gen_ai.usage.reasoning.output_tokens": 5,
      "belay.usage.cost_usd": 0.25
    })
    assert.deepInclude(named(spans, "execute_tool look").attributes, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": answer.toolCalls[0]!.id
    })
    const sums = Object.fromEntries(
      metrics.map(({ name, sum }) => [name, sum?.dataPoints[0]?.["asDouble"] ?? sum?.dataPoints[0]?.["asInt"]])
    )
    assert.strictEqual(Number(sums["gen_ai.client.inference.usage.input_tokens"]), 100)
    assert.strictEqual(Number(sums["belay.usage.cost"]), 0.25)
    assert.includeMembers(metrics.map(({ name, unit }) => `${name} ${unit}`), [
      "gen_ai.client.inference.usage.input_tokens {token}",
      "belay.usage.cost {USD}",
      "gen_ai.client.inference.duration s",
      "gen_ai.execute_tool.duration s",
      "gen_ai.invoke_agent.duration s"
    ])
    assert.notInclude(JSON.stringify(metrics), "\"key\":\"unit\"")
  })

  it("are one for each attempt, with the error and what followed from it", async () => {
    const { spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({
        provider: [
          Scripted.make([new RateLimited({ provider: "first", message: "slow down" })], { name: "first", model: "a" }),
          Scripted.make([new ServerError({ provider: "second", message: "gone" }), "done"], {
            name: "second",
            model: "b"
          })
        ],
        hooks: [{
          name: "choose",
          onLlmError: ({ provider }) =>
            HookAction.replace(
              provider === "first"
                ? { type: "fallback", provider: "second" } as const
                : { type: "retry", delayMs: 1 } as const
            )
        }],
        plugins: [plugin]
      })
      await agent.run("hi")
    })
    const calls = spans.filter(({ name }) => name.startsWith("chat")).map((span) => {
      const attributes = attributesOf(span.attributes)
      return [
        span.name,
        attributes["belay.attempt"],
        attributes["error.type"],
        attributes["belay.decision"],
        span.status.code
      ]
    })
    assert.deepStrictEqual(calls, [
      ["chat a", 1, "RateLimited", "fallback", 2],
      ["chat b", 2, "ServerError", "retry", 2],
      ["chat b", 3, undefined, undefined, 1]
    ])
  })

  it("have the decisions of hooks as events, with point, answer and digests", async () => {
    const guard: AgentHook = defineHook({
      name: "guard",
      kind: "policy",
      preTurn: (event) => HookAction.transform({ ...event, message: `${event.message}!` }),
      preToolCall: (call) =>
        call.name === "drop" ? HookAction.reject("never") : HookAction.transform({ ...call, args: { safe: true } }),
      postToolCall: () => HookAction.transform({ ok: true as const, output: "less" })
    })
    const { spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({
        provider: Scripted.make([asks("drop"), asks("look"), "done"]),
        tools: [tool("drop"), tool("look")],
        hooks: [guard],
        plugins: [plugin]
      })
      await agent.run("hi")
    })
    const turn = named(spans, "invoke_agent agent")
    const decisions = eventsOf(turn, "belay.hook.decision")
    assert.deepStrictEqual(
      decisions.map((one) => [one["belay.hook.name"], one["belay.hook.point"], one["belay.hook.answer"]]),
      [
        ["guard", "preTurn", "Transform"],
        ["guard", "preToolCall", "Reject"],
        ["guard", "preToolCall", "Transform"],
        ["guard", "postToolCall", "Transform"]
      ]
    )
    const changed = decisions[2]!
    assert.match(String(changed["belay.hook.before"]), /^[0-9a-f]{14}$/)
    assert.notStrictEqual(changed["belay.hook.before"], changed["belay.hook.after"])
    assert.strictEqual(eventsOf(turn, "belay.tool.denied")[0]?.["gen_ai.tool.name"], "drop")
    assert.isFalse(spans.some(({ name }) => name === "execute_tool drop"))
  })

  it("have the failures of hooks as events, with what became of the call", async () => {
    const broken = defineHook({ name: "broken", preToolCall: () => Promise.reject(new Error("away")) })
    const { spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({
        provider: Scripted.make([asks("look"), "done"]),
        tools: [tool("look")],
        hooks: [broken],
        plugins: [plugin],
        log: false
      })
      await agent.run("hi")
    })
    assert.deepStrictEqual(
      eventsOf(named(spans, "invoke_agent agent"), "belay.hook.failure").map((one) => [
        one["belay.hook.name"],
        one["belay.hook.point"],
        one["belay.hook.answer"]
      ]),
      [["broken", "preToolCall", "open"]]
    )
  })

  it("contain no texts unless the program asks for them, and then as it returns them", async () => {
    const secret = "AKIAIOSFODNN7EXAMPLE"
    const run = ({ plugin }: Tracing.Tracing) => {
      const agent = createAgent({
        instructions: "be kind",
        provider: Scripted.make([asks("look", { at: `with ${secret}` }), "the answer"]),
        tools: [tool("look", () => `found ${secret}`)],
        hooks: [{ name: "guard", preTurn: () => HookAction.transform({ message: `hello ${secret}` }) }],
        plugins: [plugin]
      })
      return agent.run(`hello ${secret}`)
    }
    const without = JSON.stringify((await traced(run)).spans)
    for (const text of [secret, "hello", "found", "the answer", "be kind"]) assert.notInclude(without, text)
    const { spans } = await traced(run, { content: Secrets.redactText })
    const all = JSON.stringify(spans)
    assert.notInclude(all, secret)
    const last = spans.filter(({ name }) => name === "chat scripted").map(({ attributes }) => attributesOf(attributes))
      .at(-1)!
    assert.deepStrictEqual(JSON.parse(String(last["gen_ai.system_instructions"])), [{
      type: "text",
      content: "be kind"
    }])
    const messages = JSON.parse(String(last["gen_ai.input.messages"]))
    assert.deepStrictEqual(messages[0], { role: "user", parts: [{ type: "text", content: "hello [aws-key]" }] })
    assert.deepInclude(messages[1].parts[0], { type: "tool_call", name: "look", arguments: { at: "with [aws-key]" } })
    assert.deepInclude(messages[2].parts[0], { type: "tool_call_response", response: "found [aws-key]" })
    assert.deepStrictEqual(JSON.parse(String(last["gen_ai.output.messages"])), [
      { role: "assistant", parts: [{ type: "text", content: "the answer" }], finish_reason: "stop" }
    ])
    assert.include(String(named(spans, "execute_tool look").attributes["gen_ai.tool.call.result"]), "found [aws-key]")
  })

  it("tell how long the first chunk took if the answer was streamed, and stream nothing by themselves", async () => {
    const { metrics, spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({ provider: Scripted.make(["a long answer", "another"]), plugins: [plugin] })
      for await (const _event of agent.stream("hi"));
      await agent.run("hi")
    })
    const times = spans.filter(({ name }) => name === "chat scripted").map(({ attributes }) =>
      attributesOf(attributes)["gen_ai.response.time_to_first_chunk"]
    )
    assert.lengthOf(times, 2)
    assert.isNumber(times[0])
    assert.isUndefined(times[1])
    assert.isTrue(metrics.some(({ name }) => name === "gen_ai.client.inference.time_to_first_chunk"))
  })

  it("end with the turn, however it ends", async () => {
    const { spans } = await traced(async ({ plugin }) => {
      const run = async (name: string, given: Partial<Parameters<typeof createAgent>[0]>, signal?: AbortSignal) => {
        const agent = createAgent({ name, provider: Scripted.make(["done"]), plugins: [plugin], ...given } as never)
        await agent.run("hi", signal === undefined ? {} : { signal }).catch(() => {})
        await agent.close()
      }
      const reject: AgentHook = { name: "no", preLlmCall: () => HookAction.reject("no") }
      const abort: AgentHook = { name: "stop", postLlmCall: () => HookAction.abort("stop") }
      const ask: AgentHook = { name: "ask", preToolCall: () => HookAction.ask("may I?") }
      await run("fails", { hooks: [reject] })
      await run("aborts", { hooks: [abort] })
      await run("asks", { hooks: [ask], provider: Scripted.make([asks("look")]), tools: [tool("look")] })
      const controller = new AbortController()
      const slow = defineTool({
        name: "slow",
        description: "waits",
        input: anything,
        execute: () => new Promise(() => controller.abort())
      })
      await run("cancelled", { provider: Scripted.make([asks("slow")]), tools: [slow] }, controller.signal)
    })
    const turns = spans.filter(({ name }) => name.startsWith("invoke_agent")).map((span) => {
      const attributes = attributesOf(span.attributes)
      return [span.name.slice(13), attributes["belay.turn.status"], attributes["error.type"], span.status.code]
    })
    assert.deepStrictEqual(turns, [
      ["fails", "failed", "HookRejected", 2],
      ["aborts", "aborted", "aborted", 2],
      ["asks", "suspended", undefined, 1],
      ["cancelled", "cancelled", undefined, 1]
    ])
    assert.lengthOf(eventsOf(named(spans, "invoke_agent asks"), "belay.approval.asked"), 1)
    assert.strictEqual(named(spans, "execute_tool slow").attributes["error.type"], "cancelled")
  })

  it("of a model call that a hook makes name the hook", async () => {
    const { spans } = await traced(async ({ plugin }) => {
      await using agent = createAgent({
        provider: Scripted.make(["a judgement", "done"]),
        hooks: [{ name: "judge", preTurn: async (_event, ctx) => void (await ctx.llm({ prompt: "is it good?" })) }],
        plugins: [plugin]
      })
      await agent.run("hi")
    })
    const hooks = spans.filter(({ name }) => name.startsWith("chat")).map(({ attributes }) =>
      attributesOf(attributes)["belay.hook.name"]
    )
    assert.deepStrictEqual(hooks, ["judge", undefined])
  })

  it("that a tool makes with Effect become children of its span", async () => {
    const { spans } = await traced(async ({ plugin }) => {
      const inner = defineTool({
        name: "query",
        description: "Queries",
        input: anything,
        execute: () => Effect.as(Effect.withSpan(Effect.sleep(1), "SELECT"), "rows")
      })
      await using agent = createAgent({
        provider: Scripted.make([asks("query"), "done"]),
        tools: [inner],
        plugins: [plugin]
      })
      await agent.run("hi")
    })
    assert.include(treeOf(spans), "  execute_tool query\n    SELECT")
  })
})
