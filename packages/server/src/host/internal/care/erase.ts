/** Erases what the stores have about a session or a person. */
import type { Erased, Erasure, Target } from "@belay/core/Erasure"
import * as Effect from "effect/Effect"
import { HostError } from "../../HostError.ts"
import { addingCancellation } from "../site/addEntry.ts"
import { prefixOf } from "../site/principal.ts"
import { checkSessionId, stored, wrongInput } from "../site/readInput.ts"
import type { Site } from "../site/site.ts"

/** What to erase. @category models @since 0.1.0 */
export type EraseTarget =
  /** The id of a session. Those in which a rotation has continued it are erased too. */
  | { readonly session: string }
  /** A person: the sessions that were served for this principal, and those that got messages with this `tenant`. */
  | { readonly principal: string }

/** What was erased, for the person who asked for it. It has no content. @category models @since 0.1.0 */
export interface EraseReceipt extends Omit<Erased, "sessions"> {
  /** The ids of the sessions, with those that had only messages waiting. */
  readonly sessions: ReadonlyArray<string>
  /** When it was done, in milliseconds since the epoch. */
  readonly at: number
  /**
   * Sessions whose turns did not stop in time, because their process is frozen or gone. They are erased, and nothing
   * that such a process still does is stored in them. What it spends may open an account with a name of the person:
   * erase again when it has ended.
   */
  readonly running: ReadonlyArray<string>
}

/** Cancels what runs, and erases. */
export const eraseAll = (
  site: Site,
  erasure: Erasure | undefined,
  target: EraseTarget,
  withinMs: number
): Effect.Effect<EraseReceipt, HostError> =>
  Effect.gen(function*() {
    if (erasure === undefined) {
      const message =
        "the store of this host cannot erase: use a SqliteStore or a PostgresStore, or a store that has " +
        "`erasure`"
      return yield* new HostError({ problem: "store", message })
    }
    const wanted = yield* Effect.promise(() => targetOf(target))
    const found = yield* stored(erasure.find(wanted))
    const running = yield* stored(stopAll(site, found, withinMs))
    // What is written later would belong to a new session with the id.
    yield* Effect.raceFirst(Effect.forEach(found, site.feed.flush, { discard: true }), Effect.sleep(withinMs))
    const names = isSession(target) ? [target.session] : [target.principal]
    const erased = yield* stored(erasure.erase(found, [...names, ...found]))
    return { ...erased, sessions: [...found].sort(), at: yield* site.time, running }
  })

const targetOf = async (target: EraseTarget): Promise<Target> =>
  isSession(target) ? target : { prefix: await prefixOf(target.principal), tenant: target.principal }

/** In JavaScript, the other one may be there and `undefined`. */
const isSession = (target: EraseTarget): target is { readonly session: string } =>
  "session" in target && target.session !== undefined

/** Cancels the turns that run, in this process or another. Returns the sessions that did not stop in time. */
const stopAll = Effect.fnUntraced(function*(site: Site, ids: ReadonlyArray<string>, withinMs: number) {
  const end = performance.now() + withinMs
  for (const sessionId of ids) yield* cancelBegun(site, sessionId)
  let left = ids
  while (true) {
    left = yield* Effect.filter(left, (sessionId) => isRunning(site, sessionId))
    if (left.length === 0 || performance.now() >= end) return left
    yield* Effect.sleep(Math.min(site.pollMs, 100))
  }
})

const begunIn = ({ inbox }: Site, sessionId: string) =>
  Effect.map(inbox.open(sessionId), (entries) => entries.filter(({ status }) => status === "begun"))

const isRunning = (site: Site, sessionId: string): Effect.Effect<boolean, unknown> =>
  site.running.has(sessionId)
    ? Effect.succeed(true)
    : Effect.map(begunIn(site, sessionId), (begun) => begun.length > 0)

const cancelBegun = Effect.fnUntraced(function*(site: Site, sessionId: string) {
  const cancel = addingCancellation(site)
  // A session whose turn cannot be cancelled counts as running.
  for (const { key } of yield* begunIn(site, sessionId)) yield* Effect.ignore(cancel(sessionId, key))
})

/** Returns how long to wait for turns that run. */
export const readErasing = (
  target: EraseTarget,
  options: { readonly withinMs?: number }
): Effect.Effect<number, HostError> => {
  const given = Object(target) as { readonly session?: unknown; readonly principal?: unknown }
  const unknown = Object.keys(Object(options)).find((key) => key !== "withinMs")
  if (unknown !== undefined) {
    return Effect.fail(wrongInput(undefined, `erase: there is no option ${JSON.stringify(unknown)}`))
  }
  const { withinMs = 10_000 } = Object(options) as { readonly withinMs?: unknown }
  const names = [given.session, given.principal].filter((name) => name !== undefined)
  if (names.length !== 1 || typeof names[0] !== "string" || names[0] === "") {
    return Effect.fail(wrongInput(undefined, "erase: expected { session } or { principal }, a text that is not empty"))
  }
  if (typeof withinMs !== "number" || !(withinMs >= 0)) {
    return Effect.fail(wrongInput(undefined, "erase.withinMs: expected milliseconds, 0 or more"))
  }
  return given.session === undefined ? Effect.succeed(withinMs) : Effect.as(checkSessionId(names[0]), withinMs)
}
