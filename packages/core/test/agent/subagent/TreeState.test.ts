/** `ctx.state` belongs to the tree of agents, `ctx.local` to one agent, wherever and in whichever process it works. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool, delegationTarget } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AnyTool } from "../../../src/agent/defineTool.ts"
import type { Json } from "../../../src/data/Json.ts"
import * as RunState from "../../../src/data/RunState.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const count = HookState.key("count", 0)
const own = HookState.key("own", 0)

/** Counts tool calls: in the tree, and by agent. `seen` has both numbers, with the name of the agent. */
const counting = () => {
  const seen: Array<string> = []
  const hook: AgentHook = {
    name: "counting",
    allowReentry: true,
    preToolCall: ({ name }, ctx) => {
      const inTree = ctx.state.update(count, (n) => n + 1)
      const inAgent = ctx.local.update(own, (n) => n + 1)
      seen.push(`${ctx.agent.name} ${name} ${inTree} ${inAgent}`)
    }
  }
  return { hook, seen }
}

/** Answers with these calls until it has read a result of a tool. */
const once = (...calls: ReadonlyArray<readonly [name: string, args: Json, id?: string]>) =>
  scripted([], { after: ({ messages }) => messages.at(-1)?.role === "tool" ? "done" : asks(...calls) }).provider

/** An agent, and below it one more agent for each of the other names. The last one calls `look` twice. */
const nested = ([name, ...below]: ReadonlyArray<string>, more: Partial<AgentConfig> = {}) => {
  const look = recording("look")
  const build = (
    current: string,
    rest: ReadonlyArray<string>,
    options: Partial<AgentConfig>
  ): ReturnType<typeof createAgent> => {
    const [next, ...others] = rest
    return next === undefined
      ? createAgent({
        name: current,
        provider: once(["look", {}, "x"], ["look", {}, "y"]),
        tools: [look.tool],
        ...options
      })
      : createAgent({
        name: current,
        provider: once(["first", { message: "go" }, "a"], ["second", { message: "go" }, "b"]),
        tools: ["first", "second"].map((tool) =>
          agentTool({ name: tool, description: "Works", agent: build(next, others, {}) })
        ),
        ...options
      })
  }
  return build(name!, below, more)
}

const gate: AgentHook = { name: "gate", tools: "look", preToolCall: () => HookAction.ask("look?"), priority: 200 }

