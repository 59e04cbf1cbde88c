/** Every start has exactly one end, however a turn ends. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ToolLoop from "../../../src/agent/ToolLoop.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

/** Starts that have no end, ends that have no start, and ends that come twice; of everything inside a turn. */
const unpaired = (events: ReadonlyArray<AgentEvent>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const open = new Map<string, number>()
  const start = (key: string) => open.set(key, (open.get(key) ?? 0) + 1)
  const end = (key: string, at: AgentEvent) => {
    const count = open.get(key) ?? 0
    if (count === 0) problems.push(`${at.seq} ${at.type} without a start: ${key}`)
    else open.set(key, count - 1)
  }
  for (const event of events) {
    const { sessionId } = event
    if (event.type === "session-start") start(`session ${sessionId}`)
    else if (event.type === "session-end" || event.type === "session-release") end(`session ${sessionId}`, event)
    else if (event.type === "turn-start") start(`turn ${sessionId}`)
    else if (event.type === "turn-end") {
      end(`turn ${sessionId}`, event)
      for (const [key, count] of open) {
        if (count > 0 && key.endsWith(` in ${sessionId}`)) problems.push(`${key} is open when its turn ends`)
      }
    } else if (event.type === "llm-start") start(`model in ${sessionId}`)
    else if (event.type === "llm-end" || event.type === "llm-error") end(`model in ${sessionId}`, event)
    else if (event.type === "tool-start") start(`tool ${event.call.id} in ${sessionId}`)
    else if (event.type === "tool-end") end(`tool ${event.call.id} in ${sessionId}`, event)
  }
  for (const [key, count] of open) if (count !== 0) problems.push(`${key} never ends`)
  let last = 0
  for (const [index, { seq }] of events.entries()) {
    if (seq !== last + 1 && !(seq > last && beginsUnsavedTurn(events.slice(index)))) {
      problems.push(`event ${index + 1} has number ${seq}`)
    }
    last = seq
  }
  return problems
}

/** Whether events begin with those of a turn that ended before it was saved, whose numbers nobody knows. */
const beginsUnsavedTurn = (events: ReadonlyArray<AgentEvent>): boolean => {
  const end = events.findIndex(({ type }) => type === "turn-end")
  return !events.slice(0, end).some(({ type }) => type === "llm-start")
}

const points = [
  "preTurn",
  "preLlmCall",
  "postLlmCall",
  "preToolCall",
  "postToolCall",
  "postTurn",
  "onSessionStart"
] as const

/** A hook that does something unfriendly at one point. */
const trouble = (point: typeof points[number], what: string): AgentHook => ({
  name: "trouble",
  failOpen: false,
  [point]: () => {
    if (what === "reject") return HookAction.reject("no")
    if (what === "abort") return HookAction.abort("enough")
    if (what === "throw") throw new Error("broken")
    if (what === "hang") return Effect.never
    return point === "preToolCall" ? HookAction.ask("sure?") : undefined
  }
})

/** What happens in a conversation. */
interface Plan {
  readonly hook?: readonly [point: typeof points[number], what: string]
  readonly limits: { readonly steps: number; readonly toolCalls: number; readonly wallClockMs: number }
  readonly from: "cancel" | "park" | "nobody"
  /** Whether the models fail now and then. */
  readonly isFlaky: boolean
}

const calm: Plan = {
  limits: { steps: 10, toolCalls: 10, wallClockMs: 60_000 },
  from: "nobody",
  isFlaky: false
}

/** A plan for each way in which a turn ends. */
const plans: ReadonlyArray<Plan> = [
  calm,
  { ...calm, hook: ["preToolCall", "ask"] },
  { ...calm, limits: { ...calm.limits, steps: 1 } },
  { ...calm, hook: ["preTurn", "hang"], from: "cancel" },
  { ...calm, hook: ["preLlmCall", "hang"], from: "park" },
  { ...calm, hook: ["preTurn", "throw"] },
  { ...calm, hook: ["preLlmCall", "abort"] }
]

const randomPlan = (seed: number): Plan => {
  const { below, pick } = random(seed)
  const plan: Plan = {
    limits: { steps: 1 + below(4), toolCalls: 1 + below(5), wallClockMs: pick([5, 20, 60_000]) },
    from: pick(["cancel", "park", "nobody", "nobody"]),
    isFlaky: true
  }
  return below(3) === 0 ? plan : { ...plan, hook: [pick(points), pick(["reject", "abort", "throw", "hang", "ask"])] }
}

