/** A process ends after something has happened, and before it could write down the outcome. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Inbox } from "@belay/core/Inbox"
import { type Message, text } from "@belay/core/Message"
import type { SessionStore } from "@belay/core/SessionStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import { type Outcome, toJson } from "@belay/server/Outcome"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { asking, gate, hosted, newFile, planner, pollMs, tool } from "./support/hosted.ts"

/** A process that ends when it reports that this entry is done. */
const dying = (path: string, key: string, config: Partial<AgentConfig> = {}) => {
  const store = SqliteStore.make({ path })
  const inbox: Inbox = {
    ...store.inbox,
    report: (sessionId, one, status, outcome) =>
      one === key && status !== "begun"
        ? Effect.fail("the process ends")
        : store.inbox.report(sessionId, one, status, outcome)
  }
  const agent = createAgent({ provider: planner(), store: store.sessions, log: false, ...config })
  const host = Host.make({ agent, store: { sessions: store.sessions, inbox }, pollMs })
  return { host, close: () => store.close() }
}

/** Lets a second process advance the session. Returns the outcomes of the keys, and the texts of the user. */
const recover = async (path: string, keys: ReadonlyArray<string>, config: Partial<AgentConfig> = {}) => {
  const { close, host, store } = hosted(path, config)
  await host.advance("s")
  const outcomes: Array<Outcome> = []
  for (const key of keys) outcomes.push(await host.result("s", key))
  const { messages = [] } = await Effect.runPromise(store.sessions.load("s")) ?? {}
  await close()
  return { outcomes, said: messages.filter(({ role }) => role === "user").map(text) }
}

const fails = async (promise: PromiseLike<unknown>): Promise<void> => {
  assert.strictEqual(await promise.then(() => "succeeded", () => "failed"), "failed")
}

describe("a turn whose process ended while its session was rotated", () => {
  it("goes on in the next session, and no tool runs again", async () => {
    const path = newFile()
    const log: Array<string> = []
    const config = {
      tools: [tool("work", log), tool("more", log)],
      hooks: [{ name: "rotates", postToolCall: (_result: unknown, ctx: HookContext) => ctx.rotate() }]
    }
    const store = SqliteStore.make({ path })
    const sessions: SessionStore = {
      ...store.sessions,
      commit: (commit) => commit.sessionId === "s" ? store.sessions.commit(commit) : Effect.fail("the process ends")
    }
    const agent = createAgent({ provider: planner(), store: sessions, log: false, ...config })
    const host = Host.make({ agent, store: { sessions, inbox: store.inbox }, pollMs })
    const history = Array.from({ length: 30 }, (_, index): Message => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `${index} ${"x".repeat(1_000)}`
    }))
    await host.send("s", "do work, more", { key: "m", history })
    await fails(host.advance("s"))
    store.close()
    const { outcomes } = await recover(path, ["m"], config)
    assert.deepInclude(outcomes[0], { status: "completed", text: "did work more", turnNumber: 1 })
    assert.deepEqual(log.map((line) => line.split(" ")[0]), ["work", "more"])
  })
})

