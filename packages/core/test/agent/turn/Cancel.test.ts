/** Cancelling a turn, wherever it is: it ends soon, with the signal's reason, and the session goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { type Agent, createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { Message } from "../../../src/data/Message.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, failureOf, line, recording, within } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const never = () => new Promise<never>(() => {})

/** A turn that hangs at a place; `reached` resolves when it is there. */
const places: {
  readonly [name: string]: (
    reached: () => void
  ) => Omit<AgentConfig, "provider"> & { readonly lines?: Parameters<typeof scripted>[0] }
} = {
  "the provider": (reached) => ({ lines: [() => Effect.andThen(Effect.sync(reached), Effect.never)] }),
  "a promise of a tool": (reached) => ({
    lines: [asks(["look"])],
    tools: [
      recording("look", () => {
        reached()
        return never()
      }).tool
    ]
  }),
  "an Effect of a tool that cannot be interrupted": (reached) => ({
    lines: [asks(["look"])],
    tools: [
      recording("look", () => {
        reached()
        return Effect.uninterruptible(Effect.sleep(1_500))
      }).tool
    ]
  }),
  "a hook": (reached) => ({
    hooks: [{
      name: "h",
      preTurn: () => {
        reached()
        return never()
      }
    }]
  }),
  "a post hook": (reached) => ({
    hooks: [{
      name: "h",
      postTurn: () => Effect.andThen(Effect.sync(reached), Effect.never)
    }]
  }),
  "the pause before a retry": (reached) => ({
    lines: [new ProviderError.RateLimited({ provider: "one", message: "later", retryAfterMs: 30_000 })],
    hooks: [{ name: "h", onLlmError: () => void setTimeout(reached, 1) }]
  }),
  "the wait for a decision": (reached) => ({
    lines: [asks(["look"])],
    tools: [recording("look").tool],
    hooks: [{ name: "h", preToolCall: () => HookAction.ask("?") }],
    onAsk: () => {
      reached()
      return never()
    }
  }),
  "a compaction": (reached) => ({
    window: { tokens: 1_000, maxMessages: 1 },
    compactor: { compact: () => Effect.andThen(Effect.sync(reached), Effect.never) }
  }),
  "the memory": (reached) => ({ memory: { preTurnContext: () => Effect.andThen(Effect.sync(reached), Effect.never) } }),
  "the store": (reached) => ({
    store: { commit: () => Effect.andThen(Effect.sync(reached), Effect.never), load: () => Effect.undefined }
  }),
  "the start of the session": (reached) => ({
    hooks: [{
      name: "h",
      onSessionStart: () => {
        reached()
        return never()
      }
    }]
  })
}

