/**
 * A run of three levels with two pending approvals that crashes at every boundary of its steps, and is gone on with
 * from what the store had.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { text, whyInvalid } from "../../../src/data/Message.ts"
import * as RunState from "../../../src/data/RunState.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { SessionStore } from "../../../src/port/SessionStore.ts"
import { anything } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** What happened in the world outside, which no crash takes back. */
interface World {
  /** Idempotency keys of the executions of each tool. */
  readonly ran: Array<string>
  /** Who was asked about what. */
  readonly asked: Array<string>
}

/** Three levels. Looks are idempotent, payments are not, deployments are approved. */
const team = (world: World, store?: SessionStore) => {
  const tool = (name: string, idempotent = false) =>
    defineTool({
      name,
      description: name,
      input: anything,
      idempotent,
      execute: async (_args, { idempotencyKey }) => {
        await Promise.resolve()
        world.ran.push(`${name} ${idempotencyKey}`)
        return `${name} done`
      }
    })
  const model = (name: string, lines: ReadonlyArray<ReturnType<typeof asks>>) =>
    scripted([], {
      name,
      after: ({ messages }) => lines[messages.filter(({ role }) => role === "assistant").length] ?? `${name} is done`
    }).provider
  const gate: AgentHook = {
    name: "gate",
    tools: "deploy",
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: ({ id }, { agent }) => {
      world.asked.push(`${agent.name} ${id}`)
      return HookAction.ask("?")
    }
  }
  const worker = createAgent({
    name: "worker",
    provider: model("worker", [
      asks(["look", {}, "w1"], ["pay", {}, "w2"]),
      asks(["deploy", {}, "w3"]),
      asks(["pay", {}, "w4"])
    ]),
    tools: [tool("look", true), tool("pay"), tool("deploy")]
  })
  const lead = createAgent({
    name: "lead",
    provider: model("lead", [
      asks(["pay", {}, "l1"]),
      asks(["work", { message: "x" }, "l2"], ["deploy", {}, "l3"]),
      asks(["look", {}, "l4"])
    ]),
    tools: [
      agentTool({ name: "work", description: "w", agent: worker }),
      tool("look", true),
      tool("pay"),
      tool("deploy")
    ]
  })
  return createAgent({
    name: "root",
    provider: model("root", [
      asks(["look", {}, "r1"]),
      asks(["lead", { message: "y" }, "r2"], ["pay", {}, "r3"]),
      asks(["pay", {}, "r4"])
    ]),
    tools: [agentTool({ name: "lead", description: "l", agent: lead }), tool("look", true), tool("pay")],
    hooks: [gate],
    ...(store === undefined ? {} : { store })
  })
}

/** Approves whatever is pending, until the run is over. */
const finished = async (result: RunResult, world: World): Promise<RunResult> => {
  let last = result
  for (let round = 0; last.status === "suspended" && round < 5; round++) {
    const decisions = Object.fromEntries(last.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
    last = await team(world).resume(JSON.stringify(last.snapshot), decisions)
  }
  return last
}

/** Every state the store was given, and the world as it was then and just before the next. */
const record = async () => {
  const world: World = { ran: [], asked: [] }
  const steps: Array<{ readonly state: string; readonly world: World; later: World }> = []
  const now = (): World => ({ ran: [...world.ran], asked: [...world.asked] })
  const store: SessionStore = {
    commit: ({ snapshot }) =>
      Effect.sync(() => {
        const last = steps.at(-1)
        if (last !== undefined) last.later = now()
        steps.push({ state: RunState.encode(snapshot()), world: now(), later: now() })
      }),
    load: () => Effect.undefined
  }
  const first = await team(world, store).run("go")
  assert.strictEqual(first.status, "suspended")
  if (first.status !== "suspended") return { steps, world }
  assert.deepStrictEqual(first.pending.map(({ callId }) => callId), ["r2/l2/w3", "r2/l3"])
  const decisions = Object.fromEntries(first.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
  const last = await team(world, store).resume(first.snapshot, decisions)
  assert.strictEqual(last.status, "completed")
  return { steps, world }
}

describe("a run of three levels that crashes at any boundary", () => {
  it("runs each tool once if its outcome is known, reports unknown outcomes, and asks no question twice", async () => {
    const { steps, world: whole } = await record()
    assert.isAbove(steps.length, 30)
    assert.strictEqual(new Set(whole.ran).size, whole.ran.length)
    assert.strictEqual(new Set(whole.asked).size, 2)
    let unknown = 0
    for (const [index, { later, state, world: then }] of steps.entries()) {
      if ((JSON.parse(state) as RunState.RunState).phase === "ended") continue
      for (const before of [then, later]) {
        const world: World = { ran: [...before.ran], asked: [...before.asked] }
        const decisions = Object.fromEntries(
          RunState.pending(JSON.parse(state) as RunState.RunState).map((
            { callId }
          ) => [callId, { type: "approve" as const }])
        )
        const result = await finished(await team(world).resume(state, decisions), world)
        const where = `after step ${index}`
        assert.strictEqual(result.status, "completed", where)
        assert.isUndefined(whyInvalid(result.messages), where)
        // What has an unknown outcome is said so; it ran before the crash, or not at all.
        const reported = result.messages.filter((message) =>
          message.role === "tool" && text(message).startsWith("unknown outcome")
        )
        unknown += reported.length
        for (const key of new Set([...whole.ran, ...world.ran])) {
          const times = world.ran.filter((one) => one === key).length
          if (key.startsWith("look")) assert.isAtLeast(times, 1, `${where}: ${key}`)
          else assert.isAtMost(times, 1, `${where}: ${key}`)
        }
        // A person's answer that the state had is not asked for again.
        const decided = RunState.pending(JSON.parse(state) as RunState.RunState).length
        if (decided === 2) assert.lengthOf(world.asked, before.asked.length, where)
      }
    }
    assert.isAbove(unknown, 0)
  })
})
