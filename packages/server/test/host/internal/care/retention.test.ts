/** Which sessions, messages and events a host removes, and how often it looks. */
import { assert, it as effect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { describe, it } from "vitest"
import { keepRetaining, readRetention, type Retention } from "../../../../src/host/internal/care/retention.ts"

interface Stored {
  readonly id: string
  readonly status: string
  readonly updatedAt: number
  /** The session in which the conversation goes on. */
  readonly to?: string
}

/** Stores that note what is asked of them. */
const stores = (all: ReadonlyArray<Stored> = [], open: ReadonlyArray<string> = []) => {
  const log: Array<string> = []
  let left = all
  const note = <A>(line: string, value: A) => Effect.sync(() => (log.push(line), value))
  const sessions = {
    list: ({ before, ids, limit }: {
      readonly before: number
      readonly ids?: ReadonlyArray<string>
      readonly limit: number
    }) =>
      Effect.suspend(() => {
        if (ids !== undefined) return Effect.succeed(left.filter(({ id }) => ids.includes(id)))
        const found = left.filter(({ updatedAt }) => updatedAt < before).toSorted((a, b) => b.updatedAt - a.updatedAt)
        return note(`list before ${before}, ${limit}`, found.slice(0, limit))
      }),
    load: (id: string) =>
      Effect.suspend(() => {
        const one = left.find((one) => one.id === id)
        return Effect.succeed({
          sessionId: id,
          ...(one?.to === undefined ? {} : { movedTo: { from: id, to: one.to } })
        })
      }),
    remove: (id: string) =>
      Effect.sync(() => {
        left = left.filter((one) => one.id !== id)
      })
  }
  const inbox = {
    open: (id: string) => Effect.sync(() => open.includes(id) ? [{}] : []),
    prune: (before: number) => note(`messages before ${before}`, 0)
  }
  const events = { prune: (before: number) => note(`events before ${before}`, undefined) }
  return { log, store: { sessions, events } as never, inbox, left: () => left.map(({ id }) => id), sessions }
}

const keep = (made: ReturnType<typeof stores>, retention: Retention, now: number) => {
  const { inbox, sessions, store } = made
  const time = Effect.succeed(now)
  return keepRetaining({ inbox, sessions, time } as never, readRetention(retention, store))
}

const hour = 3_600_000

describe("what is kept for a time", () => {
  effect.effect("is looked at once a minute, by its age", () =>
    Effect.gen(function*() {
      const made = stores()
      yield* Effect.forkChild(
        keep(made, { events: "2 hours", messages: "1 hour", sessions: "3 hours" }, 3 * hour + 7)
      )
      yield* TestClock.adjust("59999 millis")
      const first = [`list before 7, 100`, `messages before ${2 * hour + 7}`, `events before ${hour + 7}`]
      assert.deepEqual(made.log, first)
      yield* TestClock.adjust("1 millis")
      assert.deepEqual(made.log, [...first, ...first])
    }))

  effect.effect("of a kind that is left out is not looked at", () =>
    Effect.gen(function*() {
      const made = stores()
      yield* Effect.forkChild(keep(made, { messages: 5 }, 105))
      yield* TestClock.adjust("1 millis")
      assert.deepEqual(made.log, ["messages before 100"])
    }))

  effect.effect(
    "is removed page by page: old sessions that are idle and have nothing open",
    () =>
      Effect.gen(function*() {
        const all = Array.from({ length: 250 }, (_, n) => ({
          id: `s${n}`,
          status: n % 10 === 1 ? "suspended" : "idle",
          updatedAt: n
        }))
        const made = stores(all, ["s2", "s122"])
        yield* Effect.forkChild(keep(made, { sessions: 10 }, 258))
        yield* TestClock.adjust("1 millis")
        const kept = [
          ...all.filter(({ status }) => status !== "idle").map(({ id }) => id),
          "s2",
          "s122",
          "s248",
          "s249"
        ]
        assert.sameMembers(made.left() as Array<string>, kept)
        assert.deepEqual(made.log, ["list before 248, 100", "list before 148, 100", "list before 48, 100"])
      })
  )

  effect.effect(
    "stays with the session in which its conversation goes on after a rotation",
    () =>
      Effect.gen(function*() {
        const old = (id: string, to?: string) => ({
          id,
          status: "idle",
          updatedAt: 1,
          ...(to === undefined ? {} : { to })
        })
        const all = [
          old("young", "young-r2"),
          old("young-r2", "young-r3"),
          { ...old("young-r3"), updatedAt: 250 },
          old("asks", "asks-r2"),
          { ...old("asks-r2"), status: "suspended" },
          old("queued", "queued-r2"),
          old("queued-r2"),
          old("done", "done-r2"),
          old("done-r2"),
          old("same"),
          { ...old("same-r2"), updatedAt: 250 },
          { ...old("lost", "lost-r2"), status: "idle" },
          old("copy", "other-r2")
        ]
        const made = stores(all, ["queued"])
        yield* Effect.forkChild(keep(made, { sessions: 10 }, 258))
        yield* TestClock.adjust("1 millis")
        const kept = [
          "young",
          "young-r2",
          "young-r3",
          "asks",
          "asks-r2",
          "queued",
          "queued-r2",
          "same-r2"
        ]
        assert.sameMembers(made.left() as Array<string>, kept)
      })
  )

  effect.effect("is removed if it cannot be read, with what is older", () =>
    Effect.gen(function*() {
      const made = stores([
        { id: "bad", status: "idle", updatedAt: 2 },
        { id: "bad-r2", status: "idle", updatedAt: 250 },
        { id: "old", status: "idle", updatedAt: 1 }
      ])
      const load = () => Effect.fail("it cannot be read")
      yield* Effect.forkChild(
        keep({ ...made, sessions: { ...made.sessions, load } as never }, { sessions: 10 }, 258)
      )
      yield* TestClock.adjust("1 millis")
      assert.deepEqual(made.left(), ["bad-r2"])
    }))

  effect.effect("is looked at again after the store has failed, and a warning says so", () =>
    Effect.gen(function*() {
      const said: Array<unknown> = []
      const logger = Logger.make<unknown, void>(({ message }) => void said.push(message))
      const made = stores()
      let isAway = true
      const prune = made.inbox.prune
      const inbox = { ...made.inbox, prune: (before: number) => isAway ? Effect.die("away") : prune(before) }
      const work = keep({ ...made, inbox } as never, { messages: 5 }, 105)
      yield* Effect.forkChild(Effect.provide(work, Logger.layer([logger])))
      yield* TestClock.adjust("1 millis")
      assert.deepEqual(made.log, [])
      assert.include(JSON.stringify(said), "what is too old could not be removed")
      isAway = false
      yield* TestClock.adjust("1 minute")
      assert.deepEqual(made.log, ["messages before 100"])
    }))
})

describe("the option of what is kept", () => {
  const { store } = stores()
  const { events, sessions } = store as unknown as { readonly [part: string]: object }
  const read = (retention: object, given: object = store) => () => readRetention(retention as never, given as never)
  const cannot = "expected a duration longer than 0, and a store that can remove this, such as a SqliteStore"

  it("names the kind for which there is a wrong age", () => {
    for (const kind of ["sessions", "messages", "events"]) {
      assert.throws(read({ [kind]: 0 }), `host.retention.${kind}: ${cannot}`)
      assert.throws(read({ [kind]: "soon" }), `host.retention.${kind}: `)
      assert.deepEqual(read({ [kind]: 1 })().map(({ ageMs }) => ageMs), [1])
      assert.deepEqual(read({ [kind]: undefined })(), [])
    }
    assert.throws(read({ session: 1 }), "did you mean \"sessions\"?")
    assert.deepEqual(read({})(), [])
  })

  it("names what the store cannot remove", () => {
    assert.throws(read({ events: 1 }, { sessions }), `host.retention.events: ${cannot}`)
    for (const method of ["list", "remove"]) {
      const poor = { events, sessions: { ...sessions, [method]: undefined } }
      assert.throws(read({ sessions: 1 }, poor), `host.retention.sessions: ${cannot}`)
      assert.lengthOf(read({ events: 1, messages: 1 }, poor)(), 2)
    }
  })
})