describe("the state of a tree of agents", () => {
  it("is one at every depth, and every delegation has a local state of its own", async () => {
    const { hook, seen } = counting()
    await using lead = nested(["lead", "boss", "worker", "helper"], { hooks: [hook] })
    await using session = await lead.session()
    await session.run("go")
    // 2 delegations of the lead, 4 below, 8 below, and 16 calls of `look`.
    assert.strictEqual(session.state.get(count), 30)
    assert.lengthOf(seen, 30)
    const numbers = seen.map((line) => line.split(" "))
    assert.deepStrictEqual(numbers.map(([, , inTree]) => Number(inTree)), Array.from({ length: 30 }, (_, n) => n + 1))
    assert.deepStrictEqual(numbers.filter(([, , , inAgent]) => Number(inAgent) > 2), [])
    assert.lengthOf(seen.filter((line) => line.startsWith("helper look") && line.endsWith(" 1")), 8)
  })

  it("loses no update when parallel sub-agents write it from asynchronous hooks", async () => {
    const slow: AgentHook = {
      name: "slow",
      preToolCall: async (_call, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        ctx.state.update(count, (n) => n + 1)
      }
    }
    await using lead = nested(["lead", "boss", "worker"], { hooks: [slow] })
    await using session = await lead.session()
    await session.run("go")
    assert.strictEqual(session.state.get(count), 14)
  })

  /** Runs a tree whose agents have this many sub-agents, level by level. Every agent without sub-agents makes a call. */
  const grown = (widths: ReadonlyArray<number>, look: AnyTool, depth = 0): ReturnType<typeof createAgent> => {
    const width = widths[depth] ?? 0
    const names = Array.from({ length: width }, (_, index) => `sub${index}`)
    return createAgent({
      name: `agent${depth}`,
      provider: once(
        ...(width === 0 ? [["look", {}] as const] : names.map((name) => [name, { message: "go" }] as const))
      ),
      tools: width === 0
        ? [look]
        : names.map((name) => agentTool({ name, description: "Works", agent: grown(widths, look, depth + 1) })),
      ...(depth === 0 ? { hooks: [counting().hook], limits: { steps: 100 } } : {})
    })
  }

  it.effect.prop(
    "counts every call of a tree of any shape once",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals([1, 2, 3])), { maxLength: 3 })],
    ([widths]) =>
      Effect.promise(async () => {
        const look = recording("look")
        await using lead = grown(widths, look.tool)
        await using session = await lead.session()
        await session.run("go")
        let leaves = 1
        let delegations = 0
        for (const width of widths) {
          leaves *= width
          delegations += leaves
        }
        assert.lengthOf(look.ran, leaves)
        assert.strictEqual(session.state.get(count), leaves + delegations)
      }),
    { arbitrary: { runs: 25 } }
  )

  it("is read and written by the hooks that a sub-agent brings itself", async () => {
    const seen: Array<unknown> = []
    const worker = createAgent({
      name: "worker",
      provider: once(["look", {}]),
      tools: [recording("look").tool],
      hooks: [{
        name: "mine",
        preToolCall: (_call, ctx) => {
          seen.push(ctx.state.get(count), ctx.local.get(own))
          ctx.state.set(count, 7)
        }
      }]
    })
    await using lead = createAgent({
      provider: once(["work", { message: "go" }]),
      tools: [agentTool({ name: "work", description: "Works", agent: worker })],
      hooks: [{
        name: "lead's",
        preDelegation: (_delegation, ctx) => {
          ctx.state.set(count, 3)
          ctx.local.set(own, 5)
        },
        postDelegation: (_end, ctx) => void seen.push(ctx.state.get(count), ctx.local.get(own))
      }]
    })
    await lead.run("go")
    assert.deepStrictEqual(seen, [3, 0, 7, 5])
  })

  it("is the same for a wrapped agent and for calls that a hook makes", async () => {
    const { hook, seen } = counting()
    const worker = createAgent({ name: "worker", provider: once(["look", {}]), tools: [recording("look").tool] })
    const wrapped = { run: () => assert.fail("not called"), [delegationTarget]: worker[delegationTarget] }
    const caller: AgentHook = {
      name: "caller",
      priority: 200,
      tools: "look",
      preToolCall: async (_call, ctx) => void await ctx.callTool("look", {})
    }
    await using lead = createAgent({
      name: "lead",
      provider: once(["work", { message: "go" }]),
      // The type of a wrapper is not an agent's.
      tools: [agentTool({ name: "work", description: "Works", agent: wrapped as never }), recording("look").tool],
      hooks: [hook, caller]
    })
    await lead.run("go")
    assert.deepStrictEqual(seen, ["lead work 1 1", "worker look 2 1", "worker look 3 2"])
  })

  it("comes with the turn of the lead, and with the name of the hook that makes a call", async () => {
    const seen: Array<string> = []
    const signals = new Set<AbortSignal>()
    const watching: AgentHook = {
      name: "watching",
      allowReentry: true,
      preToolCall: ({ name }, ctx) => {
        signals.add(ctx.root.signal)
        seen.push(`${ctx.agent.name} ${name} ${ctx.root.sessionId}/${ctx.root.turnNumber} ${ctx.caller ?? "-"}`)
      }
    }
    const caller: AgentHook = {
      name: "caller",
      priority: 200,
      tools: "look",
      preToolCall: async (_call, ctx) => void await ctx.callTool("look", {})
    }
    const worker = createAgent({ name: "worker", provider: once(["look", {}]), tools: [recording("look").tool] })
    await using lead = createAgent({
      name: "lead",
      provider: once(["work", { message: "go" }], ["look", {}]),
      tools: [agentTool({ name: "work", description: "Works", agent: worker }), recording("look").tool],
      hooks: [watching, caller]
    })
    await using session = await lead.session({ id: "s" })
    await session.run("go")
    assert.deepStrictEqual(seen.toSorted(), [
      "lead look s/1 -",
      "lead look s/1 caller",
      "lead work s/1 -",
      "worker look s/1 -",
      "worker look s/1 caller"
    ])
    assert.strictEqual(signals.size, 1)
    await session.run("again")
    assert.strictEqual(signals.size, 2)
  })

  it("survives a suspension in the middle of the tree, in another process, and goes on in every agent", async () => {
    const before = counting()
    await using lead = nested(["lead", "boss", "worker"], { hooks: [before.hook, gate] })
    const first = await lead.run("go")
    if (first.status !== "suspended") return assert.fail(first.status)
    assert.lengthOf(before.seen, 14)
    const text = JSON.stringify(first.snapshot)
    const stored = await Effect.runPromise(RunState.decode(text))
    assert.deepInclude(stored, { hookState: { count: 14 }, local: { own: 2 } })
    const boss = RunState.childOf(stored.calls[0]!)!
    assert.deepInclude(boss, { hookState: {}, local: { own: 2 } })

    // Only one branch is decided first. The other one stays suspended and is resumed in a third process.
    const approved = (asked: ReadonlyArray<RunState.PendingAsk>, path: string) =>
      Object.fromEntries(
        asked.filter(({ callId }) => callId.startsWith(path)).map((
          { callId }
        ) => [callId, { type: "approve" } as const])
      )
    const writing: AgentHook = {
      name: "writing",
      postToolCall: ({ call }, ctx) => {
        if (call.name !== "look") return
        ctx.state.update(count, (n) => n + 100)
        ctx.local.update(own, (n) => n + 100)
      }
    }
    await using other = nested(["lead", "boss", "worker"], { hooks: [counting().hook, gate, writing] })
    const second = await other.resume(text, approved(first.pending, "a/"))
    if (second.status !== "suspended") return assert.fail(second.status)
    assert.strictEqual(second.snapshot.hookState["count"], 414)

    const locals: Array<number> = []
    const reading: AgentHook = {
      name: "reading",
      postTurn: (_end, ctx) => void locals.push(ctx.local.get(own))
    }
    await using last = nested(["lead", "boss", "worker"], { hooks: [counting().hook, gate, writing, reading] })
    const end = await last.resume(JSON.stringify(second.snapshot), approved(second.pending, "b/"))
    assert.strictEqual(end.status, "completed")
    // Two workers, their boss and the lead.
    assert.deepStrictEqual(locals, [202, 202, 2, 2])
  })

  it("is in the session store, with the local state of the lead, and of sub-agents that wait", async () => {
    const store = SessionStore.inMemory()
    await using lead = nested(["lead", "worker"], { hooks: [counting().hook, gate], store })
    const session = await lead.session({ id: "s" })
    const first = await session.run("go")
    assert.strictEqual(first.status, "suspended")
    const { hook, seen } = counting()
    await using other = nested(["lead", "worker"], { hooks: [hook, gate], store })
    const again = await other.session({ id: "s" })
    assert.strictEqual(again.state.get(count), 6)
    await again.resume(Object.fromEntries(again.pending.map(({ callId }) => [callId, { type: "approve" } as const])))
    await again.run("go on")
    assert.deepStrictEqual(seen.slice(0, 1), ["lead first 7 3"])
    assert.strictEqual(again.state.get(count), 12)
  })

  it("does not reach another session of the same agents", async () => {
    await using lead = nested(["lead", "worker"], { hooks: [counting().hook] })
    const [one, two] = [await lead.session(), await lead.session()]
    await Promise.all([one.run("go"), two.run("go")])
    assert.deepStrictEqual([one.state.get(count), two.state.get(count)], [6, 6])
  })

  it("moves to the next session with the local state when the conversation rotates", async () => {
    const seen: Array<unknown> = []
    const rotating: AgentHook = {
      name: "rotating",
      preToolCall: (_call, ctx) => {
        ctx.state.set(count, 1)
        ctx.local.set(own, 2)
        ctx.rotate()
      },
      onSessionEnd: ({ reason }, ctx) => {
        if (reason === "rotate") ctx.state.update(count, (n) => n + 10)
      },
      onSessionStart: ({ source }, ctx) => {
        if (source === "rotate") seen.push(ctx.state.get(count), ctx.local.get(own))
      }
    }
    const look = recording("look", () => "y".repeat(2_000))
    await using agent = createAgent({
      provider: scripted([asks(["look", {}, "a"]), "done"]).provider,
      tools: [look.tool],
      hooks: [rotating]
    })
    const x = "x".repeat(2_000)
    await using session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: x }, { role: "assistant", content: x }]
    })
    await session.run("go")
    assert.strictEqual(session.id, "s-r2")
    assert.deepStrictEqual(seen, [11, 2])
  })
})
