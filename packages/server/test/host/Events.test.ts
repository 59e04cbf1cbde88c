/** The events of hosted sessions, for readers in the same process and in others. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as EventLog from "@belay/core/EventLog"
import * as HookAction from "@belay/core/HookAction"
import { type LlmDelta, textResponse } from "@belay/core/LlmCall"
import type { ToolResult } from "@belay/core/Tool"
import type * as Host from "@belay/server/Host"
import type { HostEvent } from "@belay/server/HostEvent"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { asking, failure, gate, hosted, newFile, tool } from "./support/hosted.ts"

/** Reads events until one of them satisfies the condition. */
const until = async (
  events: AsyncIterable<HostEvent>,
  isLast: (item: HostEvent) => boolean
): Promise<ReadonlyArray<HostEvent>> => {
  const items: Array<HostEvent> = []
  for await (const item of events) {
    items.push(item)
    if (isLast(item)) break
  }
  return items
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const endOf = (key: string) => (item: HostEvent) => item.key === key && item.event.type === "turn-end"
const types = (items: ReadonlyArray<HostEvent>) => items.map(({ event }) => event.type)
const textOf = (items: ReadonlyArray<HostEvent>) =>
  items.map(({ event }) => event.type === "text-delta" ? event.text : "").join("")

const assertInOrder = (items: ReadonlyArray<HostEvent>): void => {
  const ids = items.map(({ id }) => id)
  assert.deepStrictEqual(ids, [...new Set(ids)].toSorted())
}

/** Wraps the log of a store and counts what is done with it. */
const counted = (log: EventLog.EventLog) => {
  const counts = { reads: 0, writes: 0, rows: 0 }
  const watched: EventLog.EventLog = {
    ...log,
    read: (...all) => Effect.andThen(Effect.sync(() => counts.reads++), log.read(...all)),
    write: (batches, options) =>
      Effect.andThen(
        Effect.sync(() => {
          counts.writes++
          for (const { rows } of batches) counts.rows += rows.length
        }),
        log.write(batches, options)
      )
  }
  return { counts, watched }
}

const hostedWith = (events: (log: EventLog.EventLog) => EventLog.EventLog, path = newFile()) => {
  const one = hosted(path)
  const host = hosted(path, {}, { store: { ...one.store, events: events(one.store.events) } })
  return { ...host, close: async () => Promise.all([one.close(), host.close()]) }
}

/** A model that answers in pieces. */
const pieces = (text: string, pieceLength = 4) => Scripted.make([text], { pieceLength })

describe("the events of a host", () => {
  it("arrive in the process that runs the turn while it runs, with the key of its message", async () => {
    const [begun, go] = [gate(), gate()]
    const work = tool("work", [], () => {
      begun.open()
      return go.opened
    })
    const { close, host } = hosted(newFile(), { tools: [work] })
    await using _running = await host.start()
    const started = until(host.events("s"), ({ event }) => event.type === "tool-start")
    await host.send("s", "do work", { key: "m" })
    await begun.opened
    const first = await started
    assert.strictEqual(first[0]?.key, "m")
    go.open()
    const rest = await until(host.events("s", { after: first.at(-1)!.id }), endOf("m"))
    assertInOrder([...first, ...rest])
    assert.deepStrictEqual(types([...first, ...rest]).filter((type) => !type.endsWith("delta")), [
      "session-start",
      "turn-start",
      "llm-start",
      "llm-end",
      "tool-start",
      "tool-end",
      "llm-start",
      "llm-end",
      "turn-end"
    ])
    await close()
  })

  it("are not read from the database by a reader that has seen everything in this process", async () => {
    const { counts, watched } = counted(EventLog.inMemory())
    const { close, host } = hostedWith(() => watched)
    await using _running = await host.start()
    const reads: Array<number> = []
    const reading = until(host.events("s"), (item) => {
      if (item.key === "b") reads.push(counts.reads)
      return endOf("b")(item)
    })
    await host.send("s", "one", { key: "a" })
    await host.send("s", "two", { key: "b" })
    assertInOrder(await reading)
    assert.isAbove(reads.length, 4)
    assert.deepStrictEqual(new Set(reads), new Set(reads.slice(0, 1)))
    await close()
  })

  it("arrive in another process, once and in order, and continue after any of them", async () => {
    const path = newFile()
    const one = hosted(path, { provider: pieces("Hello you!", 3) })
    const two = hosted(path)
    const reading = until(two.host.events("s"), endOf("m"))
    await one.host.send("s", "hi", { key: "m" })
    await one.host.advance("s")
    const items = await reading
    assertInOrder(items)
    assert.strictEqual(textOf(items), "Hello you!")
    assert.isUndefined(items.find(({ missed }) => missed))
    const own = await until(one.host.events("s"), endOf("m"))
    assert.deepStrictEqual(types(own), types(items))
    await one.close()
    await two.close()
  })

  it("continue in the middle of a text whose deltas were stored together", async () => {
    const { close, host } = hosted(newFile(), { provider: pieces("one two three four") })
    const live = until(host.events("s"), endOf("m"))
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    const all = await live
    const stored = await until(host.events("s"), endOf("m"))
    assert.strictEqual(stored.filter(({ event }) => event.type === "text-delta").length, 1)
    const single = all.filter(({ event }) => event.type === "text-delta")
    assert.lengthOf(single, 5)
    for (const [index, { id }] of all.entries()) {
      if (index === all.length - 1) break
      const rest = await until(host.events("s", { after: id }), endOf("m"))
      assert.strictEqual(textOf(rest), textOf(all.slice(index + 1)), `after ${id}`)
      assert.isTrue(rest.every((item) => item.id > id))
      assert.strictEqual(rest.at(-1)!.id, all.at(-1)!.id)
    }
    await close()
  })

  it("contain those of sub-agents", async () => {
    const helper = createAgent({ name: "helper", provider: Scripted.make(["I help"]) })
    const provider = Scripted.make([
      {
        ...textResponse(""),
        finishReason: "tool-calls",
        toolCalls: [{ id: "c", name: "help", args: { message: "please" } }]
      },
      "done"
    ])
    const config = { provider, tools: [agentTool({ name: "help", description: "helps", agent: helper })] }
    const { close, host } = hosted(newFile(), config)
    await host.send("s", "go", { key: "m" })
    await host.advance("s")
    const items = await until(host.events("s"), endOf("m"))
    const own = items.filter(({ event }) => event.agent === "helper")
    assert.include(types(own), "turn-end")
    assert.isTrue(own.every(({ event, key }) => event.rootSessionId === "s" && key === "m"))
    await close()
  })

  it("say so if those of an earlier turn are gone, and begin with the oldest that are there", async () => {
    const forgetful = (log: EventLog.EventLog): EventLog.EventLog => ({
      ...log,
      write: (batches) => log.write(batches, { keepMs: 0 })
    })
    const { close, host } = hostedWith(forgetful)
    for (const key of ["a", "b", "c"]) {
      await host.send("s", `message ${key}`, { key })
      await host.advance("s")
    }
    const [first] = await until(host.events("s"), endOf("c"))
    assert.strictEqual(first?.key, "c")
    assert.isUndefined(first?.missed)
    const late = await until(host.events("s", { after: "1" }), endOf("c"))
    assert.deepStrictEqual([late[0]?.key, late[0]?.missed], ["c", true])
    assert.lengthOf(late.filter(({ missed }) => missed), 1)
    await close()
  })

  it("go on where a killed process was, and a reader sees that the turn is continued", async () => {
    const path = newFile()
    const begun = gate()
    const dies = hosted(path, {
      tools: [tool("work", [], () => {
        begun.open()
        return new Promise(() => {})
      }, true)]
    })
    await dies.host.send("s", "do work, work", { key: "m" })
    void dies.host.advance("s").then(() => {}, () => {})
    await begun.opened
    const first = await until(dies.host.events("s"), ({ event }) => event.type === "tool-start")
    // The process ends: nothing of it is written any more.
    dies.store.close()
    const two = hosted(path, { tools: [tool("work", [])] })
    const reading = until(two.host.events("s", { after: first.at(-1)!.id }), endOf("m"))
    const whole = until(two.host.events("s"), endOf("m"))
    await two.host.advance("s")
    const rest = await reading
    assertInOrder([...first, ...rest])
    const again = rest.find(({ event }) => event.type === "turn-start")?.event
    assert.isTrue(again?.type === "turn-start" && again.resumed)
    const seen = await whole
    assertInOrder(seen)
    assert.deepStrictEqual(json(seen.slice(-rest.length)), json(rest))
    await two.close()
  })

  it("are stored as the user of a stream gets them, after the hooks", async () => {
    const secret = "4711-0815"
    const path = newFile()
    const mask = (text: string) => text.replaceAll(secret, "[removed]")
    const config = () => ({
      provider: Scripted.make([
        { ...textResponse(""), finishReason: "tool-calls" as const, toolCalls: [{ id: "c", name: "look", args: {} }] },
        `the number is ${secret}.`
      ], { pieceLength: 100 }),
      tools: [defineTool({ name: "look", description: "d", input: { type: "object" }, execute: () => secret })],
      hooks: [{
        name: "mask",
        confidential: true,
        hold: "untilPass" as const,
        onLlmDelta: (delta: LlmDelta) =>
          delta.type === "text" ? HookAction.transform({ ...delta, text: mask(delta.text) }) : undefined,
        postToolCall: ({ result }: { readonly result: ToolResult }) =>
          result.ok
            ? HookAction.transform({ ok: true as const, output: mask(JSON.stringify(result.output)) })
            : undefined
      }]
    })
    const { close, host } = hosted(path, config())
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    const stored = await until(host.events("s"), endOf("m"))
    await close()
    using database = new DatabaseSync(path)
    assert.notInclude(JSON.stringify(database.prepare("SELECT body FROM events").all()), secret)

    const { agent, close: closeOther } = hosted(newFile(), config())
    const session = await agent.session({ id: "s" })
    const streamed: Array<HostEvent["event"]> = []
    for await (const event of session.stream("hi")) streamed.push(event)
    const contents = (events: ReadonlyArray<HostEvent["event"]>) =>
      json(
        events.map((event) => [event.type, "text" in event ? event.text : "", "result" in event ? event.result : ""])
      )
    assert.deepStrictEqual(
      contents(stored.map(({ event }) => event)),
      contents(streamed)
    )
    await closeOther()
  })

  it("of a turn that people decide about stay together", async () => {
    const { close, host } = hosted(newFile(), { tools: [tool("danger", [])], hooks: [asking] })
    await using _running = await host.start()
    await host.send("s", "do danger", { key: "m" })
    const asked = await host.result("s", "m")
    const { callId } = asked.status === "suspended" ? asked.pending[0]! : assert.fail()
    await host.decide("s", { [callId]: { type: "approve" } })
    await host.result("s", "m")
    const all = await until(host.events("s"), ({ event }) => event.type === "turn-end" && event.status === "completed")
    assert.deepStrictEqual(types(all).filter((type) => ["turn-start", "ask", "decided", "turn-end"].includes(type)), [
      "turn-start",
      "ask",
      "turn-end",
      "decided",
      "turn-start",
      "turn-end"
    ])
    await close()
  })

  it("reach a slow reader completely, and few of them wait in memory", async () => {
    const text = "0123456789".repeat(1_200)
    const { close, host } = hosted(newFile(), { provider: pieces(text) })
    const iterator = host.events("s")[Symbol.asyncIterator]()
    const first = iterator.next()
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    const items: Array<HostEvent> = [(await first).value]
    while (!endOf("m")(items.at(-1)!)) items.push((await iterator.next()).value)
    await iterator.return?.()
    assertInOrder(items)
    assert.strictEqual(textOf(items), text)
    assert.isBelow(items.length, 1_500)
    assert.isUndefined(items.find(({ missed }) => missed))
    await close()
  })

  it("tell a slow reader of a host without a log that some are missing", async () => {
    const { agent, close, store } = hosted(newFile(), { provider: pieces("0123456789".repeat(1_200)) })
    const { inbox, sessions } = store
    const { host } = hosted(newFile(), {}, { agent, store: { inbox, sessions } })
    const iterator = host.events("s")[Symbol.asyncIterator]()
    const first = iterator.next()
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    const items: Array<HostEvent> = [(await first).value]
    while (!endOf("m")(items.at(-1)!)) items.push((await iterator.next()).value)
    await iterator.return?.()
    assertInOrder(items)
    assert.isBelow(items.length, 1_000)
    assert.isTrue(items.some(({ missed }) => missed))
    await close()
  })

  it("never disturb a turn if the log fails, and tell later readers that some are missing", async () => {
    let isBroken = true
    const broken = (log: EventLog.EventLog): EventLog.EventLog => ({
      ...log,
      write: (...all) => Effect.suspend(() => isBroken ? Effect.die(new Error("disk full")) : log.write(...all))
    })
    const { close, host } = hostedWith(broken)
    const live = until(host.events("s"), endOf("a"))
    await host.send("s", "one", { key: "a" })
    await host.advance("s")
    assert.deepInclude(await host.result("s", "a"), { status: "completed", text: "re: one" })
    assert.strictEqual(types(await live).at(-1), "turn-end")
    isBroken = false
    await host.send("s", "two", { key: "b" })
    await host.advance("s")
    const items = await until(host.events("s"), endOf("b"))
    assert.deepStrictEqual([items[0]?.key, items[0]?.missed], ["b", true])
    await close()
  })

  it("of an answer of five megabytes in many deltas are few rows", async () => {
    const provider = pieces("0123456789".repeat(500_000), 50)
    const { close, host } = hosted(newFile(), { provider })
    await host.send("s", "hi", { key: "m" })
    await host.advance("s")
    const items = await until(host.events("s"), endOf("m"))
    assert.strictEqual(textOf(items).length, 5_000_000)
    assert.isBelow(items.length, 400)
    await close()
  })

  it("end when the signal aborts, and a reader that leaves is forgotten", async () => {
    const { close, host } = hosted(newFile())
    const controller = new AbortController()
    const ended = until(host.events("s", { signal: controller.signal }), () => false)
    await host.send("s", "one", { key: "a" })
    await host.advance("s")
    controller.abort()
    assert.isAbove((await ended).length, 0)
    assert.deepStrictEqual(await until(host.events("s", { signal: AbortSignal.abort() }), () => false), [])
    await close()
  })

  it("are a Stream for Effect programs", async () => {
    const { close, host } = hosted(newFile())
    await host.send("s", "one", { key: "a" })
    await host.advance("s")
    const read: Host.HostEvents = host.events("s")
    const items = await Effect.runPromise(Stream.runCollect(Stream.takeUntil(read, endOf("a"))))
    assert.strictEqual(items.at(-1)?.event.type, "turn-end")
    await close()
  })

  it("are refused for ids that no host has given", async () => {
    const { close, host } = hosted(newFile())
    for (const after of ["x", "", "-1", "1e3", "9".repeat(40)]) {
      const error = await failure(until(host.events("s", { after }), () => true))
      assert.deepInclude(error, { _tag: "HostError", problem: "wrong-input" })
      assert.match(String(error["message"]), /after: expected the id of an event/)
    }
    assert.deepInclude(await failure(until(host.events("../s"), () => true)), { problem: "wrong-input" })
    await close()
  })
})
