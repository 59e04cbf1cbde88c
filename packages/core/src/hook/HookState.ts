/**
 * State of hooks: of a conversation (`ctx.state`), which all agents of a tree share, and of one agent (`ctx.local`).
 * Keys are typed, updates are atomic, and the model does not see it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { TaggedError } from "../data/effect/TaggedError.ts"
import { freeze, type Json, whyNot } from "../data/Json.ts"
import { requireChange } from "./internal/checkArguments.ts"
import { StateJournal, type WrittenBy } from "./internal/stateJournal.ts"
import { growth } from "./internal/stateSize.ts"

/** The maximum size of one value, in characters of its JSON text (64 KiB). @category limits @since 0.1.0 */
export const maxKey = 65_536

/** The maximum size of a session's state, in characters of JSON text (1 MiB). @category limits @since 0.1.0 */
export const maxTotal = 1_048_576

/** A key: the name, the type and the initial value of one entry. @category models @since 0.1.0 */
export interface StateKey<in out A> {
  readonly name: string
  readonly initial: A
  readonly is: (value: unknown) => value is A
}

/**
 * A value could not be read or written: it has the wrong type, is not JSON or is too large, or the key belongs to
 * another hook. It is thrown in the hook that tried.
 *
 * @category errors
 * @since 0.1.0
 */
export class StateError
  extends TaggedError<StateError>()("StateError", { key: Schema.String, message: Schema.String })
{}

/**
 * Makes a key. With a schema, every write is checked against the schema. Without one, a value must have the same type
 * as `initial`.
 *
 * @example
 * ```ts
 * import * as HookState from "@belay/core/HookState"
 * import * as Schema from "effect/Schema"
 *
 * const total = HookState.key("cost/total", Schema.Finite, 0)
 * const calls = HookState.key("tool-budget/calls", 0)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export function key<A extends Json>(name: string, initial: A): StateKey<Widen<A>>
export function key<A>(name: string, schema: Schema.Codec<A, Json>, initial: A): StateKey<A>
export function key(name: string, ...rest: ReadonlyArray<unknown>): StateKey<unknown> {
  return { name, ...typeOf(rest) }
}

/** The test and the initial value of a key, from the arguments after its name. */
const typeOf = (rest: ReadonlyArray<unknown>): Omit<StateKey<unknown>, "name"> => {
  const typed = Schema.isSchema(rest[0])
  const initial = freeze(typed ? rest[1] : rest[0])
  const is = typed
    // The overloads define what `rest` holds.
    ? Schema.is(rest[0] as Schema.Schema<unknown>)
    : (value: unknown): value is unknown =>
      typeof value === typeof initial && Array.isArray(value) === Array.isArray(initial)
  return { initial, is }
}

/** A key that every hook has for itself. Call it with the name of a hook. @category models @since 0.1.0 */
export interface HookKey<in out A> {
  (hook: string): StateKey<A>
  readonly key: string
}

/**
 * Makes a key that every hook has for itself. Only the hook whose name it is called with may write the value; every
 * other hook, and the host, may read it. Use it for what a decision depends on: counts, spent money, approvals. The
 * name of a hook in its chain is `ctx.hook`. `name` must not contain a slash.
 *
 * The value is stored as `@<hook>/<name>`. The rule counts for all names of this form, also in `HookState.key`.
 *
 * @example
 * ```ts
 * import { defineHook } from "@belay/core/AgentHook"
 * import * as HookAction from "@belay/core/HookAction"
 * import * as HookState from "@belay/core/HookState"
 *
 * const calls = HookState.ownKey("calls", 0)
 *
 * export const limit = defineHook({
 *   name: "limit",
 *   preToolCall: (_call, { hook, state }) =>
 *     state.update(calls(hook), (n) => n + 1) > 10 ? HookAction.reject("at most 10 calls") : undefined
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export function ownKey<A extends Json>(name: string, initial: A): HookKey<Widen<A>>
export function ownKey<A>(name: string, schema: Schema.Codec<A, Json>, initial: A): HookKey<A>
export function ownKey(name: string, ...rest: ReadonlyArray<unknown>): HookKey<unknown> {
  if (typeof name !== "string") {
    throw new StateError({ key: "", message: `state: the name of a key must be a text, found ${typeof name}` })
  }
  if (name.includes("/")) {
    throw new StateError({ key: name, message: `state key ${name}: the name of a hook's own key has no slash` })
  }
  const type = typeOf(rest)
  const keys = new Map<string, StateKey<unknown>>()
  const keyOf = (hook: string): StateKey<unknown> => {
    const known = keys.get(hook)
    if (known !== undefined) return known
    if (typeof hook !== "string") {
      throw new StateError({ key: name, message: `state key ${name}: the name of the hook must be a text` })
    }
    const made = { name: `@${hook}/${name}`, ...type }
    keys.set(hook, made)
    return made
  }
  return Object.assign(keyOf, { key: name })
}

/**
 * Returns the key of a plain name; a key is returned as it is. Throws a `StateError` for anything else.
 *
 * @category reading
 * @since 0.2.0
 */
