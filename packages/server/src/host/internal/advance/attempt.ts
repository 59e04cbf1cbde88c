/** Counts how often a turn was begun, and gives its message up if that never helps. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { AgentSession } from "@belay/core/createAgent"
import * as Deadline from "@belay/core/Deadline"
import type { Entry } from "@belay/core/Inbox"
import type { RunState } from "@belay/core/RunState"
import * as Effect from "effect/Effect"
import { report, type Site } from "../site/site.ts"
import { isOutage } from "./errors.ts"
import { type SeenProgress, seenProgress } from "./progress.ts"

/** Where an attempt is made. */
interface At {
  readonly site: Site
  readonly session: AgentSession
  readonly state: RunState | undefined
}

/** How often a turn is begun without progress before it is a suspect. */
const trusted = 2

/** After what time a suspect asks again, in milliseconds. Those that get room are woken at once. */
const askAgainMs = 1_000

/** Counts an attempt, and runs the turn unless there were too many without progress. */
export const attempt = Effect.fnUntraced(function*<A>(
  at: At,
  entry: Entry,
  turn: Effect.Effect<A, unknown>
): Effect.fn.Return<A | "again" | "stop", unknown> {
  const { site, state } = at
  const seen = withoutOutages(site, entry, seenProgress(entry, state))
  const tries = entry.attempts - seen.attempts
  const isSuspect = tries >= trusted && tries < site.maxAttempts
  if (isSuspect) {
    if (!site.suspects.begins(entry.sessionId, tries === site.maxAttempts - 1, yield* Deadline.now)) {
      yield* site.engine.wake(entry.sessionId, (yield* site.time) + askAgainMs)
      return "stop"
    }
  }
  const counted = Effect.gen(function*() {
    const begun = yield* site.inbox.begin(entry.sessionId, entry.key)
    if (begun === undefined || (yield* isDead(site, begun, seen))) return "again"
    return yield* Effect.tapError(turn, (error) => Effect.sync(() => noteOutage(site, entry, error)))
  })
  return yield* isSuspect ? watched(at, entry, counted) : counted
})

/** Runs the turn of a suspect. Others get its place when it has got further. */
const watched = <A>({ session, site }: At, { sessionId }: Entry, turn: Effect.Effect<A, unknown>) =>
  Effect.suspend(() => {
    const settle = Effect.suspend(() =>
      Effect.forEach(site.suspects.settle(sessionId), (id) => Effect.ignore(site.engine.wake(id)), { discard: true })
    )
    const stop = session.on(({ type }) => {
      if (isProgress.has(type)) Effect.runFork(settle)
    })
    return Effect.ensuring(turn, Effect.andThen(Effect.sync(stop), settle))
  })

const isProgress: ReadonlySet<AgentEvent["type"]> = new Set(["llm-end", "tool-end"])

/** Gives the entry up if it was begun too often since the turn has made progress. */
const isDead = Effect.fnUntraced(function*(
  site: Site,
  begun: Entry,
  seen: SeenProgress
): Effect.fn.Return<boolean, unknown> {
  const { key, sessionId } = begun
  const attempts = begun.attempts - 1 - seen.attempts
  if (attempts < site.maxAttempts) {
    if (attempts > 0) site.counters.retries++
    if (seen.isNew) {
      const { attempts, progress } = seen
      yield* Effect.tapError(
        site.inbox.report(sessionId, key, "begun", { attempts, progress }),
        (error) => Effect.sync(() => noteOutage(site, begun, error))
      )
      site.outages.delete(nameOf(begun))
    }
    return false
  }
  site.counters.dead++
  const reason = `it was begun ${attempts} times, and each time the process ended or the store failed` +
    `${seen.progress.length > 0 ? " before the turn got any further" : ""}. ` +
    "Look for what ends the process, and send the message again with another key"
  yield* report(site, begun, { status: "dead", attempts, reason })
  return true
})

const nameOf = ({ key, sessionId }: Entry): string => `${sessionId} ${key}`

/** Attempts that ended because the store was away do not count. */
const withoutOutages = ({ outages }: Site, entry: Entry, seen: SeenProgress): SeenProgress => {
  const away = outages.get(nameOf(entry)) ?? 0
  return away === 0 || seen.isNew ? seen : { ...seen, attempts: seen.attempts + away, isNew: true }
}

const noteOutage = ({ outages }: Site, entry: Entry, error: unknown): void => {
  if (isOutage(error)) outages.set(nameOf(entry), (outages.get(nameOf(entry)) ?? 0) + 1)
}
