/** What hooks can do through `ctx`: ask a model, run tools, keep artifacts and durable state. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { PortFailed } from "../../../src/data/AgentError.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { HttpRequest } from "../../../src/data/Http.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as ArtifactStore from "../../../src/port/ArtifactStore.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { failureOf, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const usage = { inputTokens: 10, outputTokens: 5 }

describe("requests of a hook", () => {
  const pinging = (failures: Array<unknown>, said: Array<string>): AgentHook => ({
    name: "pinging",
    preTurn: function*(_input, ctx) {
      const answer = yield* Effect.result(ctx.http({ url: "https://example.com/", headers: { a: "b" } }))
      if (answer._tag === "Success") said.push(answer.success.body)
      else failures.push(answer.failure)
    }
  })

  // rows: U-23
  it("are sent unchanged by the agent's client", async () => {
    const asked: Array<HttpRequest> = []
    const failures: Array<unknown> = []
    const said: Array<string> = []
    await using agent = createAgent({
      provider: scripted(["done"]).provider,
      hooks: [pinging(failures, said)],
      http: {
        request: (request) => {
          asked.push(request)
          return Effect.succeed({ status: 200, headers: {}, body: "pong", url: request.url })
        }
      }
    })
    await agent.run("go")
    assert.deepStrictEqual(asked, [{ url: "https://example.com/", headers: { a: "b" } }])
    assert.deepStrictEqual({ failures, said }, { failures: [], said: ["pong"] })
  })

  it("fail with a clear message without a client, and with the client's message when it fails, dies or throws", async () => {
    const messages: Array<unknown> = []
    const broken: ReadonlyArray<AgentConfig["http"]> = [
      undefined,
      { request: () => Effect.fail("no such host") },
      { request: () => Effect.die("a bug") },
      { request: () => (undefined as never as { readonly x: never }).x }
    ]
    for (const http of broken) {
      const failures: Array<unknown> = []
      await using agent = createAgent({
        provider: scripted(["done"]).provider,
        hooks: [pinging(failures, [])],
        ...(http === undefined ? {} : { http })
      })
      assert.strictEqual((await agent.run("go")).status, "completed")
      const [{ _tag, message, port }] = failures as [PortFailed]
      assert.deepStrictEqual({ _tag, port }, { _tag: "PortFailed", port: "http" })
      messages.push(message)
    }
    assert.deepStrictEqual(messages, [
      "ctx.http of pinging: the agent has no HTTP client; give it one: http: HttpGuard.client({ ... })",
      "http for pinging: no such host",
      "http for pinging: a bug",
      "http for pinging: Cannot read properties of undefined (reading 'x')"
    ])
  })

  it("end with the turn", async () => {
    const ended: Array<string> = []
    const controller = new AbortController()
    await using agent = createAgent({
      provider: scripted(["done"]).provider,
      hooks: [{
        name: "waiting",
        preTurn: (_input, ctx) => ctx.promise(Effect.asVoid(ctx.http({ url: "https://example.com/" })))
      }],
      http: {
        request: () =>
          Effect.callback<never>(() => {
            controller.abort()
            return Effect.sync(() => void ended.push("interrupted"))
          })
      }
    })
    assert.strictEqual((await failureOf(agent.run("go", { signal: controller.signal })))["name"], "AbortError")
    assert.deepStrictEqual(ended, ["interrupted"])
  })

  it("of a sub-agent's hooks go through the client of the agent it works for", async () => {
    const asked: Array<string> = []
    const client = (name: string): NonNullable<AgentConfig["http"]> => ({
      request: ({ url }) => {
        asked.push(name)
        return Effect.succeed({ status: 200, headers: {}, body: "", url })
      }
    })
    const helper = createAgent({
      name: "helper",
      provider: scripted(["helped"], { name: "helper" }).provider,
      hooks: [pinging([], [])],
      http: client("helper's")
    })
    await using agent = createAgent({
      provider: scripted([asks(["help", { message: "x" }]), "done"]).provider,
      tools: [agentTool({ agent: helper, name: "help", description: "Helps" })],
      http: client("root's")
    })
    await agent.run("go")
    assert.deepStrictEqual(asked, ["root's"])
  })
})

describe("a model for a hook", () => {
  it("calls the named provider once, without streaming, and adds its cost to the turn", async () => {
    const judge = scripted([{ text: "fine", usage }], { name: "judge" })
    const main = scripted([{ text: "answer", usage }], { name: "main" })
    const events: Array<AgentEvent> = []
    const said: Array<string> = []
    await using agent = createAgent({
      provider: [main.provider, judge.provider],
      hooks: [{
        name: "judging",
        postLlmCall: function*(_event, ctx) {
          said.push(
            (yield* ctx.llm({ prompt: "?", provider: "judge", instructions: "be short", parameters: { maxTokens: 5 } }))
              .text
          )
        }
      }]
    })
    agent.on((event) => void events.push(event))
    const result = await agent.run("go")
    assert.deepStrictEqual(said, ["fine"])
    assert.deepStrictEqual(result.usage, { inputTokens: 20, outputTokens: 10 })
    assert.deepStrictEqual(judge.requests[0]!.messages, [{ role: "user", content: "?" }])
    assert.deepStrictEqual(judge.requests[0]!.tools, [])
    assert.strictEqual(judge.requests[0]!.instructions, "be short")
    assert.deepStrictEqual(
      events.filter(({ type }) => type === "text-delta").map((event) => (event as { readonly text: string }).text).join(
        ""
      ),
      "answer"
    )
    assert.deepInclude(events.find(({ type }) => type === "hook-llm") as object, { hook: "judging", usage })
    assert.lengthOf(result.messages, 2)
  })

  // rows: U-21
  it("cannot recurse: a hook that runs for a hook's call cannot make calls", async () => {
    const failures: Array<string> = []
    const model = scripted([], { after: "x" })
    const circling: AgentHook = {
      name: "circling",
      allowReentry: true,
      onFailure: "open",
      preLlmCall: (_request, ctx) => Effect.asVoid(ctx.llm({ prompt: "again" }))
    }
    await using agent = createAgent({ provider: model.provider, hooks: [circling] })
    agent.on((event) => void (event.type === "hook-failed" && failures.push(event.message)))
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.lengthOf(model.requests, 2)
  })

  // rows: U-21
  it("can be rejected by hooks that guard such calls, and then fails in the hook that made the call", async () => {
    const guard: AgentHook = {
      name: "guard",
      kind: "policy",
      allowReentry: true,
      preLlmCall: ({ tools }) => tools.length === 0 ? HookAction.reject("not for hooks") : undefined
    }
    const asking: AgentHook = {
      name: "asking",
      failOpen: false,
      preToolCall: (_call, ctx) => Effect.asVoid(ctx.llm({ prompt: "?" }))
    }
    const look = recording("look")
    await using agent = createAgent({
      provider: scripted([asks(["look"]), "done"]).provider,
      tools: [look.tool],
      hooks: [guard, asking]
    })
    const { messages } = await agent.run("go")
    assert.match(JSON.stringify(messages), /hook asking failed at preToolCall.*not for hooks/)
    assert.deepStrictEqual(look.ran, [])
  })
})

describe("tools for a hook", () => {
  // rows: U-21
  it("run under the policy, without hooks; a call that needs a person fails, even if the agent's call was approved", async () => {
    const results: Array<unknown> = []
    const seen: Array<string> = []
    const look = recording("look")
    const deploy = recording("deploy")
    const hooks: ReadonlyArray<AgentHook> = [
      { name: "watch", preToolCall: ({ id }) => void seen.push(id) },
      {
        name: "calling",
        postToolCall: async (_end, ctx) => {
          for (const [name, args] of [["look", {}], ["deploy", {}], ["drop", {}], ["nothing", {}]] as const) {
            results.push(await ctx.promise(ctx.callTool(name, args)))
          }
        }
      }
    ]
    await using agent = createAgent({
      provider: scripted([asks(["look", {}, "c"]), "done"]).provider,
      tools: [look.tool, deploy.tool, recording("drop").tool],
      policy: {
        check: ({ name }) =>
          name === "deploy"
            ? { type: "ask", reason: "?", grant: { sandbox: "none" } }
            : name === "drop"
            ? { type: "deny", reason: "never" }
            : { type: "allow", grant: { sandbox: "none" } }
      },
      onAsk: () => ({ type: "approve" }),
      hooks
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, ["c"])
    assert.deepStrictEqual(results, [
      { ok: true, output: "ok" },
      { ok: false, error: "deploy needs a person's approval, which a hook cannot ask for" },
      { ok: false, error: "never" },
      { ok: false, error: "unknown tool \"nothing\": the tools are look, deploy, drop" }
    ])
    assert.deepStrictEqual(deploy.ran, [])
  })
})

// rows: E-30
describe("artifacts", () => {
  it("are written by hooks and tools under separate names, and read by both", async () => {
    const artifacts = ArtifactStore.inMemory()
    const read: Array<unknown> = []
    const tool = recording("write", async (_args, ctx) => {
      await ctx.artifacts.write("draft", "by the tool")
      await ctx.artifacts.append("hook:secret", "not there")
      read.push(await ctx.artifacts.read("hook:draft"), await ctx.artifacts.read("<artifact:hook:draft>"))
      return (await ctx.artifacts.list()).map(({ key }) => key)
    })
    await using agent = createAgent({
      provider: scripted([asks(["write", {}, "w"]), "done"]).provider,
      tools: [tool.tool],
      artifacts,
      hooks: [{
        name: "writing",
        preToolCall: async ({ id }, ctx) => {
          await ctx.promise(ctx.artifacts.append("draft", "one "))
          const about = await ctx.promise(ctx.artifacts.append("draft", "two", { toolCallId: id }))
          assert.deepInclude(about, {
            key: "hook:draft",
            ref: "<artifact:hook:draft>",
            size: 7,
            by: "writing",
            mimeType: "text/plain"
          })
        },
        postToolCall: async (_end, ctx) => {
          read.push(
            await ctx.promise(ctx.artifacts.read("tool:draft")),
            await ctx.promise(ctx.artifacts.read("nothing"))
          )
        }
      }]
    })
    const { messages, sessionId } = await agent.run("go")
    assert.deepStrictEqual(read, ["one two", "one two", "by the tool", undefined])
    assert.deepStrictEqual(messages[2]!.content, ["hook:draft", "tool:draft", "tool:hook:secret"])
    assert.lengthOf(await Effect.runPromise(artifacts.list(sessionId)), 3)
  })

  it("keep the appends of parallel calls whole", async () => {
    const artifacts = ArtifactStore.inMemory()
    await using agent = createAgent({
      provider: scripted([
        asks(...Array.from({ length: 50 }, (_, n) => ["look", { n }] as [string, { readonly n: number }])),
        "done"
      ]).provider,
      tools: [recording("look").tool],
      artifacts,
      hooks: [{
        name: "log",
        postToolCall: ({ call }, ctx) => Effect.asVoid(ctx.artifacts.append("log", `${JSON.stringify(call.args)}\n`))
      }]
    })
    const { sessionId } = await agent.run("go")
    const log = await Effect.runPromise(artifacts.read(sessionId, "hook:log"))
    assert.strictEqual(new Set(log!.trimEnd().split("\n")).size, 50)
  })
})

// rows: E-20, E-21, DEC-15
describe("durable state", () => {
  const count = HookState.key("count", 0)

  it("is kept however the turn that wrote it ended", async () => {
    const endings: { readonly [how: string]: Partial<AgentHook> } = {
      "a rejection": {
        preTurn: (_input, ctx) => (ctx.state.durable.conversation.set(count, 1), HookAction.reject("no"))
      },
      "an abort": {
        preToolCall: (_call, ctx) => (ctx.state.durable.conversation.set(count, 1), HookAction.abort("no"))
      },
      "a failure": {
        preStop: (_stop, ctx) => ctx.state.durable.conversation.set(count, 1),
        postTurn: () => HookAction.reject("no")
      },
      "a cancellation": {
        postToolCall: (_end, ctx) => {
          ctx.state.durable.conversation.set(count, 1)
          controller.abort()
          return new Promise<never>(() => {})
        }
      }
    }
    let controller = new AbortController()
    for (const [how, hook] of Object.entries(endings)) {
      controller = new AbortController()
      const store = SessionStore.inMemory()
      const agent = createAgent({
        provider: scripted([asks(["look"]), "done"]).provider,
        tools: [recording("look").tool],
        store,
        hooks: [{ name: "h", ...hook }]
      })
      const session = await agent.session({ id: "s" })
      await session.run("go", { signal: controller.signal }).catch(() => {})
      await session.close()
      assert.strictEqual((await Effect.runPromise(store.load("s")))?.durable?.conversation["count"], 1, how)
    }
  })

  it("ends with its scope: a call's with the call, a turn's with the turn", async () => {
    const seen: Array<number> = []
    await using agent = createAgent({
      provider: scripted([asks(["look", {}, "a"], ["look", {}, "b"]), "one", "two"]).provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "h",
        preTurn: (_input, ctx) => void seen.push(ctx.state.durable.call("never ran").update(count, (n) => n + 1)),
        preToolCall: ({ id }, ctx) => {
          ctx.state.durable.call(id).update(count, (n) => n + 1)
          ctx.state.durable.turn.update(count, (n) => n + 1)
          ctx.state.durable.conversation.update(count, (n) => n + 1)
        },
        postToolCall: ({ call }, ctx) => void seen.push(ctx.state.durable.call(call.id).get(count)),
        preStop: (_stop, ctx) =>
          void seen.push(ctx.state.durable.turn.get(count), ctx.state.durable.conversation.get(count))
      }]
    })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.deepStrictEqual(seen, [1, 1, 1, 2, 2, 1, 0, 2])
  })

  it("refuses what is too large or of another type, like any state", async () => {
    const failures: Array<string> = []
    await using agent = createAgent({
      provider: scripted(["done"]).provider,
      hooks: [{
        name: "h",
        preTurn: (_input, ctx) => ctx.state.durable.turn.set(HookState.key("big", ""), "x".repeat(70_000))
      }]
    })
    agent.on((event) => void (event.type === "hook-failed" && failures.push(event.message)))
    await agent.run("go")
    assert.match(failures[0]!, /state big: 70002 characters, at most 65536 are allowed/)
  })

  it("when two processes continue one session, the later one has what the other wrote", async () => {
    const store = SessionStore.inMemory()
    const count = HookState.key("count", 0)
    const make = () =>
      createAgent({
        provider: scripted(["a", "b"]).provider,
        store,
        hooks: [{ name: "n", preTurn: (_, ctx) => void ctx.state.durable.conversation.update(count, (n) => n + 1) }]
      })
    const [one, two] = [await make().session({ id: "s" }), await make().session({ id: "s" })]
    for (const session of [one, two, one]) await session.run("go")
    assert.strictEqual((await Effect.runPromise(store.load("s")))?.durable?.conversation["count"], 3)
  })
})