export const keyOf = <A>(key: StateKey<A> | string): StateKey<A> => {
  // A plain name holds any JSON, so its value has no other type.
  if (typeof key === "string") return { name: key, initial: undefined, is: isAny } as unknown as StateKey<A>
  if (typeof key === "object" && key !== null && typeof key.is === "function") return key
  const isOwn = typeof key === "function"
  throw new StateError({
    key: "",
    message: isOwn
      ? "state: this is a key that every hook has for itself: call it with the name of a hook, as in key(ctx.hook)"
      : `state: expected a key of HookState.key, or a name, found ${key === null ? "null" : typeof key}`
  })
}

/** `write` checks that the value is JSON. */
const isAny = (value: unknown): value is never => value !== undefined

/** Returns the hook that owns the key of this name; `undefined` if every hook may write it. */
const ownerOf = (name: string): string | undefined =>
  name.startsWith("@") ? name.slice(1, Math.max(1, name.lastIndexOf("/"))) : undefined

type Widen<A> = A extends number ? number : A extends string ? string : A extends boolean ? boolean : A

/** Reads a value by a key, or any JSON by a plain name. @category models @since 0.2.0 */
export interface Get {
  (name: string): Json | undefined
  <A>(key: StateKey<A>): A
}

/** Writes a value by a key, or any JSON by a plain name. @category models @since 0.2.0 */
export interface Set {
  (name: string, value: Json): void
  <A>(key: StateKey<A>, value: A): void
}

/** Changes a value by a key, or any JSON by a plain name. @category models @since 0.2.0 */
export interface Update {
  (name: string, f: (value: Json | undefined) => Json): Json
  <A>(key: StateKey<A>, f: (value: A) => A): A
}

/**
 * The state of a session. A key gives a value its type; a plain name holds any JSON, and nothing until it is written.
 * Reads and writes are synchronous, so each `update` is atomic, even when other hooks run at
 * the same time.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookState {
  /** Returns the value, or the initial value of the key. */
  readonly get: Get
  /** Returns the values of all hooks that have written their own key, by the name of the hook. */
  readonly all: <A>(key: HookKey<A>) => ReadonlyMap<string, A>
  readonly set: Set
  /** Applies `f` and returns the new value. */
  readonly update: Update
  /** Returns all values as JSON, by key name. */
  readonly snapshot: () => { readonly [name: string]: Json }
}

/**
 * State that outlives the process if the agent has a session store. It is saved with the session: after every tool
 * call, and at the end of every turn, even of a failed one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Durable<State = Pick<HookState, "get" | "all" | "set" | "update">> {
  /** Kept as long as the conversation. Sub-agents share it. */
  readonly conversation: State
  /** Kept until the turn ends. A resumed turn still has it. */
  readonly turn: State
  /** Kept until the tool call ends: `postToolCall` can read what `preToolCall` wrote. */
  readonly call: (callId: string) => State
}

/** The whole state. @category models @since 0.1.0 */
export interface Store extends HookState {
  /**
   * Writes a value for the hook of this name. `by` says who may take the write back, and `change` computes the value
   * anew from another one.
   */
  readonly write: <A>(
    key: StateKey<A>,
    value: A,
    writer: string,
    by?: WrittenBy,
    change?: (value: A) => A
  ) => void
  /** Takes back what a hook wrote before it was asked again. Only the chain uses it. */
  readonly journal: StateJournal
  /** Returns how many values have been written since it was made. */
  readonly writes: () => number
}

