/** The laws of event logs. */
import { type EventBatch, type EventLog, type EventRow, inMemory } from "@belay/core/EventLog"
import * as Effect from "effect/Effect"
import { random } from "../../SeededRandom.ts"
import { holds, type Law, same } from "./law.ts"

interface Subject {
  readonly log: EventLog
  readonly reopen?: () => Promise<EventLog> | EventLog
  readonly dispose?: () => Promise<void> | void
}

const run = Effect.runPromise

const row = (last: number, first = last): EventRow => ({ first, last, body: { text: `event ${last}` } })

const batch = (rows: EventBatch["rows"], begins?: number, sessionId = "s"): EventBatch => ({
  sessionId,
  rows,
  ...(begins === undefined ? {} : { begins })
})

const write = (log: EventLog, ...batches: ReadonlyArray<EventBatch>) => run(log.write(batches, { keepMs: 0 }))

const read = (log: EventLog, after?: number, limit = 100, sessionId = "s") =>
  run(log.read(sessionId, { limit, ...(after === undefined ? {} : { after }) }))

const numbers = async (log: EventLog, after?: number, limit = 100) =>
  (await read(log, after, limit)).rows.map(({ last }) => last)

/** One law: its name, and what it checks. */
type EventLogLaw = readonly [name: string, prove: (log: EventLog, subject: Subject) => Promise<void>]

const laws: ReadonlyArray<EventLogLaw> = [
  ["rows are returned as they were written, in every process", async (log, subject) => {
    const other = await subject.reopen?.() ?? log
    const body = { text: "a\0\ud800 👋", list: [1, null, { deep: true }] }
    const rows = [{ first: 1, last: 7, body }, { first: 8, last: 3_000_000_000_000, body: "x" }] as const
    await write(log, batch(rows, 1))
    same(await read(other, 0), { rows, removedTo: 0 }, "the rows")
    same(await read(other, 0, 100, "unknown"), { rows: [], removedTo: 0 }, "a session without events")
  }],
  ["a page has the oldest rows that end after an event", async (log) => {
    await write(log, batch([row(3, 1), row(5, 4), row(9, 6)], 1))
    same(await numbers(log, 0), [3, 5, 9], "after nothing")
    same(await numbers(log, 0, 2), [3, 5], "the first page")
    same(await numbers(log, 5, 2), [9], "the next page")
    same(await numbers(log, 4), [5, 9], "after an event within a row")
    same(await numbers(log, 9), [], "after the last event")
  }],
  ["a row that is written again is there once", async (log) => {
    await write(log, batch([row(1), row(2)], 1))
    await write(log, batch([row(2), row(3)]))
    same(await numbers(log, 0), [1, 2, 3], "the rows")
  }],
  ["rows of a process that is late are before those of the others", async (log) => {
    await write(log, batch([row(1)], 1))
    await write(log, batch([row(100)]))
    await write(log, batch([row(2)], 1))
    same(await numbers(log), [1, 2, 100], "the rows")
    same((await read(log)).removedTo, 0, "what was removed")
  }],
  ["when a turn begins, the rows before it are removed, and the log says so", async (log) => {
    await write(log, batch([row(1), row(4)], 1))
    same((await read(log)).removedTo, 0, "what was removed before")
    await write(log, batch([row(5), row(9), row(12)], 9))
    same(await read(log, 0), { rows: [row(5), row(9), row(12)], removedTo: 4 }, "the next turn")
    same(await numbers(log), [9, 12], "what a reader gets that knows nothing")
    await write(log, batch([row(20)], 20))
    same(await read(log, 0), { rows: [row(20)], removedTo: 12 }, "the turn after that")
  }],
  ["rows of an earlier turn stay for as long as the writer asks", async (log) => {
    await write(log, batch([row(1)], 1))
    await run(log.write([batch([row(2)], 2)], { keepMs: 600_000 }))
    await write(log, batch([row(3)]))
    same(await numbers(log, 0), [1, 2, 3], "the rows")
    same(await numbers(log), [2, 3], "what a reader gets that knows nothing")
  }],
  ["a log that knows nothing of what was before counts it as removed", async (log) => {
    await write(log, batch([row(30)], 30))
    same((await read(log, 3)).removedTo, 29, "what was removed")
  }],
  ["sessions are independent, also if they are written together", async (log) => {
    await write(log, batch([row(1)], 1, "a"), batch([row(2)], 2, "b"))
    await write(log, batch([row(5)], 5, "b"))
    same([await read(log, 0, 9, "a"), await read(log, 0, 9, "b")], [
      { rows: [row(1)], removedTo: 0 },
      { rows: [row(5)], removedTo: 2 }
    ], "the two sessions")
  }],
  ["prune removes the sessions that were written last before a time", async (log) => {
    await write(log, batch([row(1)], 1, "a"), batch([row(2)], 2, "b"))
    same(await run(log.prune(0)), 0, "how many are older than everything")
    same(await run(log.prune(Number.MAX_SAFE_INTEGER)), 2, "how many were removed")
    same(await read(log, 0, 9, "a"), { rows: [], removedTo: 0 }, "the session")
  }],
  ["many writers at once lose nothing", async (log, subject) => {
    const other = await subject.reopen?.() ?? log
    await Promise.all(Array.from({ length: 20 }, (_, index) => {
      const rows = [row(index + 1)] as const
      return write(index % 2 ? log : other, batch(rows, undefined, "a"), batch(rows, undefined, "b"))
    }))
    const expected = Array.from({ length: 20 }, (_, index) => index + 1)
    for (const id of ["a", "b"]) {
      same((await read(other, 0, 100, id)).rows.map(({ last }) => last), expected, `the rows of ${id}`)
    }
  }],
  ["it does the same as the log in memory", async (log) => {
    for (let seed = 1; seed <= 8; seed++) await compare(log, seed)
  }]
]

/** Does the same at random with a log in memory, and compares what both return. */
const compare = async (log: EventLog, seed: number): Promise<void> => {
  const { below } = random(seed)
  const model = inMemory()
  const id = `seed-${seed}`
  let last = 0
  for (let step = 0; step < 40; step++) {
    const first = last + 1 + below(3)
    last = first + below(4)
    const next = row(last + 1 + below(3))
    const begins = below(4) === 0 ? [first, next.first][below(2)] : undefined
    const one = batch(below(2) === 0 ? [row(last, first)] : [row(last, first), next], begins, id)
    last = Math.max(...one.rows.map((row) => row.last))
    for (const target of [log, model]) await write(target, one)
    const after = below(3) === 0 ? undefined : below(last + 2)
    const limit = 1 + below(5)
    const [found, expected] = [await read(log, after, limit, id), await read(model, after, limit, id)]
    same(found, expected, `seed ${seed}, step ${step}, after ${String(after)}`)
  }
  holds((await read(log, 0, 100, id)).rows.length > 0, "there are rows in the end")
}

/** Returns the laws for event logs that `make` creates. */
export const eventLogLaws = (make: () => Promise<Subject>): ReadonlyArray<Law> =>
  laws.map(([name, prove]) => ({
    name: `event log: ${name}`,
    run: async () => {
      const subject = await make()
      try {
        await prove(subject.log, subject)
      } finally {
        await subject.dispose?.()
      }
    }
  }))
