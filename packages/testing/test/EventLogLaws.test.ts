/** The laws hold for an event log that keeps them, and name what is wrong with those that do not. */
import { type EventLog, inMemory } from "@belay/core/EventLog"
import * as EventLogLaws from "@belay/testing/EventLogLaws"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

const brokenBy = async (make: () => EventLog): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (const { name, run } of EventLogLaws.cases(async () => ({ log: make() }))) {
    await run().catch(() => broken.push(name))
  }
  return broken
}

const spoilt = (spoil: (log: EventLog) => Partial<EventLog>) => (): EventLog => {
  const log = inMemory()
  return { ...log, ...spoil(log) }
}

const bugs: ReadonlyArray<readonly [what: string, make: () => EventLog, caught: RegExp]> = [
  [
    "keeps the rows of earlier turns",
    spoilt(({ write }) => ({ write: (batches) => write(batches, { keepMs: 600_000 }) })),
    /rows before it are removed/
  ],
  [
    "removes rows too early",
    spoilt(({ write }) => ({ write: (batches) => write(batches, { keepMs: 0 }) })),
    /stay for as long/
  ],
  [
    "does not say that rows were removed",
    spoilt(({ read }) => ({ read: (...all) => Effect.map(read(...all), (page) => ({ ...page, removedTo: 0 })) })),
    /the log says so/
  ],
  [
    "ignores the end of a page",
    spoilt(({ read }) => ({ read: (id, options) => read(id, { ...options, limit: 100 }) })),
    /a page has the oldest rows/
  ],
  [
    "begins with the oldest row for a reader that knows nothing",
    spoilt(({ read }) => ({ read: (id, { after = 0, limit }) => read(id, { after, limit }) })),
    /stay for as long/
  ]
]

describe("EventLogLaws", () => {
  for (const { name, run } of EventLogLaws.cases(async () => ({ log: inMemory() }))) it(`in memory: ${name}`, run)

  it.each(bugs)("finds an event log that %s", async (_, make, caught) => {
    assert.isTrue((await brokenBy(make)).some((name) => caught.test(name)))
  })
})
