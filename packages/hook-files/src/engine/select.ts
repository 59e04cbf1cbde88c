/** Selects the entries that run at an event. Several entries with the same identity run once. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import type { Answer, Dialect, Entry } from "./Dialect.ts"

export interface Selection<E, I> {
  readonly has: (...events: ReadonlyArray<string>) => boolean
  /** Returns the entries of an event whose matchers accept the subjects. */
  readonly candidates: (event: string, subjects: ReadonlyArray<string>) => ReadonlyArray<E>
  /** Returns the candidates that run now. An entry that runs once in a session counts as run from then on. */
  readonly select: (
    event: string,
    subjects: ReadonlyArray<string>,
    input: I,
    ctx: HookContext
  ) => ReadonlyArray<E>
}

const none: ReadonlyArray<never> = []

/** The most subjects of one event whose candidates are cached. */
const maxCached = 1_000

interface Index<E> {
  readonly all: ReadonlyArray<E>
  readonly byEvent: ReadonlyMap<string, EventIndex<E>>
}

/** The entries of one event. */
interface EventIndex<E> {
  readonly entries: ReadonlyArray<E>
  /** The candidates by subject. Agents call a few tools many times. */
  readonly cache: Map<string, ReadonlyArray<E>>
}

const indexOf = <E>(all: ReadonlyArray<E>, eventOf: (entry: E) => string): Index<E> => ({
  all,
  byEvent: new Map(
    [...Map.groupBy(all, eventOf)].map(([event, entries]) => [event, { entries, cache: new Map() }])
  )
})

export const make = <E extends Entry<unknown>, I, A extends Answer, V>(
  dialect: Dialect<E, I, A, V>,
  name: string,
  entries: () => ReadonlyArray<E>,
  eventOf: (entry: E) => string
): Selection<E, I> => {
  const { applies, identity, matches, onceId } = dialect
  const onceIds = HookState.key(`${name}/once`, Schema.Array(Schema.String), [])
  let index: Index<E> | undefined
  const current = (): Index<E> => {
    const all = entries()
    if (index?.all !== all) index = indexOf(all, eventOf)
    return index
  }

  const candidates: Selection<E, I>["candidates"] = (event, subjects) => {
    const ofEvent = current().byEvent.get(event)
    if (ofEvent === undefined) return none
    const { cache, entries: all } = ofEvent
    if (matches === undefined) return all
    const key = subjects.length === 1 ? subjects[0]! : subjects.join("\n")
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const found = all.filter((entry) => matches(entry, subjects))
    if (cache.size === maxCached) cache.clear()
    if (key.length < 300) cache.set(key, found)
    return found
  }

  /**
   * Returns true for the first call with this id in the session, and false for all others, even if they happen at the
   * same time.
   */
  const claimOnce = (ctx: HookContext, id: string): boolean => {
    let isFirst = false
    ctx.state.update(onceIds, (ids) => {
      isFirst = !ids.includes(id)
      return isFirst ? [...ids, id] : ids
    })
    return isFirst
  }

  return {
    has: (...events) => events.some((event) => current().byEvent.has(event)),
    candidates,
    select: (event, subjects, input, ctx) => {
      const all = candidates(event, subjects)
      if (all.length === 0) return all
      const found = new Map<unknown, E>()
      for (const entry of all) {
        if (applies !== undefined && !applies(entry, input, ctx)) continue
        const id = identity === undefined ? entry : identity(entry)
        if (!found.has(id)) found.set(id, entry)
      }
      const selected = [...found.values()]
      if (onceId === undefined) return selected
      return selected.filter((entry) => {
        const id = onceId(entry)
        return id === undefined || claimOnce(ctx, id)
      })
    }
  }
}
