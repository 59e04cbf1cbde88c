/** Every kind of call, and every point: each fires as many times as it should. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import { type HookPointName, names } from "../../../src/hook/HookPoint.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Counts every point, by the depth of the agent it fires for. */
const counter = (name: string, more: Partial<AgentHook> = {}) => {
  const counts: Record<string, number> = {}
  const count = (point: string, { agent }: HookContext) => {
    const key = `${point}@${agent.depth}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  const hook = {
    name,
    ...Object.fromEntries(names.map((point) => [point, (_event: unknown, ctx: HookContext) => count(point, ctx)])),
    wrapLlmCall: (request: never, next: (request: never) => unknown, ctx: HookContext) => {
      count("wrapLlmCall", ctx)
      return next(request)
    },
    wrapToolCall: (call: never, next: (call: never) => unknown, ctx: HookContext) => {
      count("wrapToolCall", ctx)
      return next(call)
    },
    ...more
  } as unknown as AgentHook
  return { counts, hook }
}

type Counts = Partial<Record<HookPointName | "wrapLlmCall" | "wrapToolCall", number>>

/** What is expected of the agent the host started (0) and of its sub-agent (1). */
const expected = (...levels: ReadonlyArray<Counts>) =>
  Object.fromEntries(
    levels.flatMap((counts, depth) => Object.entries(counts).map(([point, times]) => [`${point}@${depth}`, times]))
  )

const turn: Counts = { preTurn: 1, postTurn: 1, preStop: 1 }
const session: Counts = { onSessionStart: 1, onSessionEnd: 1 }
const step = (n: number): Counts => ({ preLlmCall: n, postLlmCall: n, wrapLlmCall: n, postStep: n })
const tool = (n: number): Counts => ({ preToolCall: n, postToolCall: n, wrapToolCall: n })

describe("every path and every point", () => {
  it("root: a turn with one tool", async () => {
    const { counts, hook } = counter("count")
    const agent = createAgent({
      provider: scripted([asks(["look"]), "done"], { streams: false }).provider,
      tools: [recording("look").tool],
      hooks: [hook]
    })
    await agent.run("go")
    await agent.close()
    assert.deepStrictEqual(without(counts), expected({ ...session, ...turn, ...step(2), ...tool(1) }))
  })

  it("sub-agent: its points fire on the tree's chain, its session is the root's", async () => {
    const { counts, hook } = counter("count")
    const worker = createAgent({
      name: "worker",
      provider: scripted([asks(["look"]), "done"]).provider,
      tools: [recording("look").tool]
    })
    const agent = createAgent({
      provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [hook]
    })
    await agent.run("go")
    await agent.close()
    assert.deepStrictEqual(
      without(counts),
      expected(
        { ...session, ...turn, ...step(2), ...tool(1), preDelegation: 1, postDelegation: 1 },
        { ...turn, ...step(2), ...tool(1) }
      )
    )
  })

  it("a hook's own calls: only hooks with allowReentry see them", async () => {
    const quiet = counter("quiet")
    const meter = counter("meter", { allowReentry: true })
    const asking: AgentHook = {
      name: "asking",
      postToolCall: async (_event, ctx) => {
        await ctx.promise(ctx.llm({ prompt: "?" }))
        assert.deepStrictEqual(await ctx.promise(ctx.callTool("look", {})), { ok: true, output: "ok" })
      }
    }
    const look = recording("look")
    const agent = createAgent({
      provider: scripted([asks(["look"]), "judged", "done"]).provider,
      tools: [look.tool],
      hooks: [quiet.hook, meter.hook, asking]
    })
    await agent.run("go")
    await agent.close()
    const own = expected({ ...session, ...turn, ...step(2), ...tool(1) })
    assert.deepStrictEqual(without(quiet.counts), own)
    assert.deepStrictEqual(without(meter.counts), {
      ...own,
      ...expected({ preLlmCall: 3, postLlmCall: 3, wrapLlmCall: 3, ...tool(2) })
    })
    assert.lengthOf(look.ran, 2)
  })

  it("compaction: its own points, and its model call is a hook's call", async () => {
    const quiet = counter("quiet")
    const meter = counter("meter", { allowReentry: true })
    const agent = createAgent({
      provider: scripted(["a summary", "done"]).provider,
      window: { tokens: 100, keepRecent: 1 },
      compactor: {
        compact: ({ messages }, { llm }) =>
          Effect.map(
            llm({ prompt: "summarise" }),
            ({ text }) => ({ messages: [{ role: "user", content: text }, messages.at(-1)!], summary: text })
          )
      },
      hooks: [quiet.hook, meter.hook]
    })
    const one = await agent.session({
      messages: [{ role: "user", content: "x".repeat(600) }, { role: "assistant", content: "ok" }]
    })
    await one.run("go")
    await agent.close()
    const own = expected({ ...session, ...turn, ...step(1), preCompaction: 1, postCompaction: 1, onBudget: 1 })
    assert.deepStrictEqual(without(quiet.counts), own)
    assert.deepStrictEqual(without(meter.counts), {
      ...own,
      ...expected({ preLlmCall: 2, postLlmCall: 2, wrapLlmCall: 2 })
    })
  })

  it("denials, failures and retries: each error point fires once", async () => {
    const { counts, hook } = counter("count", { priority: 1 })
    const agent = createAgent({
      provider: scripted([asks(["look"]), "done"]).provider,
      tools: [recording("look").tool],
      policy: { check: () => ({ type: "ask", reason: "why", grant: { sandbox: "none" } }) },
      onAsk: () => ({ type: "deny", reason: "no" }),
      hooks: [hook]
    })
    await agent.run("go")
    await agent.close()
    assert.deepStrictEqual(
      without(counts),
      expected({ ...session, ...turn, ...step(2), onPermission: 1, preToolCall: 1, onToolDenied: 1 })
    )

    const failing = counter("failing")
    const broken = createAgent({
      provider: { name: "p", complete: () => Effect.die(new Error("broken")) },
      hooks: [failing.hook]
    })
    await broken.run("go").catch(() => {})
    await broken.close()
    assert.deepStrictEqual(
      without(failing.counts),
      expected({ ...session, preTurn: 1, preLlmCall: 1, wrapLlmCall: 1, onTurnError: 1 })
    )
  })

  it("transfer: the points of the receiving agent, and no further step of the first one", async () => {
    const { counts, hook } = counter("count")
    const worker = createAgent({ name: "worker", provider: scripted(["mine"]).provider })
    const agent = createAgent({
      provider: scripted([asks(["work", { message: "x" }])]).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker, type: "transfer" })],
      hooks: [hook]
    })
    await agent.run("go")
    await agent.close()
    assert.deepStrictEqual(
      without(counts),
      expected(
        { ...session, preTurn: 1, postTurn: 1, ...step(1), ...tool(1), preDelegation: 1, postDelegation: 1 },
        { ...turn, ...step(1) }
      )
    )
  })
})

/** Deltas come in any number. */
const without = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([key]) => !key.startsWith("onLlmDelta")))