/** Makes a state. It is empty, or has the values of a snapshot. @category constructors @since 0.1.0 */
export const make = (from: { readonly [name: string]: Json } = {}): Store => {
  const entries = new Map<string, Entry>()
  let total = 0
  let writes = 0
  if (typeof from !== "object" || from === null) {
    throw new StateError({ key: "", message: "state: expected an object with the values of a snapshot" })
  }
  for (const [name, value] of Object.entries(from)) {
    const size = sizeOf(value, undefined, 0) ?? lengthOf(name, value)
    entries.set(name, { value: freeze(value), size, checked: undefined })
    total += size
  }

  const read = <A>(key: StateKey<A>): A => {
    const entry = entries.get(key.name)
    if (entry === undefined) return key.initial
    // The same test has accepted this value.
    if (entry.checked === key.is) return entry.value as A
    if (!key.is(entry.value)) {
      throw new StateError({
        key: key.name,
        message: `state ${key.name}: holds a value of another type than this key's`
      })
    }
    entry.checked = key.is as never
    return entry.value
  }

  const write: Store["write"] = (key, value, writer, by, change) => {
    // Read once: in JavaScript it may be a getter, or an object that becomes another text each time.
    const name: unknown = key.name
    if (typeof name !== "string") {
      throw new StateError({ key: "", message: `state: the name of a key must be a text, found ${typeof name}` })
    }
    const owner = ownerOf(name)
    if (owner !== undefined && owner !== writer) {
      throw new StateError({
        key: name,
        message: `state ${name}: only ${owner === "" ? "the runtime" : owner} may write it, not ${writer}`
      })
    }
    if (!key.is(value)) {
      const why = value === undefined ? "undefined is not a value" : "the value does not fit the key's type"
      throw new StateError({ key: name, message: `state ${name}: ${why}` })
    }
    const entry = entries.get(name)
    const size = sizeOf(value, entry?.value, entry?.size ?? 0)
    if (size === undefined) {
      throw new StateError({ key: name, message: `state ${name}: not JSON, ${whyNot(value)}` })
    }
    const next = total + size - (entry?.size ?? 0)
    if (size > maxKey) {
      throw new StateError({
        key: name,
        message: `state ${name}: ${size} characters, at most ${maxKey} are allowed`
      })
    }
    if (next > maxTotal) {
      throw new StateError({
        key: name,
        message: `state ${name}: the session would hold ${next} characters, at most ${maxTotal} are allowed`
      })
    }
    if (!journal.note(key, entry, value, by, change)) put(name, entry, value, size, key.is)
  }

  const put = (
    name: string,
    entry: Entry | undefined,
    value: unknown,
    size: number,
    is: (value: unknown) => boolean
  ): void => {
    // Tests of different types are only compared, never called.
    const checked = is as never
    total += size - (entry?.size ?? 0)
    if (entry === undefined) entries.set(name, { value, size, checked })
    else {
      entry.value = value
      entry.size = size
      entry.checked = checked
    }
    writes++
  }

  const journal = new StateJournal(({ is, name }, value) => {
    const entry = entries.get(name)
    // A plain name has nothing before its first write.
    if (value === undefined && entry !== undefined) {
      total -= entry.size
      writes++
      entries.delete(name)
    }
    const size = sizeOf(value, entry?.value, entry?.size ?? 0)
    if (size !== undefined) put(name, entry, value, size, is)
  })

  const all = <A>(key: HookKey<A>): ReadonlyMap<string, A> => {
    const found = new Map<string, A>()
    for (const name of entries.keys()) {
      const hook = name.endsWith(`/${key.key}`) ? ownerOf(name) : undefined
      if (hook !== undefined) found.set(hook, read(key(hook)))
    }
    return found
  }

  const update = <A>(key: StateKey<A>, f: (value: A) => A): A => {
    requireChange(key.name, f)
    const value = f(read(key))
    write(key, value, "host")
    return value
  }

  return {
    get: <A>(key: StateKey<A> | string) => read(keyOf<A>(key)),
    all,
    write,
    journal,
    writes: () => writes,
    set: <A>(key: StateKey<A> | string, value: A) => write(keyOf<A>(key), value, "host"),
    update: <A>(key: StateKey<A> | string, f: (value: A) => A) => update(keyOf<A>(key), f),
    // `write` has checked that it is JSON.
    snapshot: () => Object.fromEntries([...entries].map(([name, { value }]) => [name, value as Json]))
  }
}

/** A value of a state. */
interface Entry {
  value: unknown
  size: number
  /** The test that the value has passed. The same key does not test it again. */
  checked: StateKey<never>["is"] | undefined
}

/** Returns how large a value of a snapshot is that is nested deeper than hooks may write. */
const lengthOf = (name: string, value: unknown): number => {
  const text = Result.getOrElse(Result.try((): string | undefined => JSON.stringify(value)), () => undefined)
  if (text === undefined) throw new StateError({ key: name, message: `state ${name}: expected JSON, ${whyNot(value)}` })
  return text.length
}

/** Returns how large a value is, or nothing if it is not JSON. All of `before`, the value that it replaces, is JSON. */
const sizeOf = (value: unknown, before: unknown, sizeBefore: number): number | undefined => {
  if (typeof value === "string") return textSize(value, before, sizeBefore)
  if (typeof value !== "object" || value === null) return whyNot(value) === undefined ? 8 : undefined
  const isReplaced = typeof before === "object" && before !== null
  const more = growth(isReplaced ? before : undefined, value)
  return more === undefined ? undefined : isReplaced ? sizeBefore + more : more
}

/** A text that grows at its end, such as a set of hashes, is measured there only. */
const textSize = (text: string, before: unknown, sizeBefore: number): number => {
  const isLonger = typeof before === "string" && text.length > before.length && before.length > 0
  // Two halves of a character have another size together.
  return isLonger && !isLowSurrogate(text.charCodeAt(before.length)) && text.startsWith(before)
    ? sizeBefore + JSON.stringify(text.slice(before.length)).length - 2
    : JSON.stringify(text).length
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
