/** How attempts of a turn are counted, and what is said when there were too many. */
import { PortFailed } from "@belay/core/AgentError"
import type { Entry } from "@belay/core/Inbox"
import { StoreError } from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { attempt } from "../../../../src/host/internal/advance/attempt.ts"
import { newCounters } from "../../../../src/host/internal/site/counters.ts"
import { Suspects } from "../../../../src/host/internal/site/suspects.ts"

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
    outages: new Map(),
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
    const seen = { progress: [2, 0], attempts: 4 }
    assert.deepEqual(await begin(6, seen), { result: "ran", reported: [], dead: 0, retries: 1 })
    assert.deepEqual(await begin(7, seen), {
      result: "again",
      reported: [dead(3, " before the turn got any further")],
      dead: 1,
      retries: 0
    })
  })

  it("counts from the last progress on, which is stored", async () => {
    assert.deepEqual(await begin(7, { progress: [2, 0], attempts: 4 }, turn(3)), {
      result: "ran",
      reported: [["begun", { attempts: 7, progress: [3, 0] }]],
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

  it("does not count if the store was away, and that is stored as soon as it can be", async () => {
    const full = new StoreError({ path: "p", problem: "full", message: "m" })
    const failed = new StoreError({ path: "p", problem: "failed", message: "m" })
    const lost = new PortFailed({ port: "store", message: "m", cause: full })
    let entry = { sessionId: "s", key: "k", status: "begun", attempts: 0, outcome: null } as unknown as Entry
    let fails: "begin" | "report" | undefined
    const site = {
      inbox: {
        begin: () => {
          if (fails === "begin") return Effect.fail(full)
          entry = { ...entry, attempts: entry.attempts + 1 }
          return Effect.succeed(entry)
        },
        report: (...[, , status, outcome]: ReadonlyArray<unknown>) => {
          if (fails === "report") return Effect.fail(full)
          entry = { ...entry, status, outcome } as Entry
          return Effect.void
        }
      },
      engine: { wake: () => Effect.void },
      suspects: new Suspects(),
      outages: new Map(),
      time: Effect.succeed(0),
      listeners: new Map(),
      maxAttempts: 3,
      counters: newCounters()
    }
    const at = { site, session: { on: () => () => {} }, state: undefined } as never
    const tryWith = (turn: Effect.Effect<string, unknown>) =>
      Effect.runPromise(Effect.match(attempt(at, entry, turn), { onFailure: () => "failed", onSuccess: String }))
    for (const error of [full, lost, full, lost]) assert.strictEqual(await tryWith(Effect.fail(error)), "failed")
    for (fails of ["begin", "report", "begin", "report"] as const) {
      assert.strictEqual(await tryWith(Effect.succeed("ran")), "failed")
    }
    fails = undefined
    assert.strictEqual(await tryWith(Effect.succeed("ran")), "ran")
    assert.deepEqual([entry.attempts, entry.outcome], [7, { attempts: 6, progress: [] }])
    assert.strictEqual(site.outages.size, 0)
    // Other errors of a store count.
    for (const _ of [1, 2]) assert.strictEqual(await tryWith(Effect.fail(failed)), "failed")
    assert.strictEqual(await tryWith(Effect.succeed("ran")), "again")
    assert.strictEqual(entry.status, "dead")
  })
})
