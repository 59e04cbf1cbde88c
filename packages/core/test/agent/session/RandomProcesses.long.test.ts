/**
 * Random use of one session by several processes at once: turns, steering, questions, parking, cancelling, releasing, and
 * processes that stop in the middle of everything. Whatever happens, the rules below hold.
 */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { type AgentSession, createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { text, whyInvalid } from "../../../src/data/Message.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { anything } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** What happened outside, which nothing takes back. */
interface World {
  /** Idempotency keys of the payments that began. */
  readonly paid: Array<string>
  readonly events: Array<string>
  /** Messages whose turn was completed. */
  readonly completed: Array<string>
  /** Messages that the model was said to have read. */
  readonly delivered: Array<string>
}

const conversation = async (
  seed: number,
  patienceMs: number
): Promise<{ readonly world: World; readonly problems: ReadonlyArray<string> }> => {
  const { below, pick } = random(seed)
  const world: World = { paid: [], events: [], completed: [], delivered: [] }
  const memory = SessionStore.inMemory()
  const pause = Effect.suspend(() => below(3) === 0 ? Effect.sleep(below(3)) : Effect.yieldNow)
  /** Each process has its own connection, which breaks when the process is killed. */
  const connect = (isDead: () => boolean): SessionStore.SessionStore => ({
    ...memory,
    commit: (step) => Effect.andThen(pause, Effect.suspend(() => isDead() ? Effect.never : memory.commit(step))),
    load: (id) => Effect.andThen(pause, memory.load(id)),
    revision: (id) => Effect.andThen(pause, memory.revision(id))
  })
  const pay = () =>
    defineTool({
      name: "pay",
      description: "Pays",
      input: anything,
      execute: async (_args, { idempotencyKey }) => {
        world.paid.push(idempotencyKey)
        await Effect.runPromise(Effect.andThen(pause, pause))
        return "paid"
      }
    })
  /** A model that calls tools while the plan, the last long message, asks for it. */
  const planner = (name: string) =>
    scripted([], {
      name,
      pause,
      after: ({ messages }) => {
        const from = messages.findLastIndex((message) => message.role === "user" && text(message).startsWith("plan"))
        const plan = text(messages[from]!).split(" ").slice(2)
        const done = messages.slice(from).filter(({ role }) => role === "assistant").length
        const next = plan[done]
        if (next === undefined) return "done"
        return next === "work" ? asks(["work", { message: `plan ${seed} pay` }], ["pay"]) : asks([next])
      }
    }).provider
  const start = (name: string) => {
    let isDead = false
    const worker = createAgent({ name: "worker", provider: planner("worker"), tools: [pay()] })
    const agent = createAgent({
      name,
      provider: planner(name),
      tools: [pay(), agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [{
        name: "gate",
        tools: "pay",
        preToolCall: (call, ctx) => ctx.agent.depth === 0 && call.id.endsWith("3") ? HookAction.ask("?") : undefined
      }],
      store: connect(() => isDead),
      log: false
    })
    agent.on(({ rootSessionId, seq }) => isDead ? undefined : void world.events.push(`${rootSessionId} ${seq}`))
    return {
      agent,
      name,
      kill: () => void (isDead = true),
      isDead: () => isDead,
      session: undefined as AgentSession | undefined
    }
  }
  const processes = ["a", "b", "c"].map(start)
  let messages = 0

  const act = async (process: ReturnType<typeof start>): Promise<void> => {
    const session = process.session ??= await process.agent.session({ id: "s" })
    const plan = `plan ${messages++} ${pick(["", "pay", "pay pay", "work", "pay work pay"])}`.trim()
    switch (below(9)) {
      case 0:
      case 1:
        await session.run(plan).then(({ status }) => status === "completed" && world.completed.push(plan))
        return
      case 2: {
        const stop = AbortSignal.timeout(20 + below(20))
        const result = await session.run(plan, { whenBusy: "queue", signal: stop })
        if (result.status === "completed") world.completed.push(plan)
        return
      }
      case 3:
        await session.run(plan, { signal: AbortSignal.timeout(1 + below(6)) })
        return
      case 4: {
        const words = `steer ${messages}`
        const { type } = await session.steer(words)
        if (type === "delivered") world.delivered.push(words)
        return
      }
      case 5:
        await session.park(below(2) === 0 ? {} : { withinMs: below(5) })
        return
      case 6:
      case 7:
        await session.resume(
          Object.fromEntries(session.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
        )
        return
      default:
        await session.release()
        process.session = undefined
    }
  }
  const live = async (index: number): Promise<void> => {
    for (let round = 0; round < 14; round++) {
      const process = processes[index]!
      if (below(25) === 0) {
        process.kill()
        processes[index] = start(`${process.name}'`)
      }
      // What a killed process waits for never comes.
      const ended = act(processes[index]!).catch(() => {})
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, patienceMs))])
    }
  }
  await Promise.all([live(0), live(0), live(1), live(2)])
  for (const { session } of processes) await session?.park({ withinMs: 20 })

  // Somebody finishes what is open.
  const last = await start("last").agent.session({ id: "s" })
  for (let round = 0; round < 20 && last.waiting.type !== "nothing"; round++) {
    await last.resume(Object.fromEntries(last.pending.map(({ callId }) => [callId, { type: "approve" as const }])))
  }
  const problems: Array<string> = []
  const why = whyInvalid(last.messages)
  if (why !== undefined) problems.push(`the conversation is not valid: ${why}`)
  if (last.waiting.type !== "nothing") problems.push(`it still waits: ${last.waiting.type}`)
  const said = last.messages.flatMap((message) => message.role === "user" ? [text(message)] : [])
  if (new Set(said).size !== said.length) problems.push("a message is in the conversation twice")
  for (const message of [...world.completed, ...world.delivered]) {
    if (!said.includes(message)) problems.push(`lost: ${message}`)
  }
  if (new Set(world.paid).size !== world.paid.length) problems.push("a payment began twice")
  if (new Set(world.events).size !== world.events.length) problems.push("two events have one number")
  return { world, problems }
}

describe("processes that use a session at random", () => {
  it("lose nothing that was completed, pay nothing twice, and keep the conversation valid", async () => {
    let completed = 0
    // How many runs complete depends on what the machine does at the same time: more seeds with more patience until
    // enough did.
    for (let seed = 0; seed < 8 || (completed <= 3 && seed < 40); seed += 4) {
      const all = await Promise.all([0, 1, 2, 3].map((more) => conversation(seed + more, Math.max(60, seed * 15))))
      for (const [index, { problems, world }] of all.entries()) {
        assert.deepStrictEqual(problems, [], `seed ${seed + index}`)
        completed += world.completed.length
      }
    }
    assert.isAbove(completed, 3)
  })
})