/** One conversation with a sub-agent; how it went is in its events and in the calls of the session hooks. */
const conversation = async (seed: number, plan = randomPlan(seed)) => {
  const { below, pick } = random(seed + 1_000)
  const events: Array<AgentEvent> = []
  const starts: Array<string> = []
  const ends: Array<string> = []
  const slow = () => Effect.sleep(below(4))
  const pay = recording("pay", async () => {
    await Effect.runPromise(slow())
    if (plan.isFlaky && below(5) === 0) throw new Error("the tool failed")
    return "paid"
  })
  const fails = new ProviderError.ServerError({ provider: "one", status: 500, message: "down" })
  const overflow = new ProviderError.ContextOverflow({ provider: "one", message: "too long" })
  const lines = (...said: ReadonlyArray<Line>): ReadonlyArray<Line> =>
    said.flatMap((line) => plan.isFlaky && below(6) === 0 ? [pick([fails, overflow]), line] : [line])
  const worker = createAgent({
    name: "worker",
    provider: scripted(lines(asks(["pay"], ["pay"]), "worked"), { pause: slow() }).provider,
    tools: [pay.tool]
  })
  const agent = createAgent({
    provider:
      scripted(lines(asks(["work", { message: "x" }], ["pay"]), asks(["pay"]), "done"), { pause: slow() }).provider,
    tools: [pay.tool, agentTool({ name: "work", description: "w", agent: worker })],
    store: SessionStore.inMemory(),
    limits: { ...plan.limits, attempts: 2 },
    core: below(2) === 0 ? ToolLoop.make() : { ...ToolLoop.make(), shutdown: () => Effect.void },
    hooks: [
      ...(plan.hook === undefined ? [] : [trouble(...plan.hook)]),
      {
        name: "sessions",
        priority: 1,
        onSessionStart: ({ source }) => void starts.push(source),
        onSessionEnd: ({ reason }) => void ends.push(reason)
      }
    ]
  })
  agent.on((event) => void events.push(event))
  const session = await agent.session({ id: "s" })
  const stop = new AbortController()
  const use = async () => {
    const running = session.run("go", { signal: stop.signal })
    if (plan.from === "cancel") setTimeout(() => stop.abort(new Error("cancelled")), below(20))
    if (plan.from === "park") setTimeout(() => void session.park({ withinMs: below(10) }).catch(() => {}), below(10))
    const late = setTimeout(() => stop.abort(new Error("too late")), plan.hook?.[1] === "hang" ? 60 : 10_000)
    await running.catch(() => {})
    for (let round = 0; round < 2 && session.waiting.type !== "nothing"; round++) {
      const decisions = Object.fromEntries(session.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
      await session.resume(decisions, { signal: stop.signal }).catch(() => {})
    }
    clearTimeout(late)
  }
  await use()
  if (below(2) === 0) await session.close()
  else await session.release().catch(() => session.close())
  await agent.close()
  return { events, starts, ends }
}

describe("starts and ends", () => {
  it("are pairs in every conversation: refused, failed, aborted, cancelled, parked, limited, suspended", async () => {
    const statuses = new Set<string>()
    for (let seed = 0; seed < 120; seed += 8) {
      const fixed = seed === 0 ? plans : []
      const all = await Promise.all([
        ...Array.from({ length: 8 }, (_, index) => conversation(seed + index)),
        ...fixed.map((plan, index) => conversation(index, plan))
      ])
      for (const [index, { ends, events, starts }] of all.entries()) {
        assert.deepStrictEqual(unpaired(events), [], `seed ${seed + index}`)
        const released = events.filter(({ type }) => type === "session-release").length
        assert.strictEqual(starts.length, ends.length + released, `seed ${seed + index}`)
        for (const event of events) if (event.type === "turn-end") statuses.add(event.status)
      }
    }
    assert.deepStrictEqual(
      statuses,
      new Set([
        "completed",
        "suspended",
        "limited",
        "parked",
        "aborted",
        "failed",
        "cancelled"
      ])
    )
  })

  it("of a refused session: the end follows at once, and the next turn tries again", async () => {
    let refusals = 2
    const events: Array<AgentEvent> = []
    const log: Array<string> = []
    const agent = createAgent({
      provider: scripted([]).provider,
      core: {
        ...ToolLoop.make(),
        init: () => Effect.sync(() => void log.push("init")),
        shutdown: () => Effect.sync(() => void log.push("shutdown"))
      },
      hooks: [{
        name: "licence",
        onSessionStart: ({ source }) => {
          log.push(`start ${source}`)
          return refusals-- > 0 ? HookAction.reject("no licence") : undefined
        },
        onSessionEnd: ({ reason }) => void log.push(`end ${reason}`)
      }]
    })
    agent.on((event) => void events.push(event))
    const session = await agent.session()
    for (let turn = 0; turn < 3; turn++) await session.run("go").catch(() => {})
    await session.close()
    const refused = ["init", "start startup", "end error", "shutdown"]
    assert.deepStrictEqual(log, [...refused, ...refused, "init", "start startup", "end done", "shutdown"])
    assert.deepStrictEqual(unpaired(events), [])
  })

  it("of a store that fails at the end of a turn: the turn ends once, as failed", async () => {
    const memory = SessionStore.inMemory()
    const store: SessionStore.SessionStore = {
      ...memory,
      commit: (step) => step.state.phase === "ended" ? Effect.fail("disk full") : memory.commit(step)
    }
    const events: Array<AgentEvent> = []
    const agent = createAgent({ provider: scripted([]).provider, store })
    agent.on((event) => void events.push(event))
    const session = await agent.session({ id: "s" })
    await session.run("go").catch(() => {})
    await session.close()
    assert.deepStrictEqual(unpaired(events), [])
    assert.deepStrictEqual(events.flatMap((event) => event.type === "turn-end" ? [event.status] : []), ["failed"])
  })
})