describe("cancelling", () => {
  for (const [place, make] of Object.entries(places)) {
    it(`during ${place} rejects with the signal's reason, soon`, async () => {
      const controller = new AbortController()
      const reason = new Error("the user left")
      const ends: Array<string> = []
      let reach = () => {}
      const reached = new Promise<void>((resolve) => reach = resolve)
      const { lines = [], ...config } = make(() => reach())
      const model = scripted(lines)
      const agent = createAgent({ provider: model.provider, ...config })
      agent.on((event) => void (event.type === "turn-end" && ends.push(`${event.status}: ${event.text}`)))
      const session = await agent.session({
        messages: [{ role: "user", content: "old ".repeat(100) }, { role: "assistant", content: "older" }]
      })
      const running = failureOf(session.run("go", { signal: controller.signal }))
      await within(reached)
      controller.abort(reason)
      controller.abort(new Error("twice"))
      assert.strictEqual(await within(running), reason as never)
      assert.deepStrictEqual(ends, ["cancelled: the turn was cancelled"])
      assertValid(session.messages)
      assert.strictEqual(model.open(), 0)
      await within(agent.close())
    })
  }

  it("before it begins runs nothing at all", async () => {
    const events: Array<AgentEvent> = []
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", preTurn: () => void events.push({} as AgentEvent) }]
    })
    agent.on((event) => void events.push(event))
    const reason = { custom: true }
    const signal = AbortSignal.abort(reason)
    const session = await agent.session()
    for (
      const attempt of [
        agent.run("go", { signal }),
        session.run("go", { signal }),
        agent.stream("go", { signal }).result,
        session.stream("go", { signal }).result
      ]
    ) {
      assert.strictEqual(await failureOf(attempt), reason as never)
    }
    assert.lengthOf(events, 0)
    assert.lengthOf(model.requests, 0)
    assert.lengthOf(session.messages, 0)
  })

  it("leaves the session usable, and reports the outcome of running tools, and only of these, as unknown", async () => {
    const controller = new AbortController()
    const quick = recording("quick")
    const slow = recording("slow", (_, { signal }) => {
      setTimeout(() => controller.abort(), 5)
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("late")))
    })
    const asked = recording("asked")
    const gate = { name: "gate", tools: "asked", preToolCall: () => HookAction.ask("sure?") }
    const model = scripted([asks(["quick"], ["slow"], ["asked"]), "fine"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [quick.tool, slow.tool, asked.tool],
      hooks: [gate]
    })
    const session = await agent.session()
    const error = await failureOf(session.run("go", { signal: controller.signal }))
    assert.strictEqual(error["name"], "AbortError")
    const result = await session.run("again")
    assert.strictEqual(
      line(result.messages),
      "user: go | assistant[quick,slow,asked]:  | tool quick: ok | tool slow!: interrupted while it ran: its outcome is unknown | " +
        "tool asked!: not run: the turn was cancelled | user: again | assistant: fine"
    )
  })

  it("reaches the signals of hooks and tools", async () => {
    const seen: Array<string> = []
    const controller = new AbortController()
    const tool = recording("look", (_, { signal }) => {
      signal.addEventListener("abort", () => seen.push("tool"))
      setTimeout(() => controller.abort(), 5)
      return never()
    })
    await using agent = createAgent({
      provider: scripted([asks(["look"])]).provider,
      tools: [tool.tool],
      hooks: [{ name: "h", preTurn: (_, { signal }) => signal.addEventListener("abort", () => seen.push("hook")) }]
    })
    await failureOf(agent.run("go", { signal: controller.signal }))
    assert.deepStrictEqual(seen.toSorted(), ["hook", "tool"])
  })

  it("aborts the signal of hooks at once, also while a model call cannot be interrupted", async () => {
    const controller = new AbortController()
    const [called, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let signal: AbortSignal | undefined
    const model = scripted([() =>
      Effect.uninterruptible(Effect.promise(async () => {
        called.resolve()
        await held.promise
        return "late"
      }))])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", preTurn: (_, ctx) => void (signal = ctx.signal) }]
    })
    const run = failureOf(agent.run("go", { signal: controller.signal }))
    await called.promise
    controller.abort()
    for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve))
    assert.isTrue(signal!.aborted)
    assert.strictEqual(model.open(), 1, "the call still runs")
    held.resolve()
    await run
  })

  it("in the middle of parallel calls keeps one result for each call", async () => {
    const messages: Array<ReadonlyArray<Message>> = []
    for (let after = 0; after < 12; after++) {
      const controller = new AbortController()
      const look = recording("look", async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, Number(n)))
        return n
      })
      const calls = Array.from({ length: 6 }, (_, n) => ["look", { n: n * 2 }] as const)
      await using agent = createAgent({ provider: scripted([asks(...calls)]).provider, tools: [look.tool] })
      const session = await agent.session()
      setTimeout(() => controller.abort(), after)
      await session.run("go", { signal: controller.signal }).catch(() => {})
      assertValid(session.messages)
      messages.push(session.messages)
    }
    assert.isTrue(messages.some((all) => all.length === 8 && line(all).includes("unknown")))
  })
})

/** Runs a turn, cancels it when it is at a place, and waits until it has ended. */
const runAndCancel = async (agent: Agent, reached: Promise<void>): Promise<void> => {
  const controller = new AbortController()
  const running = failureOf(agent.run("go", { signal: controller.signal }))
  await reached
  controller.abort(new Error("the user left"))
  await running
}