describe("an outcome that was not written down", () => {
  it("is that of the stored turn, which does not run again", async () => {
    const path = newFile()
    const one = dying(path, "m", { tools: [tool("work", [])] })
    await one.host.send("s", "do work", { key: "m" })
    await one.host.send("s", "next", { key: "next" })
    await fails(one.host.advance("s"))
    one.close()
    const { outcomes, said } = await recover(path, ["m", "next"])
    assert.deepInclude(outcomes[0], { status: "completed", text: "did work", turnNumber: 1 })
    assert.deepInclude(outcomes[1], { status: "completed", turnNumber: 2 })
    assert.deepStrictEqual(said, ["do work", "next"])
  })

  it("is a failure if the turn ended without an answer, and the hooks do not see the message again", async () => {
    const path = newFile()
    let seen = 0
    const hook = {
      name: "rules",
      preTurn: () => {
        seen++
        return HookAction.reject("no")
      }
    }
    const one = dying(path, "m", { hooks: [hook] })
    await one.host.send("s", "hello", { key: "m" })
    await fails(one.host.advance("s"))
    one.close()
    const { outcomes } = await recover(path, ["m"], { hooks: [hook] })
    assert.strictEqual(outcomes[0]?.status === "failed" ? outcomes[0].error._tag : "", "OutcomeLost")
    assert.strictEqual(seen, 1)
  })

  it("is the cancellation, if the turn ended because it was cancelled", async () => {
    const path = newFile()
    const log: Array<string> = []
    const begun = gate()
    const model = () => {
      begun.open()
      return new Promise<void>(() => {})
    }
    const one = dying(path, "m", { provider: planner(model) })
    await one.host.send("s", "hello", { key: "m" })
    const ended = fails(one.host.advance("s"))
    await begun.opened
    const { key } = await one.host.cancel("s", "m")
    await ended
    one.close()
    const { outcomes } = await recover(path, ["m", key], { provider: planner(async () => log.push("model")) })
    assert.deepStrictEqual(outcomes, [{ status: "cancelled" }, { status: "cancelled" }])
    assert.deepStrictEqual(log, [])
  })

  it("is not looked for in a turn that another process has begun meanwhile", async () => {
    const path = newFile()
    const [reports, begun, go] = [gate(), gate(), gate()]
    const store = SqliteStore.make({ path })
    const inbox: Inbox = {
      ...store.inbox,
      report: (sessionId, key, status, outcome) =>
        key === "first" && status === "done"
          ? Effect.andThen(
            Effect.promise(() => (reports.open(), begun.opened)),
            store.inbox.report(sessionId, key, status, outcome)
          )
          : store.inbox.report(sessionId, key, status, outcome)
    }
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false, tools: [tool("work", [])] })
    const slow = Host.make({ agent, store: { sessions: store.sessions, inbox }, pollMs })
    const work = tool("work", [], () => (begun.open(), go.opened))
    const quick = hosted(path, { tools: [work] })
    await slow.send("s", "hello", { key: "first" })
    const left = fails(slow.advance("s"))
    await reports.opened
    await quick.host.send("s", "do work", { key: "next" })
    const ended = Promise.resolve(quick.host.advance("s"))
    await left
    go.open()
    await ended
    assert.deepInclude(await quick.host.result("s", "next"), { status: "completed", text: "did work" })
    assert.strictEqual((await quick.host.status("s", "next"))?.attempts, 1)
    store.close()
    await quick.close()
  })

  it("of a decision is not applied to another question", async () => {
    const path = newFile()
    const log: Array<string> = []
    const config = { tools: [tool("danger", log)], hooks: [asking] }
    const zero = hosted(path, config)
    await zero.host.send("s", "do danger, danger", { key: "m" })
    await zero.host.advance("s")
    const asked = await zero.host.result("s", "m")
    await zero.close()
    const { callId } = asked.status === "suspended" ? asked.pending[0]! : assert.fail()
    const one = dying(path, "yes", config)
    await one.host.decide("s", { [callId]: { type: "approve" } }, { key: "yes" })
    await fails(one.host.advance("s"))
    one.close()
    assert.lengthOf(log, 1)
    const { outcomes } = await recover(path, ["yes", "m"], config)
    assert.deepStrictEqual(outcomes[0], { status: "delivered" })
    assert.notStrictEqual(outcomes[1]?.status === "suspended" ? outcomes[1].pending[0]?.callId : callId, callId)
    assert.lengthOf(log, 1)
  })

  it("is the question that is open, also if a process was late and has stored an older one after it", async () => {
    const { close, host, store } = hosted(newFile(), { tools: [tool("danger", [])], hooks: [asking] })
    await host.send("s", "do danger, danger", { key: "m" })
    await host.advance("s")
    const first = await host.result("s", "m")
    const { callId } = first.status === "suspended" ? first.pending[0]! : assert.fail()
    await host.decide("s", { [callId]: { type: "approve" } })
    await host.advance("s")
    const second = await host.result("s", "m")
    assert.notDeepEqual(second, first)
    await Effect.runPromise(store.inbox.report("s", "m", "suspended", toJson(first)))
    assert.deepStrictEqual(await host.result("s", "m"), first)
    await host.advance("s")
    assert.deepStrictEqual(await host.result("s", "m"), second)
    await close()
  })

  it("of a message to a running turn is that it was delivered, once", async () => {
    const path = newFile()
    const [begun, go] = [gate(), gate()]
    const work = tool("work", [], () => {
      begun.open()
      return go.opened
    })
    const one = dying(path, "steer", { tools: [work] })
    await one.host.send("s", "do work", { key: "m" })
    const ended = fails(one.host.advance("s"))
    await begun.opened
    await one.host.send("s", "be brief", { key: "steer", mode: "steer" })
    await Effect.runPromise(Effect.sleep(3 * pollMs))
    go.open()
    await ended
    one.close()
    const { outcomes, said } = await recover(path, ["steer", "m"])
    assert.deepStrictEqual(outcomes[0], { status: "delivered" })
    assert.deepInclude(outcomes[1], { status: "completed", text: "did work be brief" })
    assert.deepStrictEqual(said, ["do work", "be brief"])
  })

  it("of a cancelled turn that a process has left is that it was cancelled, and the turn does not continue", async () => {
    const path = newFile()
    const log: Array<string> = []
    const begun = gate()
    const hangs = hosted(path, {
      tools: [tool("work", log, () => {
        begun.open()
        return new Promise(() => {})
      })]
    })
    await hangs.host.send("s", "do work, work", { key: "m" })
    void hangs.host.advance("s").then(() => {}, () => {})
    await begun.opened
    hangs.store.close()
    const { close, host } = hosted(path, { tools: [tool("work", log)] })
    await host.cancel("s", "m")
    await host.send("s", "next", { key: "next" })
    await host.advance("s")
    assert.deepStrictEqual(await host.result("s", "m"), { status: "cancelled" })
    assert.deepInclude(await host.result("s", "next"), { status: "completed" })
    assert.lengthOf(log.filter((call) => call.includes("s/1/")), 1)
    await close()
  })
})
