/** The numbers of events when several processes use one session. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** A process with its own connection to a store. `beforeCommit` runs before each of its commits. */
const processOn = (store: SessionStore.SessionStore, events: Array<AgentEvent>, beforeCommit: Effect.Effect<void>) => {
  const agent = createAgent({
    provider: scripted([asks(["pay", {}, "p"])]).provider,
    tools: [recording("pay").tool],
    hooks: [{ name: "gate", preToolCall: () => HookAction.ask("pay?") }],
    store: { ...store, commit: (step) => Effect.andThen(beforeCommit, store.commit(step)) },
    log: false
  })
  agent.on((event) => void events.push(event))
  return agent
}

const numbersOf = (events: ReadonlyArray<AgentEvent>) => events.map(({ seq }) => seq)

describe("numbers of events", () => {
  // Events wait at most 100 milliseconds for the commit that claims the session.
  const slow = Effect.sleep(150)

  it("are not those of another process that begins a turn while the first commit is slow", async () => {
    const store = SessionStore.inMemory()
    const events: Array<AgentEvent> = []
    const [a, b] = [processOn(store, events, slow), processOn(store, events, Effect.void)]
    const late = await a.session({ id: "s" })
    const running = late.run("of a").catch((error: unknown) => error)
    await (await b.session({ id: "s" })).run("of b")
    await running
    assert.isAbove(events.filter(({ type }) => type === "turn-start").length, 1)
    assert.deepStrictEqual(numbersOf(events), [...new Set(numbersOf(events))])
  })

  it("are not those of another process that continues while a resumed turn waits for its first commit", async () => {
    const store = SessionStore.inMemory()
    const events: Array<AgentEvent> = []
    const asked = await (await processOn(store, events, Effect.void).session({ id: "s" })).run("begin")
    assert.strictEqual(asked.status, "suspended")
    const [a, b] = [processOn(store, events, slow), processOn(store, events, Effect.void)]
    const [late, quick] = [await a.session({ id: "s" }), await b.session({ id: "s" })]
    const running = late.resume({ p: { type: "approve" } }).catch((error: unknown) => error)
    await quick.run("another").catch(() => quick.run("another"))
    await running
    assert.deepStrictEqual(numbersOf(events), [...new Set(numbersOf(events))])
  })

  it("are not those of another process that continues a turn which was resumed without an answer", async () => {
    const store = SessionStore.inMemory()
    const events: Array<AgentEvent> = []
    const first = processOn(store, events, Effect.void)
    await (await first.session({ id: "s" })).run("begin")
    const [a, b] = [processOn(store, events, Effect.void), processOn(store, events, Effect.void)]
    const [late, quick] = [await a.session({ id: "s" }), await b.session({ id: "s" })]
    let going: Promise<unknown> | undefined
    a.on(({ type }) => type === "turn-start" ? void (going ??= quick.resume({ p: { type: "approve" } })) : undefined)
    await late.resume({}).catch((error: unknown) => error)
    await going
    assert.isDefined(going)
    assert.deepStrictEqual(numbersOf(events), [...new Set(numbersOf(events))])
  })
})