describe("what continues after its turn was cancelled", () => {
  it("a tool that looks at its signal only then sees that it is aborted", async () => {
    const gate = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<boolean>()
    const reached = Promise.withResolvers<void>()
    const { tool } = recording("look", async (_args, ctx) => {
      reached.resolve()
      await gate.promise
      aborted.resolve(ctx.signal.aborted)
    })
    await using agent = createAgent({ provider: scripted([asks(["look"])]).provider, tools: [tool] })
    await runAndCancel(agent, reached.promise)
    gate.resolve()
    assert.isTrue(await within(aborted.promise))
  })

  it("a wrapper that calls `next` only then runs no tool", async () => {
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const called = Promise.withResolvers<string>()
    const deploy = recording("deploy")
    const waiting: AgentHook = {
      name: "waiting",
      wrapToolCall: async (call, next) => {
        reached.resolve()
        await gate.promise
        const result = next(call)
        result.then(() => called.resolve("called"), (error: Error) => called.resolve(error.name))
        return result
      }
    }
    const { provider } = scripted([asks(["deploy"])])
    await using agent = createAgent({ provider, tools: [deploy.tool], hooks: [waiting], log: false })
    await runAndCancel(agent, reached.promise)
    gate.resolve()
    assert.strictEqual(await within(called.promise), "AbortError")
    assert.lengthOf(deploy.ran, 0)
  })

  for (const how of ["cancel", "close"] as const) {
    it(`a hook sees only then that its signal is aborted, and calls nothing any more (${how})`, async () => {
      const gate = Promise.withResolvers<void>()
      const reached = Promise.withResolvers<void>()
      const seen = Promise.withResolvers<ReadonlyArray<boolean | string>>()
      const model = scripted([])
      const deploy = recording("deploy")
      const slow: AgentHook = {
        name: "slow",
        timeout: "none",
        preTurn: async (_event, ctx) => {
          reached.resolve()
          await gate.promise
          const name = (error: Error) => error.name
          const called = await Promise.all([
            ctx.llm({ prompt: "more" }).then(() => "called", name),
            ctx.callTool("deploy", {}).then(() => "called", name)
          ])
          seen.resolve([ctx.signal.aborted, ctx.root.signal.aborted, ...called])
        }
      }
      const agent = createAgent({ provider: model.provider, tools: [deploy.tool], hooks: [slow], log: false })
      const controller = new AbortController()
      const running = failureOf(agent.run("go", { signal: controller.signal }))
      await reached.promise
      if (how === "cancel") controller.abort(new Error("the user left"))
      else await agent.close()
      await running
      gate.resolve()
      const [signal, root, ...calls] = await within(seen.promise)
      assert.deepStrictEqual([signal, root], [true, true])
      assert.notInclude(calls, "called")
      assert.deepStrictEqual([model.requests.length, deploy.ran.length], [0, 0])
      await agent.close()
    })
  }
})

describe("closing", () => {
  it("ends the running turn, then the session, once", async () => {
    const ends: Array<string> = []
    let reach = () => {}
    const reached = new Promise<void>((resolve) => reach = resolve)
    const model = scripted([() => Effect.andThen(Effect.sync(reach), Effect.never)])
    const agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", onSessionEnd: ({ reason }) => void ends.push(reason) }]
    })
    const session = await agent.session()
    const running = failureOf(session.run("go"))
    await reached
    await within(Promise.all([agent.close(), agent.close(), session.close()]))
    assert.strictEqual((await within(running))["name"], "AbortError")
    assert.deepStrictEqual(ends, ["done"])
    assert.strictEqual(model.open(), 0)
    assert.strictEqual((await failureOf(agent.run("go")))["name"], "AbortError")
  })

  it("happens by itself at the end of `await using`, for agents and for sessions", async () => {
    const ends: Array<string> = []
    const hooks = [{
      name: "h",
      onSessionEnd: ({ sessionId }: { readonly sessionId: string }) => void ends.push(sessionId)
    }]
    {
      await using agent = createAgent({ provider: scripted([]).provider, hooks })
      {
        await using session = await agent.session({ id: "a" })
        await session.run("go")
      }
      assert.deepStrictEqual(ends, ["a"])
      const other = await agent.session({ id: "b" })
      await other.run("go")
      await agent.session({ id: "never-used" })
    }
    assert.deepStrictEqual(ends, ["a", "b"])
  })
})
