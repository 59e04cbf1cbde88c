/** Which events are those of a part of a session, and when they are over. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Outcome } from "@belay/server/Outcome"
import type { Serve } from "@belay/server/Serve"
import { afterEach, assert, describe, it, vi } from "vitest"
import { follow, type Item, type Part, withoutKnown } from "../../../src/serve/internal/follow.ts"

type Fields = { readonly [field: string]: unknown }
/** What a host tells: an event of the key, the outcome (a text), or the loss of the outcome. */
type Step = Fields | string | Error

const outcomeOf = (status: string) => ({ status, text: "t", turnNumber: 1 }) as unknown as Outcome
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A host whose session has these events, one after the other. It then waits until the reader goes away. */
const hostOf = (steps: ReadonlyArray<Step>, log: Array<string> = []) => {
  const outcome = Promise.withResolvers<Outcome>()
  const host = {
    result: (sessionId: string, key: string) => {
      log.push(`result ${sessionId} ${key}`)
      return outcome.promise
    },
    events: async function*(sessionId: string, { after, signal }: { after?: string; signal: AbortSignal }) {
      log.push(`events ${sessionId} ${after ?? ""}`)
      for (const [index, step] of steps.entries()) {
        if (step instanceof Error) outcome.reject(step)
        else if (typeof step === "string") outcome.resolve(outcomeOf(step))
        else {
          const { id = String(index + 1), key = "k", ...event } = step
          if (after === undefined || String(id) > after) yield { id, key, event: { seq: index + 1, ...event } }
        }
        await tick()
      }
      // On a slow machine, the reader may have left already.
      if (!signal.aborted) {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      }
      log.push("left")
    }
  }
  return { host } as unknown as Serve
}

const lineOf = (item: Item): string => {
  if (item.type === "end") return `end ${item.outcome.status}`
  const { event, id, isKnown } = item
  const { status, text, type } = event as unknown as Fields
  return [id, type, status, text, isKnown && "known"].filter(Boolean).join(" ")
}

const part: Part = { sessionId: "s", key: "k" }
const read = async (steps: ReadonlyArray<Step>, given: Partial<Part> = {}, signal = new AbortController().signal) => {
  const lines: Array<string> = []
  for await (const item of follow(hostOf(steps), { ...part, ...given }, signal)) lines.push(lineOf(item))
  return lines
}

const start = { type: "turn-start" }
const end = (status: string) => ({ type: "turn-end", status })
const delta = (text: string, rest: Fields = {}) => ({ type: "text-delta", text, ...rest })

