/** Events that are packed into rows of the log come out as they went in, from any number on. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "vitest"
import { eventsOf, makePacker, numberOf } from "../../../../src/host/internal/events/eventRow.ts"

type Told = { readonly seq: number; readonly type: string; readonly text?: string }

/** Deltas of texts and other events, in the order of their numbers, which have gaps. */
const eventsOfSeed = (seed: number): ReadonlyArray<Told> => {
  const { below, pick } = random(seed)
  let seq = 0
  return Array.from({ length: 1 + below(150) }, () => {
    seq += 1 + below(3)
    const type = pick(["text-delta", "text-delta", "text-delta", "reasoning-delta", "step-start"])
    return { sessionId: "s", seq, type, ...(type === "step-start" ? {} : { text: "x".repeat(1 + below(5)) }) }
  })
}

const textOf = (events: ReadonlyArray<Told>): string =>
  events.map(({ text, type }) => text === undefined ? `<${type}>` : text.replaceAll("x", type[0]!)).join("")

describe("the length of events", () => {
  it.each<[event: object, length: number]>([
    [{ type: "text-delta", text: "abc" }, 19],
    [{ type: "reasoning-delta", text: "" }, 16],
    [{ type: "tool-call-delta", argsText: "ab" }, 18],
    [{ type: "step-start" }, 300],
    [{ type: "notice", text: "abc" }, 303],
    [{ type: "tool-end", result: { ok: true, output: "abcd" } }, 304],
    [{ type: "tool-end", result: { ok: true, output: { a: "abcd" } } }, 300],
    [{ type: "tool-end", result: { ok: false, error: "abcd" } }, 300]
  ])("%j is estimated as %i", (event, length) => {
    const packer = makePacker()
    packer.add({ sessionId: "s", seq: 1, ...event } as unknown as AgentEvent, "k", false)
    packer.add({ sessionId: "s", seq: 5, ...event } as unknown as AgentEvent, "other", false)
    assert.deepEqual([packer.length, packer.count], [2 * length, 2])
  })
})

describe("rows of events", () => {
  it("have the numbers of their first and last event, and the events after any number", () => {
    for (let seed = 0; seed < 60; seed++) {
      const events = eventsOfSeed(seed)
      const packer = makePacker()
      for (const event of events) packer.add(event as unknown as AgentEvent, "k", false)
      const rows = packer.rows(false)
      assert.strictEqual(rows[0]?.first, events[0]?.seq, `seed ${seed}`)
      for (const row of rows) assert.include(events.map(({ seq }) => seq), row.first, `seed ${seed}`)
      for (const { seq: after } of [{ seq: 0 }, ...events]) {
        const left = rows.flatMap((row) => eventsOf(row, after) ?? assert.fail("a row cannot be read"))
        assert.strictEqual(
          textOf(left.map(({ event }) => event as Told)),
          textOf(events.filter(({ seq }) => seq > after)),
          `seed ${seed}, after ${after}`
        )
        assert.isTrue(left.every(({ event: { seq }, id, key }) => numberOf(id) === seq && key === "k"))
      }
    }
  })

  it("say that events are missing before the first one", () => {
    const packer = makePacker()
    for (const seq of [1, 2]) packer.add({ sessionId: "s", seq, type: "step-start" } as never, undefined, seq === 2)
    const [first, second] = packer.rows(true)
    assert.deepEqual([packer.count, first?.first, second?.first], [2, 1, 2])
    assert.deepEqual(eventsOf(first!, 0)?.map(({ key, missed }) => [key, missed]), [[undefined, true]])
    assert.deepEqual(eventsOf(second!, 0)?.map(({ missed }) => missed), [undefined])
  })

  it.for<unknown>([
    null,
    {},
    { events: 5 },
    { events: [null] },
    { events: [{ event: { type: "a" } }] },
    { events: [{ event: { type: "a", seq: 1.5 } }] },
    { events: [{ event: { type: "a", seq: 1, text: 5 } }] },
    { events: [{ event: { type: "a", seq: 1 }, parts: 5 }] },
    { events: [{ event: { type: "a", seq: 1 }, parts: [[1]] }] }
  ])("of another form are not read: %o", (body) => {
    assert.isUndefined(eventsOf({ first: 1, last: 1, body: body as null }, 0))
  })
})

describe("deltas of one call of a tool", () => {
  it("are one event, and those of another call or another session are not", () => {
    const pack = (...events: ReadonlyArray<object>) => {
      const packer = makePacker()
      for (const [index, event] of events.entries()) {
        packer.add({ sessionId: "s", seq: index + 1, ...event } as unknown as AgentEvent, "k", false)
      }
      return packer.rows(false).flatMap((row) => eventsOf(row, 0) ?? []).map(({ event }) => event)
    }
    const delta = { type: "tool-call-delta", id: "a", name: "x", argsText: "{" }
    const texts = (...events: ReadonlyArray<object>) => pack(...events).map((event) => Object(event).argsText)
    assert.deepEqual(texts(delta, { ...delta, argsText: "}" }), ["{}"])
    assert.deepEqual(texts(delta, { ...delta, id: "b" }), ["{", "{"])
    assert.deepEqual(texts(delta, { ...delta, name: "y" }), ["{", "{"])
    assert.deepEqual(texts(delta, { ...delta, sessionId: "t" }), ["{", "{"])
    assert.lengthOf(pack({ type: "text-delta", text: "a" }, { type: "reasoning-delta", text: "b" }), 2)
    assert.lengthOf(pack({ type: "notice", message: "a" }, { type: "notice", message: "a" }), 2)
    const [joined] = pack({ type: "text-delta", text: "a", time: 1 }, { type: "text-delta", text: "b", time: 2 })
    assert.deepInclude(joined, { text: "ab", seq: 2, time: 2 })
  })

  it("are read from any number on without what came before", () => {
    const packer = makePacker()
    for (const [index, argsText] of ["ab", "cd", "ef"].entries()) {
      const event = { sessionId: "s", seq: index + 1, type: "tool-call-delta", id: "a", name: "x", argsText }
      packer.add(event as unknown as AgentEvent, "k", false)
    }
    const [row] = packer.rows(false)
    const after = (seq: number) => eventsOf(row!, seq)?.map(({ event }) => Object(event).argsText)
    assert.deepEqual([0, 1, 2, 3].map(after), [["abcdef"], ["cdef"], ["ef"], []])
  })
})
