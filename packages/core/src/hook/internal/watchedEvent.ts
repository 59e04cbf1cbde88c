/**
 * In development, warns once if a hook reads a field that the events of its point never have: in a program without
 * types the value would silently be `undefined`.
 *
 * The hook gets a frozen copy of the event, whose prototype is a proxy. Only reads of missing fields reach it, so that
 * spreading, cloning, writing as JSON and `in` work as with the event itself.
 */
import { lookalikes } from "../../data/internal/lookalikes.ts"
import { isPlain } from "../../data/Json.ts"
import { nearest } from "../../data/text/NamePattern.ts"
import type { HookScope } from "../HookContext.ts"
import type { HookPointName } from "../HookPoint.ts"
import type { Entry } from "./compiledPoint.ts"
import { eventFields } from "./eventFields.ts"

/** The scope is that of the last call. */
interface Watch {
  scope: HookScope
  readonly prototype: object
}

const watches = new WeakMap<Entry, Watch>()

/** Returns the event as the hook receives it. Production does not call this. */
export const watchedEvent = (event: unknown, point: HookPointName, entry: Entry, scope: HookScope): unknown => {
  if (typeof event !== "object" || event === null || !isPlain(event)) return event
  let watch = watches.get(entry)
  if (watch === undefined) {
    watch = makeWatch(point, entry.name, scope)
    watches.set(entry, watch)
  } else watch.scope = scope
  // A literal keeps the shape of the event. `Object.create` with descriptors takes ten times as long.
  return Object.freeze({ __proto__: watch.prototype, ...event })
}

/** Returns a value that a hook gave back as a plain object. */
export const unwatched = <A>(value: A): A =>
  typeof value === "object" && value !== null && lookalikes.has(Object.getPrototypeOf(value) ?? value)
    ? { ...value }
    : value

const makeWatch = (point: HookPointName, hook: string, scope: HookScope): Watch => {
  const known = Object.keys(eventFields[point])
  const warned = new Set<string>()
  const prototype = new Proxy<object>(Object.prototype, {
    get: (target, key, receiver) => {
      if (typeof key === "string" && isField(key) && !known.includes(key) && !warned.has(key)) {
        warned.add(key)
        const meant = nearest(key, known)
        const hint = meant === undefined ? `Its fields are ${known.join(", ")}.` : `Did you mean "${meant}"?`
        watch.scope.warn(`the event of ${point} has no field "${key}". ${hint}`, hook)
      }
      return Reflect.get(target, key, receiver) as unknown
    }
  })
  lookalikes.add(prototype)
  const watch: Watch = { scope, prototype }
  return watch
}

/** Names that programs try on any value: promises, JSON, tests and inspectors. */
const tried: ReadonlySet<string> = new Set([
  "then",
  "toJSON",
  "asymmetricMatch",
  "nodeType",
  "tagName",
  "hasAttribute",
  "inspect",
  "length"
])

const isField = (key: string): boolean => /^[a-zA-Z]\w*$/.test(key) && !tried.has(key) && !(key in Object.prototype)
