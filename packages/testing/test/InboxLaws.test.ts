/** The laws hold for an inbox that keeps them, and name what is wrong with those that do not. */
import { type Inbox, inMemory } from "@belay/core/Inbox"
import * as InboxLaws from "@belay/testing/InboxLaws"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

const brokenBy = async (make: () => Inbox): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (const { name, run } of InboxLaws.cases(async () => ({ inbox: make() }))) {
    await run().catch(() => broken.push(name))
  }
  return broken
}

const spoilt = (spoil: (inbox: Inbox) => Partial<Inbox>) => (): Inbox => {
  const inbox = inMemory()
  return { ...inbox, ...spoil(inbox) }
}

const bugs: ReadonlyArray<readonly [what: string, make: () => Inbox, caught: RegExp]> = [
  ["forgets keys of finished entries", () => {
    const inbox = inMemory()
    return { ...inbox, report: (...all) => Effect.tap(inbox.report(...all), inbox.prune(Infinity)) }
  }, /a key is added once/],
  [
    "does not count attempts",
    spoilt(({ begin }) => ({
      begin: (...all) => Effect.map(begin(...all), (entry) => entry && { ...entry, attempts: 1 })
    })),
    /begin counts attempts/
  ],
  ["ignores the capacity", spoilt(({ add }) => ({ add: (entry) => add(entry) })), /no more messages wait/],
  [
    "sorts by the due time",
    spoilt(({ open }) => ({ open: (id) => Effect.map(open(id), (all) => all.toSorted((a, b) => a.at - b.at)) })),
    /in the order in which they were added/
  ],
  [
    "begins pages anew",
    spoilt(({ due }) => ({
      due: ({ limit, until }) => due({ limit, until })
    })),
    /pages of due sessions/
  ]
]

describe("InboxLaws", () => {
  for (const { name, run } of InboxLaws.cases(async () => ({ inbox: inMemory() }))) it(`in memory: ${name}`, run)

  it.each(bugs)("finds an inbox that %s", async (_, make, caught) => {
    assert.isTrue((await brokenBy(make)).some((name) => caught.test(name)))
  })
})
