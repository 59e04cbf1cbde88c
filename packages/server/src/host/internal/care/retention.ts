/** Removes what is done, by its age. */
import { nextOf, rootOf } from "@belay/core/Erasure"
import type { EventLog } from "@belay/core/EventLog"
import { checkKinds, checkOptions, type OptionKinds } from "@belay/core/OptionCheck"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { loadState } from "../advance/recognize.ts"
import type { Site } from "../site/site.ts"

/** How long what is done is kept. What is left out is kept for ever. @category models @since 0.1.0 */
export interface Retention {
  /**
   * Sessions, from their last change on, with their history, decision records and artifacts. A session with a turn that
   * is not ended, or with something in its inbox that is not done, stays. A session that was rotated stays as long as
   * the one in which its conversation goes on.
   */
  readonly sessions?: Duration.Input
  /** What was sent and is done or dead, with its outcome, from its end on. A key can be used again afterwards. */
  readonly messages?: Duration.Input
  /** The events of sessions that were written last before that. */
  readonly events?: Duration.Input
}

/** What is removed, by its age in milliseconds. */
export type Retaining = ReadonlyArray<
  { readonly ageMs: number; readonly remove: (before: number, site: Site) => Removal }
>

type Removal = Effect.Effect<unknown, unknown>

interface Store {
  readonly sessions: SessionStore
  readonly events?: EventLog
}

/** How often to look. */
const lookMs = 60_000

/** How many sessions are looked at before others get their turn. */
const pageSize = 100

const kinds: OptionKinds<Retention> = { sessions: "duration", messages: "duration", events: "duration" }

/** Reads the option. Throws a `ConfigError` for wrong values, and for what the store cannot remove. */
export const readRetention = (retention: Retention, { events, sessions }: Store): Retaining => {
  Result.getOrThrow(checkKinds("host.retention", retention, kinds))
  const remove = {
    sessions: removeSessions,
    messages: (before: number, { inbox }: Site) => inbox.prune(before),
    events: (before: number) => events!.prune(before)
  }
  const can = {
    sessions: sessions?.list !== undefined && sessions.remove !== undefined,
    messages: true,
    events: events !== undefined
  }
  return (["sessions", "messages", "events"] as const).flatMap((kind) => {
    const age = retention[kind]
    if (age === undefined) return []
    const ageMs = Duration.toMillis(Duration.fromInputUnsafe(age))
    Result.getOrThrow(checkOptions("host.retention", [
      kind,
      age,
      () => ageMs > 0 && can[kind],
      "a duration longer than 0, and a store that can remove this, such as a SqliteStore"
    ]))
    return [{ ageMs, remove: remove[kind] }]
  })
}

/** Removes what is too old, again and again. A store that fails is asked again with the next look. */
export const keepRetaining = (site: Site, retaining: Retaining): Effect.Effect<never> => {
  const look = Effect.gen(function*() {
    const now = yield* site.time
    for (const { ageMs, remove } of retaining) yield* remove(now - ageMs, site)
  })
  return Effect.forever(Effect.andThen(
    Effect.catchCause(look, (cause) => Effect.logWarning("what is too old could not be removed", cause)),
    Effect.sleep(lookMs)
  ))
}

const removeSessions = Effect.fnUntraced(function*(before: number, site: Site): Effect.fn.Return<void, unknown> {
  const { inbox, sessions } = site
  // `readRetention` has checked them.
  const { list, remove } = sessions as Required<SessionStore>
  let end: number | undefined = before
  while (end !== undefined) {
    const page: Effect.Success<ReturnType<typeof list>> = yield* list({ before: end, limit: pageSize })
    for (const { id, status } of page) {
      if (status !== "idle" || (yield* inbox.open(id)).length > 0) continue
      // After a rotation, the inbox is still that of the first session.
      const root = rootOf(id)
      if (root !== id && (yield* inbox.open(root)).length > 0) continue
      if (yield* goesOn(sessions, id, before)) continue
      yield* remove(id)
    }
    end = page.length < pageSize ? undefined : page.at(-1)?.updatedAt
  }
})

/** Whether the conversation of a session goes on in another one after a rotation, and that one stays. */
export const goesOn = Effect.fnUntraced(function*(
  sessions: SessionStore,
  id: string,
  before: number
): Effect.fn.Return<boolean, unknown> {
  const infoOf = (id: string) =>
    Effect.map(sessions.list?.({ ids: [id], limit: 1 }) ?? Effect.succeed([]), ([info]) => info)
  // Most sessions were never rotated, and need not be loaded. One that cannot be read leads nowhere.
  if ((yield* infoOf(nextOf(id))) === undefined) return false
  const { sessionId = id } = (yield* Effect.catch(loadState(sessions, id), () => Effect.undefined)) ?? {}
  const last = sessionId === id ? undefined : yield* infoOf(sessionId)
  return last !== undefined && (last.status !== "idle" || last.updatedAt >= before)
})