describe("the events of a part", () => {
  afterEach(() => vi.useRealTimers())

  it.each<[name: string, steps: ReadonlyArray<Step>, lines: ReadonlyArray<string>, given?: Partial<Part>]>([
    ["end with the turn", [start, "completed", end("completed"), start], [
      "1 turn-start",
      "3 turn-end completed",
      "end completed"
    ]],
    ["are those of the key", [{ ...start, key: "x" }, start, { ...delta("a"), key: "x" }, "limited", end("limited")], [
      "2 turn-start",
      "5 turn-end limited",
      "end limited"
    ]],
    ["go on after a turn that was parked", [start, end("parked"), start, "completed", end("completed")], [
      "1 turn-start",
      "2 turn-end parked",
      "3 turn-start",
      "5 turn-end completed",
      "end completed"
    ]],
    [
      "go on after a turn that was parked, if the outcome is known already",
      ["completed", start, end("parked"), start, end("completed")],
      ["2 turn-start", "3 turn-end parked", "4 turn-start", "5 turn-end completed", "end completed"]
    ],
    [
      "go on after a question that was answered",
      ["aborted", start, end("suspended"), delta("a"), end("aborted")],
      ["2 turn-start", "3 turn-end suspended", "4 text-delta a", "5 turn-end aborted", "end aborted"]
    ],
    ["end with a question", ["suspended", start, end("suspended"), delta("a")], [
      "2 turn-start",
      "3 turn-end suspended",
      "end suspended"
    ]],
    ["end with a turn that a person has cancelled, whatever its end", [start, "cancelled", end("completed"), start], [
      "1 turn-start",
      "3 turn-end completed",
      "end cancelled"
    ]],
    [
      "do not end with those of a sub-agent",
      ["completed", start, { ...end("completed"), parent: "p" }, { ...start, parent: "p" }, end("completed")],
      ["2 turn-start", "3 turn-end completed", "4 turn-start", "5 turn-end completed", "end completed"]
    ],
    [
      "begin after a decision",
      [start, { ...start, parent: "p" }, end("suspended"), { ...start, parent: "p" }, start, "completed", {
        ...end("completed"),
        key: "x"
      }],
      ["5 turn-start", "7 turn-end completed", "end completed"],
      { after: 3 }
    ],
    [
      "begin after the number of a decision, not with it",
      [start, delta("a"), end("suspended"), start, "completed", end("completed")],
      ["4 turn-start", "6 turn-end completed", "end completed"],
      { after: 1 }
    ],
    [
      "say what the reader has",
      [start, delta("a"), delta("b"), "completed", end("completed")],
      ["1 turn-start known", "2 text-delta a known", "3 text-delta b", "5 turn-end completed", "end completed"],
      { known: "2" }
    ]
  ])("%s", async (_, steps, lines, given) => assert.deepEqual(await read(steps, given), lines))

  it.each([["text-delta"], ["reasoning-delta"]])("give the rest of a %s that the log has joined", async (type) => {
    const joined = [{ ...delta("abcd"), type, id: "4" }, { ...delta("e"), type, id: "5" }]
    const rest = { ...delta("cd"), type, id: "4" }
    let calls = 0
    const log: Array<string> = []
    const whole = hostOf(["completed", ...joined], log)
    const reading = async (second: Serve) => {
      calls = 0
      const host = {
        ...whole.host,
        events: (...args: Parameters<Serve["host"]["events"]>) => (calls++ === 0 ? whole : second).host.events(...args)
      }
      const lines: Array<string> = []
      const abort = new AbortController()
      for await (const item of follow({ host } as Serve, { ...part, known: "3" }, abort.signal)) {
        lines.push(lineOf(item))
        if (lines.at(-1)!.includes("abcd") || lines.length === 3) abort.abort()
      }
      return lines
    }
    // The first event of the second reading has the number of the joined one.
    assert.deepEqual(await reading(hostOf([{ ...rest, seq: 2 }])), [
      `3 ${type} ab known`,
      `4 ${type} cd`,
      `5 ${type} e`
    ])
    assert.include(log, "events s ")
    for (const other of [{ ...rest, seq: 9 }, { ...delta("abcd"), id: "4", seq: 2 }, { ...start, id: "4", seq: 2 }]) {
      assert.deepEqual(await reading(hostOf([other])), [`4 ${type} abcd`])
    }
  })

  it("wait some time for an end that is lost, but not for events of what never became a turn", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    for (const status of ["cancelled", "dead", "late", "delivered"]) {
      const never = read([status])
      await vi.advanceTimersByTimeAsync(1)
      assert.deepEqual(await never, [`end ${status}`])
    }
    const isOverAfter = async (steps: ReadonlyArray<Step>, ms: number) => {
      let isOver = false
      const reading = read(steps).then((lines) => {
        isOver = true
        return lines
      })
      for (let index = 0; index < 20; index++) await tick()
      await vi.advanceTimersByTimeAsync(ms - 1)
      assert.isFalse(isOver)
      await vi.advanceTimersByTimeAsync(1)
      return await reading
    }
    assert.deepEqual(await isOverAfter(["completed"], 2_000), ["end completed"])
    assert.deepEqual(await isOverAfter([start, "cancelled"], 2_000), ["1 turn-start", "end cancelled"])
    assert.deepEqual(await isOverAfter([start, end("failed"), "completed"], 2_000), [
      "1 turn-start",
      "2 turn-end failed",
      "end completed"
    ])
    const all = read([start, end("completed"), "completed"])
    for (let index = 0; index < 20; index++) await tick()
    await vi.advanceTimersByTimeAsync(1)
    assert.deepEqual(await all, ["1 turn-start", "2 turn-end completed", "end completed"])
  })

  it("end without an outcome when the reader leaves", async () => {
    assert.deepEqual(await read([start, delta("a")], {}, AbortSignal.abort()), [])
    const abort = new AbortController()
    const [log, lines] = [[] as Array<string>, [] as Array<string>]
    for await (const item of follow(hostOf([start, delta("a")], log), part, abort.signal)) {
      lines.push(lineOf(item))
      if (lines.length === 2) setTimeout(() => abort.abort(), 1)
    }
    await tick()
    assert.deepEqual([lines, log], [["1 turn-start", "2 text-delta a"], ["result s k", "events s ", "left"]])
  })

  it("end with the error of an outcome that cannot be read", async () => {
    const error = await read([start, new Error("away")]).catch(String)
    assert.strictEqual(error, "Error: away")
    const events = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("lost")),
        return: () => Promise.reject(new Error("lost"))
      })
    })
    const host = { result: () => new Promise(() => {}), events } as unknown as Serve["host"]
    const lost = await follow({ host } as Serve, part, new AbortController().signal).next().catch(String)
    assert.strictEqual(lost, "Error: lost")
    const abort = new AbortController()
    const reading = follow({ host } as Serve, part, abort.signal).next().catch(String)
    abort.abort()
    assert.deepEqual(await reading, { done: true, value: undefined })
  })
})

describe("without what the reader has", () => {
  it("there are the ids of the events", async () => {
    const items: ReadonlyArray<Item> = [
      { type: "event", id: "1", event: { n: 1 } as unknown as AgentEvent, isKnown: true },
      { type: "event", id: "2", event: { n: 2 } as unknown as AgentEvent },
      { type: "end", outcome: outcomeOf("completed") }
    ]
    const given = async function*() {
      yield* items
    }
    const made: Array<unknown> = []
    const twice = async function*(all: AsyncIterable<Item>) {
      yield { first: true }
      for await (const { type } of all) yield* [{ type }, { type, again: true }]
    }
    for await (const one of withoutKnown(given(), twice)) made.push(one)
    assert.deepEqual(made, [
      { made: { first: true } },
      { made: { type: "event" }, from: "2" },
      { made: { type: "event", again: true }, from: "2" },
      { made: { type: "end" } },
      { made: { type: "end", again: true } }
    ])
  })
})
