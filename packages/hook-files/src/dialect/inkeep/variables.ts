/**
 * Stores variables of a conversation that the model never sees. The variables that a hook writes are stored after its
 * run has ended.
 */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest, type Json } from "@belay/core/Json"
import { JsonValue } from "@belay/core/Message"
import * as Schema from "effect/Schema"

const scopes = ["conversation", "turn", "toolCall"] as const

type Scope = (typeof scopes)[number]

/** The variables during one run of a hook. */
export interface Bag {
  readonly get: (key: Json, scope?: Json) => Json | undefined
  readonly set: (key: Json, value: Json, scope?: Json) => void
  readonly delete: (key: Json, scope?: Json) => boolean
  readonly getAll: (scope?: Json) => { readonly [key: string]: Json }
  /** Stores the variables that were written, and sends an event for each change. */
  readonly keep: () => void
}

type State = Pick<HookState.HookState, "get" | "set">

/** Opens the variables for one run of a hook. */
export const open = (name: string, hook: string, callId: string | undefined, ctx: HookContext): Bag => {
  const index = HookState.key(`${name}/bag`, Schema.Array(Schema.String), [])
  const keyOf = (key: string) => HookState.key<Json>(`${name}/bag/${key}`, JsonValue, null)
  const written = new Map<string, { readonly scope: Scope; readonly key: string; readonly value: Json | undefined }>()
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
  const stored = (key: string, scope: Scope): Json | undefined => {
    const state = stateOf(scope)
    return state.get(index).includes(key) ? state.get(keyOf(key)) : undefined
  }
  const current = (key: string, scope: Scope): Json | undefined => {
    const mine = written.get(`${scope} ${key}`)
    return mine === undefined ? stored(key, scope) : mine.value
  }
  const write = (key: string, scope: Scope, value: Json | undefined): void =>
    void written.set(`${scope} ${key}`, { scope, key, value })
  return {
    get: (key, scope) => current(nameOf(key), scopeOf(scope)),
    set: (key, value, scope) => write(nameOf(key), scopeOf(scope), value ?? null),
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
      for (const { key, scope, value } of written.values()) {
        const state = stateOf(scope)
        const before = stored(key, scope)
        const others = state.get(index).filter((one) => one !== key)
        state.set(keyOf(key), value ?? null)
        state.set(index, value === undefined ? others : [...others, key])
        if (ctx.events.active) {
          ctx.events.emit("variable-changed", { key, scope, hook, before: digest(before), after: digest(value) })
        }
      }
      written.clear()
    }
  }
}

const nameOf = (key: Json): string =>
  typeof key === "string" && key !== "" && key.length <= 200
    ? key
    : refuse("the name of a variable is a text of at most 200 characters")

/** Throws a `StateError`, so that the hook's own call fails in the same way as an invalid call of the state. */
const refuse = (message: string): never => {
  // oxlint-disable-next-line belay/no-throw -- the hook's own call fails
  throw new HookState.StateError({ key: "variableBag", message })
}
