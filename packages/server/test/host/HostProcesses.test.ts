/** What a host does when processes come, go, and work on one session, on SQLite. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import { text, whyInvalid } from "@belay/core/Message"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { assert, describe, expect, it } from "vitest"
import { asking, failure, gate, hosted, newFile, planner, tool } from "./support/hosted.ts"

describe("a host of several processes", () => {
  it("runs the sessions of one file in one process, and in another one when that has ended", async () => {
    const path = newFile()
    const [ofFirst, ofSecond]: [Array<string>, Array<string>] = [[], []]
    const first = hosted(path, { tools: [tool("work", ofFirst)] })
    const second = hosted(path, { tools: [tool("work", ofSecond)] })
    const running = await first.host.start()
    const warnings: Array<string> = []
    const noted = Logger.make(({ message }) => void warnings.push(String(message)))
    const waiting = await Effect.runPromise(
      Effect.provide(second.host.start(), Logger.layer([noted]))
    )
    assert.match(warnings.join(), /^another process runs the sessions of this store/)
    for (const session of ["a", "b"]) await second.host.send(session, "do work", { key: "m" })
    for (const session of ["a", "b"]) {
      assert.deepInclude(await second.host.result(session, "m"), { status: "completed", text: "did work" })
    }
    assert.deepStrictEqual([ofFirst.length, ofSecond.length], [2, 0])
    await running.drain()
    await first.host.send("c", "do work", { key: "m" })
    assert.deepInclude(await first.host.result("c", "m"), { status: "completed", text: "did work" })
    assert.deepStrictEqual([ofFirst.length, ofSecond.length], [2, 1])
    // One that has not begun to run sessions stops too.
    const again = await first.host.start()
    await again.drain()
    await waiting.drain()
    await first.close()
    await second.close()
  })

  it("keeps a suspended turn in rows only, and continues it after a decision of another process", async () => {
    const path = newFile()
    const log: Array<string> = []
    const config = { tools: [tool("danger", log)], hooks: [asking] }
    const first = hosted(path, config)
    await first.host.send("s", "do danger", { key: "m" })
    await first.host.send("s", "after", { key: "after" })
    await first.host.advance("s")
    const asked = await first.host.result("s", "m")
    assert.strictEqual(asked.status, "suspended")
    const [question] = asked.status === "suspended" ? asked.pending : []
    assert.strictEqual(question?.tool, "danger")
    await first.close()

    const second = hosted(path, config)
    const web = hosted(path)
    await using _running = await second.host.start()
    const { key } = await web.host.decide("s", { [question!.callId]: { type: "approve" } })
    assert.deepInclude(await web.host.result("s", key), { status: "completed", text: "did danger" })
    assert.deepInclude(await web.host.result("s", "m"), { status: "completed", text: "did danger" })
    assert.deepInclude(await web.host.result("s", "after"), { status: "completed", text: "re: after" })
    assert.lengthOf(log, 1)
    await web.close()
    await second.close()
  })

  it("lets people decide about a call of a sub-agent, in another process", async () => {
    const path = newFile()
    const log: Array<string> = []
    const config = () => {
      const helper = createAgent({
        name: "helper",
        tools: [tool("danger", log)],
        provider: Scripted.make([
          { ...textResponse(""), finishReason: "tool-calls", toolCalls: [{ id: "d", name: "danger", args: {} }] },
          "helped"
        ])
      })
      const help = agentTool({ name: "help", description: "helps", agent: helper })
      const lead = fromPromise({
        name: "lead",
        complete: async ({ messages }) =>
          messages.at(-1)?.role === "tool" ? textResponse(`${text(messages.at(-1)!)}, all done`) : {
            ...textResponse(""),
            finishReason: "tool-calls",
            toolCalls: [{ id: "h", name: "help", args: { message: "do danger" } }]
          }
      })
      return { provider: lead, tools: [help], hooks: [asking] }
    }
    const first = hosted(path, config())
    await first.host.send("s", "go", { key: "m" })
    await first.host.advance("s")
    const asked = await first.host.result("s", "m")
    const pending = asked.status === "suspended" ? asked.pending : []
    assert.deepStrictEqual(pending.map(({ callId }) => callId), ["h/d"])
    await first.close()
    const { provider: _provider, ...rest } = config()
    const helped = createAgent({ name: "helper", tools: [tool("danger", log)], provider: Scripted.make(["helped"]) })
    const second = hosted(path, {
      ...rest,
      provider: config().provider,
      tools: [agentTool({ name: "help", description: "helps", agent: helped })]
    })
    await second.host.decide("s", { "h/d": { type: "approve" } }, { key: "yes" })
    await second.host.advance("s")
    assert.deepInclude(await second.host.result("s", "m"), { status: "completed", text: "helped, all done" })
    assert.lengthOf(log, 1)
    await second.close()
  })

  it("reports nothing about a message whose agent was closed, and another process answers it", async () => {
    const path = newFile()
    const begun = gate()
    const hangs = planner(() => {
      begun.open()
      return new Promise(() => {})
    })
    const one = hosted(path, { provider: hangs })
    await one.host.send("s", "hello", { key: "m" })
    await one.host.send("s", "next", { key: "next" })
    const failed = failure(one.host.advance("s"))
    await begun.opened
    await one.close()
    assert.strictEqual((await failed)["problem"], "store")
    const two = hosted(path)
    assert.strictEqual((await two.host.status("s", "m"))?.status, "begun")
    await two.host.advance("s")
    assert.strictEqual((await two.host.result("s", "next")).status, "completed")
    assert.notStrictEqual((await two.host.status("s", "m"))?.status, "begun")
    await two.close()
  })

  it("loses its place to another process without writing anything any more", async () => {
    const path = newFile()
    const log: Array<string> = []
    const [begun, go] = [gate(), gate()]
    const one = hosted(path, {
      tools: [tool("work", log, () => {
        begun.open()
        return go.opened
      })]
    })
    await one.host.send("s", "do work, work", { key: "m" })
    const failed = failure(one.host.advance("s"))
    await begun.opened
    const two = hosted(path, { tools: [tool("work", log)] })
    await two.host.advance("s")
    go.open()
    assert.strictEqual((await failed)["problem"], "store")
    assert.deepInclude(await one.host.result("s", "m"), { status: "completed", text: "did work work" })
    assert.strictEqual((await one.host.status("s", "m"))?.attempts, 2)
    const { messages } = (await Effect.runPromise(two.store.sessions.load("s")))!
    assert.isUndefined(whyInvalid(messages))
    const results = messages.filter(({ role }) => role === "tool").map(text)
    assert.match(results[0]!, /unknown/)
    assert.strictEqual(results[1], "work done")
    assert.strictEqual(new Set(log).size, log.length)
    await one.close()
    await two.close()
  })

  it("gives up a message whose processes end again and again", async () => {
    const path = newFile()
    const never = planner(() => new Promise(() => {}))
    for (let attempt = 1; attempt <= 2; attempt++) {
      const dies = hosted(path, { provider: never }, { maxAttempts: 2 })
      if (attempt === 1) {
        await dies.host.send("s", "poison", { key: "poison" })
        await dies.host.send("s", "good", { key: "good" })
      }
      void dies.host.advance("s").then(() => {}, () => {})
      while ((await dies.host.status("s", "poison"))?.attempts !== attempt) await Effect.runPromise(Effect.sleep(5))
      // The process ends: nothing of it is written any more.
      dies.store.close()
    }
    const { close, host } = hosted(path, {}, { maxAttempts: 2 })
    await host.advance("s")
    const outcome = await host.result("s", "poison")
    assert.deepInclude(outcome, { status: "dead", attempts: 2 })
    assert.strictEqual((await host.status("s", "poison"))?.status, "dead")
    assert.deepInclude(await host.result("s", "good"), { status: "completed", text: "re: good" })
    await close()
  })

  it("stops turns where another process continues them, and no call is lost or repeated", async () => {
    const path = newFile()
    const [begun, drained] = [gate(), gate()]
    const log: Array<string> = []
    const one = hosted(path, {
      tools: [tool("slow", log, async () => {
        begun.open()
        await drained.opened
      })]
    })
    const running = await one.host.start()
    await one.host.send("s", "do slow, slow, slow", { key: "m" })
    await one.host.send("s", "next", { key: "next" })
    await begun.opened
    const draining = Promise.resolve(running.drain())
    // The tool goes on when the session knows that it is to stop; no timer is involved until then.
    for (let hop = 0; hop < 50; hop++) await new Promise(setImmediate)
    drained.open()
    await draining
    assert.deepInclude(await one.host.status("s", "m"), { status: "begun" })
    await one.close()
    assert.lengthOf(log, 1)

    const two = hosted(path, { tools: [tool("slow", log)] })
    await using _running = await two.host.start()
    assert.deepInclude(await two.host.result("s", "m"), { status: "completed", text: "did slow slow slow" })
    assert.deepInclude(await two.host.status("s", "m"), { attempts: 1 })
    assert.strictEqual((await two.host.result("s", "next")).status, "completed")
    assert.strictEqual(new Set(log).size, 3)
    assert.lengthOf(log, 3)
    await two.close()
  })

  it("holds no session in memory while a thousand wait for people", async () => {
    const { agent, close, host, store } = hosted(newFile(), { tools: [tool("danger", [])], hooks: [asking] })
    const ids = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
    const released = new Set<string>()
    agent.on(({ sessionId, type }) => void (type === "session-release" && released.add(sessionId)))
    await Promise.all(ids.map((id) => host.send(id, "do danger", { key: "m" })))
    await using _running = await host.start()
    for (const id of ids) assert.strictEqual((await host.result(id, "m")).status, "suspended")
    await expect.poll(() => released.size, { timeout: 60_000 }).toBe(1_000)
    assert.lengthOf(await host.list({ limit: 2_000, status: "suspended" }), 1_000)
    assert.deepStrictEqual(await Effect.runPromise(store.inbox.due({ until: Date.now(), limit: 10 })), [])
    await close()
  })
})
