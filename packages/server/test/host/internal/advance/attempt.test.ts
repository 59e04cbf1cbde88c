/** How attempts of a turn are counted, and what is said when there were too many. */
import type { Entry } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { attempt } from "../../../../src/host/internal/advance/attempt.ts"
import { Suspects } from "../../../../src/host/internal/advance/suspects.ts"
import { newCounters } from "../../../../src/host/internal/care/counters.ts"

/** Begins a turn of a message that was begun so often. `seen` is how far it had got, and after how many attempts. */
const begin = async (attempts: number, seen?: object, state?: object, isThere = true) => {
  const reported: Array<unknown> = []
  const counters = newCounters()
  const entry = { sessionId: "s", key: "k", status: "begun", attempts, outcome: seen ?? null } as unknown as Entry
  const site = {
    inbox: {
      begin: () => Effect.succeed(isThere ? { ...entry, attempts: attempts + 1 } : undefined),
      report: (...args: ReadonlyArray<unknown>) => Effect.sync(() => void reported.push(args.slice(2)))
    },
    engine: { wake: () => Effect.void },
    suspects: new Suspects(),
    time: Effect.succeed(0),
    listeners: new Map(),
    maxAttempts: 3,
    counters
  }
  const session = { on: () => () => {} }
  const at = { site, session, state } as never
  const result = await Effect.runPromise(attempt(at, entry, Effect.succeed("ran")))
  const { dead, retries } = counters
  return { result, reported, dead, retries }
}

const turn = (llmCalls: number) => ({ input: { key: "k" }, counts: { llmCalls }, calls: [] })
const reason = (attempts: number, more: string) =>
  `it was begun ${attempts} times, and each time the process ended or the store failed${more}. ` +
  "Look for what ends the process, and send the message again with another key"
const dead = (attempts: number, more: string) => ["dead", { status: "dead", attempts, reason: reason(attempts, more) }]

describe("an attempt", () => {
  it("runs the turn, and counts from the second one on", async () => {
    assert.deepEqual(await begin(0), { result: "ran", reported: [], dead: 0, retries: 0 })
    assert.deepEqual(await begin(1), { result: "ran", reported: [], dead: 0, retries: 1 })
    assert.deepEqual(await begin(2), { result: "ran", reported: [], dead: 0, retries: 1 })
  })

  it("that is one too many gives the message up, and says whether the turn had got any further", async () => {
    assert.deepEqual(await begin(3), { result: "again", reported: [dead(3, "")], dead: 1, retries: 0 })
    const seen = { progress: 2, attempts: 4 }
    assert.deepEqual(await begin(6, seen), { result: "ran", reported: [], dead: 0, retries: 1 })
    assert.deepEqual(await begin(7, seen), {
      result: "again",
      reported: [dead(3, " before the turn got any further")],
      dead: 1,
      retries: 0
    })
  })

  it("counts from the last progress on, which is stored", async () => {
    assert.deepEqual(await begin(7, { progress: 2, attempts: 4 }, turn(3)), {
      result: "ran",
      reported: [["begun", { attempts: 7, progress: 3 }]],
      dead: 0,
      retries: 0
    })
  })

  it("does nothing for a message that has gone", async () => {
    assert.deepEqual(await begin(0, undefined, undefined, false), {
      result: "again",
      reported: [],
      dead: 0,
      retries: 0
    })
  })
})
