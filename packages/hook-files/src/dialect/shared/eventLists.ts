/** Reads a file that lists its entries by the names of their events. An invalid part is skipped, with a warning. */
import { nearest } from "@belay/core/NamePattern"
import type { Warning } from "../../engine/Dialect.ts"
import { isFields } from "../../internal/fields.ts"

/** Reports why the part of a file at `key` does not count. */
export type Warn = (key: string, reason: string) => undefined

/** Collects the warnings about a file. Reasons have at most 500 characters. */
export const warningsOf = (file: string): { readonly warnings: ReadonlyArray<Warning>; readonly warn: Warn } => {
  const warnings: Array<Warning> = []
  return { warnings, warn: (key, reason) => void warnings.push({ file, key, reason: reason.slice(0, 500) }) }
}

/** The events of a system. */
export interface EventNames<Event> {
  /** The names that a warning lists. */
  readonly names: ReadonlyArray<string>
  /** The names that a file may use, if they are more. Default `names`. */
  readonly known?: ReadonlyArray<string>
  /** Returns the event with a name, or undefined if the system has no such event. */
  readonly eventOf: (name: string) => Event | undefined
  /** What an event has a list of. Default `hooks`. */
  readonly items?: string
}

/** Reads `hooks`: an object that has a list of entries for each event. `read` gets each entry with its key. */
export const readEventLists = <Event, A>(
  hooks: unknown,
  { eventOf, items = "hooks", known, names }: EventNames<Event>,
  warn: Warn,
  read: (event: Event, entry: unknown, key: string, name: string) => A | ReadonlyArray<A> | undefined
): ReadonlyArray<A> => {
  if (hooks !== undefined && !isFields(hooks)) warn("hooks", "expected an object of events")
  return Object.entries(isFields(hooks) ? hooks : {}).flatMap(([name, list]) => {
    const key = `hooks.${name.slice(0, 80)}`
    const event = eventOf(name)
    if (event === undefined) {
      const near = nearest(name, known ?? names)
      const hint = near === undefined ? `; events are ${names.join(", ")}` : `; did you mean ${near}?`
      return warn(key, `unknown event${hint}`) ?? []
    }
    if (!Array.isArray(list)) return warn(key, `expected a list of ${items}`) ?? []
    return list.flatMap((entry: unknown, index) => read(event, entry, `${key}[${index}]`, name) ?? [])
  })
}
