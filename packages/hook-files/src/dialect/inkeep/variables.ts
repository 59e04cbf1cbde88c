/**
 * Stores variables of a conversation that the model never sees. The variables that a hook writes are stored after its
 * run has ended.
 */
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest, type Json } from "@belay/core/Json"
import { JsonValue } from "@belay/core/Message"
import * as Schema from "effect/Schema"
import { isFields } from "../../internal/fields.ts"

const scopes = ["conversation", "turn", "toolCall"] as const

type Scope = (typeof scopes)[number]

/** How often a variable was written, and when it expires, in milliseconds since 1970. */
const About = Schema.Struct({ version: Schema.Int, expiresAt: Schema.optionalKey(Schema.Finite) })

/** The variables during one run of a hook. */
export interface Bag {
  readonly get: (key: Json, scope?: Json) => Json | undefined
  readonly about: (key: Json, scope?: Json) => typeof About.Type | undefined
  /** `scope` is a text, or `{ scope?, ttlMs? }`. */
  readonly set: (key: Json, value: Json, scope?: Json) => void
  readonly delete: (key: Json, scope?: Json) => boolean
  readonly getAll: (scope?: Json) => { readonly [key: string]: Json }
  /** Stores the variables that were written, and sends an event for each change. */
  readonly keep: () => void
}

type State = Pick<HookState.HookState, "get" | "set">

/** Opens the variables for one run of a hook. `now` returns the time in milliseconds since 1970. */
export const open = (
  name: string,
  hook: string,
  callId: string | undefined,
  ctx: HookContext,
  now: () => number
): Bag => {
  const index = HookState.key(`${name}/bag`, Schema.Array(Schema.String), [])
  const keyOf = (key: string) => HookState.key<Json>(`${name}/bag/${key}`, JsonValue, null)
  const abouts = HookState.key(`${name}/bag-about`, Schema.Record(Schema.String, About), {})
  const written = new Map<string, Write>()
  const stateOf = (scope: Scope): State => {
    if (scope === "conversation") return ctx.state.durable.conversation
    return scope === "turn" ? ctx.state.durable.turn : ctx.state.durable.call(callId ?? "none")
  }
  const scopeOf = (scope: Json | undefined): Scope => {
    const found = scopes.find((one) => one === (scope ?? "conversation"))
    return found === undefined || (found === "toolCall" && callId === undefined)
      ? refuse(`the scope ${JSON.stringify(scope)} does not exist at this hook point`)
      : found
  }
  const aboutStored = (key: string, scope: Scope) => {
    const all = stateOf(scope).get(abouts)
    return Object.hasOwn(all, key) ? all[key] : undefined
  }
  const isOver = (expiresAt: number | undefined): boolean => expiresAt !== undefined && expiresAt <= now()
  const stored = (key: string, scope: Scope): Json | undefined => {
    const state = stateOf(scope)
    return state.get(index).includes(key) && !isOver(aboutStored(key, scope)?.expiresAt)
      ? state.get(keyOf(key))
      : undefined
  }
  const current = (key: string, scope: Scope): Json | undefined => {
    const mine = written.get(`${scope} ${key}`)
    if (mine === undefined) return stored(key, scope)
    return isOver(mine.expiresAt) ? undefined : mine.value
  }
  const versionOf = (key: string, scope: Scope): number =>
    stored(key, scope) === undefined ? 0 : aboutStored(key, scope)?.version ?? 1
  const write = (key: string, scope: Scope, value: Json | undefined, expiresAt?: number): void =>
    void written.set(`${scope} ${key}`, { scope, key, value, ...defined({ expiresAt }) })
  const store = ({ expiresAt, key, scope, value }: Write): void => {
    const state = stateOf(scope)
    const before = stored(key, scope)
    const version = versionOf(key, scope) + 1
    const gone = (other: string) => other === key || isOver(aboutStored(other, scope)?.expiresAt)
    const names = state.get(index)
    for (const other of names) if (other !== key && gone(other)) state.set(keyOf(other), null)
    state.set(keyOf(key), value ?? null)
    const others = names.filter((one) => !gone(one))
    state.set(index, value === undefined ? others : [...others, key])
    const kept = Object.entries(state.get(abouts)).filter(([other]) => !gone(other))
    const own = value === undefined ? [] : [[key, { version, ...defined({ expiresAt }) }] as const]
    state.set(abouts, Object.fromEntries([...kept, ...own]))
    if (ctx.events.active) {
      const change = { key, scope, hook, version, ...defined({ expiresAt }) }
      ctx.events.emit("variable-changed", { ...change, before: digest(before), after: digest(value) })
    }
  }
  return {
    get: (key, scope) => current(nameOf(key), scopeOf(scope)),
    about: (key, scope) => {
      const [called, where] = [nameOf(key), scopeOf(scope)]
      if (current(called, where) === undefined) return undefined
      const mine = written.get(`${where} ${called}`)
      const version = versionOf(called, where)
      return mine === undefined
        ? { version, ...defined({ expiresAt: aboutStored(called, where)?.expiresAt }) }
        : { version: version + 1, ...defined({ expiresAt: mine.expiresAt }) }
    },
    set: (key, value, options) => {
      const { scope, ttlMs }: { readonly [key: string]: unknown } = isFields(options) ? options : { scope: options }
      const name = nameOf(key)
      write(name, scopeOf(scope as Json | undefined), short(name, value ?? null), expiryOf(ttlMs, now))
    },
    delete: (key, scope) => {
      const there = current(nameOf(key), scopeOf(scope)) !== undefined
      write(nameOf(key), scopeOf(scope), undefined)
      return there
    },
    getAll: (scope) => {
      const where = scopeOf(scope)
      const names = new Set([
        ...stateOf(where).get(index),
        ...[...written.values()].flatMap((one) => one.scope === where ? [one.key] : [])
      ])
      return Object.fromEntries([...names].flatMap((key) => {
        const value = current(key, where)
        return value === undefined ? [] : [[key, value]]
      }))
    },
    keep: () => {
      written.forEach(store)
      written.clear()
    }
  }
}

interface Write {
  readonly scope: Scope
  readonly key: string
  /** Undefined if the variable is deleted. */
  readonly value: Json | undefined
  readonly expiresAt?: number
}

const expiryOf = (ttlMs: unknown, now: () => number): number | undefined => {
  if (ttlMs === undefined || ttlMs === null) return undefined
  return typeof ttlMs === "number" && Number.isFinite(ttlMs) && ttlMs > 0
    ? now() + ttlMs
    : refuse(`ttlMs: expected a positive number of milliseconds, found ${JSON.stringify(ttlMs)?.slice(0, 80)}`)
}

const nameOf = (key: Json): string =>
  typeof key === "string" && key !== "" && key.length <= 200
    ? key
    : refuse("the name of a variable is a text of at most 200 characters")

const isJson = Schema.is(JsonValue)

/** Refuses a value that is too long. Otherwise the hook would fail after some of its variables were stored. */
const short = (name: string, value: Json): Json => {
  // What is not JSON is refused when it is stored.
  const { length } = isJson(value) ? JSON.stringify(value) : ""
  return length > HookState.maxKey
    ? refuse(`"${name}" has ${length} characters, at most ${HookState.maxKey} are allowed`)
    : value
}

/** Throws a `StateError`, so that the hook's own call fails in the same way as an invalid call of the state. */
const refuse = (message: string): never => {
  // oxlint-disable-next-line belay/no-throw -- the hook's own call fails
  throw new HookState.StateError({ key: "variableBag", message })
}
