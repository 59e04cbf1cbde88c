/** Says of each session with something unfinished what it waits for, for people who look after a host. */
import { type Entry, isMessage } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import * as Outcome from "../../Outcome.ts"
import { clockErrorMs } from "../site/addEntry.ts"
import type { Site } from "../site/site.ts"
import { careOf } from "./care.ts"

/**
 * What is with a session that has something unfinished, the first that holds:
 * - `dead`: one of its messages was given up
 * - `stuck`: nothing has happened for longer than `stuckMs`, although something is due
 * - `busy`: its turn runs, or was left by a process that ended
 * - `waiting`: it waits for people, for a process, or for a time
 *
 * @category models
 */
export type SessionState = "dead" | "stuck" | "busy" | "waiting"

/** A session with something unfinished. @category models @since 0.1.0 */
export interface SessionOverview {
  readonly id: string
  readonly state: SessionState
  /** What it waits for, or what has happened. */
  readonly why: string
  /** Since when, in milliseconds since the epoch. */
  readonly since: number
  /** What was sent and is not finished, and what is dead, in the order in which it was added. */
  readonly entries: ReadonlyArray<Pick<Entry, "key" | "kind" | "status" | "attempts">>
  /** The release that it is pinned to. */
  readonly release?: string
}

/** Options of `overview`. @category models @since 0.1.0 */
export interface OverviewOptions {
  /** Only sessions with this state. Default: all. */
  readonly state?: SessionState
  /** After what time without anything happening a session is stuck, in milliseconds. Default 300,000. */
  readonly stuckMs?: number
  /** How many messages of each status are looked at, the oldest first. Default 1,000. */
  readonly limit?: number
}

export const overviewOf = Effect.fnUntraced(function*(
  site: Site,
  { limit = 1_000, state, stuckMs = 300_000 }: OverviewOptions
): Effect.fn.Return<ReadonlyArray<SessionOverview>, unknown> {
  const { list } = yield* careOf(site.inbox)
  const now = yield* site.time
  const found = yield* Effect.forEach(
    ["dead", "suspended", "begun", "waiting"] as const,
    (status) => list({ status, limit })
  )
  const sessions = Map.groupBy(found.flat(), ({ sessionId }) => sessionId)
  const begun = [...sessions].filter(([, entries]) => entries.some(hasBegun)).map(([id]) => id)
  const stored = begun.length === 0
    ? []
    : yield* site.sessions.list?.({ ids: begun, limit: begun.length }) ?? Effect.succeed([])
  const changed = new Map(stored.map(({ id, updatedAt }) => [id, updatedAt]))
  const all = [...sessions].map(([id, entries]): SessionOverview => {
    const sorted = entries.toSorted((a, b) => a.seq - b.seq)
    // All entries of a session have the same one.
    const { release } = sorted[0]!
    return {
      id,
      ...judge(sorted, changed.get(id), now, stuckMs),
      entries: sorted.map(entryOf),
      ...(release === undefined ? {} : { release })
    }
  })
  return all.filter((one) => state === undefined || one.state === state)
    .sort((a, b) => order[a.state] - order[b.state] || a.since - b.since)
})

const order: { readonly [S in SessionState]: number } = { dead: 0, stuck: 1, waiting: 2, busy: 3 }

const entryOf = ({ attempts, key, kind, outcome, status }: Entry): SessionOverview["entries"][number] => {
  const known = Outcome.fromJson(outcome)
  // What gives a message up begins it once more, and runs nothing.
  return { key, kind, status, attempts: known?.status === "dead" ? known.attempts : attempts }
}

const hasBegun = ({ status }: Entry): boolean => status === "begun" || status === "suspended"

type Judged = Pick<SessionOverview, "state" | "why" | "since">

const judge = (
  entries: ReadonlyArray<Entry>,
  changedAt: number | undefined,
  now: number,
  stuckMs: number
): Judged => {
  const dead = entries.find(({ status }) => status === "dead")
  if (dead !== undefined) {
    const outcome = Outcome.fromJson(dead.outcome)
    const why = outcome?.status === "dead" ? outcome.reason : "it was given up"
    return { state: "dead", why: `${dead.key}: ${why}`, since: dead.at }
  }
  const asking = entries.find(({ status }) => status === "suspended")
  // Only these can happen while people are asked.
  const answers = entries.filter((entry) => !isMessage(entry))
  if (asking !== undefined && answers.length === 0) return waitsForPeople(asking, changedAt)
  const begun = entries.find(({ status }) => status === "begun")
  if (begun !== undefined) {
    const since = Math.max(begun.at, changedAt ?? begun.at)
    return now - since < stuckMs
      ? { state: "busy", why: `the turn of ${begun.key} runs`, since }
      : { state: "stuck", why: `the turn of ${begun.key} has stored nothing since then`, since }
  }
  // Each session of this list has at least one entry.
  const next = (asking === undefined ? entries : answers).reduce((first, one) => one.at < first.at ? one : first)
  if (next.at > now) return { state: "waiting", why: `${next.key} is due later`, since: next.at }
  const since = Math.min(now, next.at + clockErrorMs)
  const pinned = next.release === undefined ? "" : `, and the session is pinned to the release ${next.release}`
  return now - since < stuckMs
    ? { state: "waiting", why: `${next.key} is due`, since }
    : { state: "stuck", why: `no process has begun ${next.key}${pinned}`, since }
}

const waitsForPeople = ({ at, outcome }: Entry, changedAt: number | undefined): Judged => {
  const known = Outcome.fromJson(outcome)
  const tools = known?.status === "suspended" ? known.pending.map(({ tool }) => tool) : []
  const about = tools.length === 0 ? "" : `, about ${tools.join(", ")}`
  return { state: "waiting", why: `it waits for people${about}`, since: changedAt ?? at }
}
