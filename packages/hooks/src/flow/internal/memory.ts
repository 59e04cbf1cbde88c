/** What the hook remembers of a conversation: hashes, counts and names. No text that the agent has read is kept. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import { ownedKey } from "../../internal/ownedKey.ts"
import { hasher, makeKey } from "./text/hashes.ts"

/** Where values were read: the tool, the step and the turn, and the hashes of the values by the name of their field,
 * those inside of texts apart. */
export interface Reading {
  readonly tool: string
  readonly callId: string
  readonly turn: number
  readonly step: number
  readonly fields: ReadonlyArray<readonly [field: string, hashes: string, inText?: 1]>
}

/** A checked argument, without its value. */
export interface Checked {
  readonly callId: string
  readonly tool: string
  readonly argument: string
  readonly turn: number
  readonly step: number
  /** What grounds the value; absent if nothing does. */
  readonly grounded?: string
  readonly source?: string
}

const text = (name: string) => HookState.ownKey(name, "")
/** State is JSON, and only the hook writes these keys. So nothing has to be checked in each record. */
const Records = Schema.declare((value): value is ReadonlyArray<never> => Array.isArray(value))

/** Keys of records, which only the hook makes. */
const owned = {
  readings: ownedKey(HookState.ownKey<ReadonlyArray<Reading>>("readings", Records, [])),
  checks: ownedKey(HookState.ownKey<ReadonlyArray<Checked>>("checks", Records, [])),
  /** The questions that are open, by call: what is approved with them. */
  open: ownedKey(HookState.ownKey<{ readonly [callId: string]: Open }>(
    "open",
    Schema.Record(Schema.String, Schema.Json as never),
    {}
  )),
  /** Acts of the turn that cost something each time: the hash of the act, and its call. */
  done: ownedKey(HookState.ownKey<{ readonly [act: string]: string }>(
    "done",
    Schema.Record(Schema.String, Schema.String),
    {}
  ))
}

/** The part of a key that marks what the hook makes. */
interface Marks {
  readonly made: (value: never) => unknown
}

/** The keys of the hook. The sets are strings of hashes. */
const keys = {
  key: text("key"),
  /** The words of the person in order, as a sequence; and their tokens, numbers and days, as a set. */
  words: text("words"),
  tokens: text("tokens"),
  /** Values that directories, trusted sources, early calls and the agent's own work vouch for. */
  vouched: text("vouched"),
  /** Values of records that the person named: the hash of the name and the field, that of the value, and a mark. */
  links: text("links"),
  /** Values that a person approved in the turn, and values that a person refused. */
  approved: text("approved"),
  refused: text("refused"),
  done: owned.done.keyOf,
  secrets: text("secrets"),
  readings: owned.readings.keyOf,
  checks: owned.checks.keyOf,
  open: owned.open.keyOf,
  /** The tools that the plan allows. `null`: there is no plan. */
  plan: HookState.ownKey<ReadonlyArray<string> | null>("plan", Schema.NullOr(Schema.Array(Schema.String)), null),
  /** The words with which the person asked for something to be taken away, in this turn and in the one before. */
  away: text("away"),
  awayBefore: text("away-before"),
  /** When something untrusted was read first: the session and its turn and step. Empty: not yet. */
  tainted: text("tainted"),
  /** The messages of the person as a whole. */
  heard: text("heard"),
  /** How many results of tools the hook has seen. */
  results: HookState.ownKey("results", 0)
}

/** What an open question is about. */
interface Open {
  readonly tool: string
  readonly args: string
  /** The hashes of the values for an approval, and for a refusal. */
  readonly values: string
  readonly refusals: string
  /** The hashes of the fields in which the values stand. */
  readonly fields: string
  readonly plan?: string
}

/** The state of the hook in one conversation. */
export interface Memory {
  readonly get: <K extends keyof typeof keys>(name: K) => Value<K>
  readonly set: <K extends keyof typeof keys>(name: K, value: Value<K>) => void
  readonly hash: (text: string) => string
}

type Value<K extends keyof typeof keys> = (typeof keys)[K] extends HookState.HookKey<infer A> ? A : never

const hashers = new Map<string, Memory["hash"]>()

/** Returns the state of the hook in the conversation of this context. */
export const memoryOf = ({ hook, state }: Pick<HookContext, "hook" | "state">): Memory => {
  // Each getter of a state makes a function.
  const { get: read, set: write } = state
  const get: Memory["get"] = <K extends keyof typeof keys>(name: K) =>
    // The key of a name holds the values of that name.
    read(keys[name](hook) as unknown as HookState.StateKey<Value<K>>)
  const set: Memory["set"] = (name, value) => {
    // An equal value is not written again.
    if (get(name) === value) return
    const own: { readonly [name: string]: Marks | undefined } = owned
    own[name]?.made(value as never)
    write(keys[name](hook) as never, value)
  }
  let hash: Memory["hash"] | undefined
  return {
    get,
    set,
    hash: (value) => {
      hash ??= hashWith(get, set)
      return hash(value)
    }
  }
}

const hashWith = (get: Memory["get"], set: Memory["set"]): Memory["hash"] => {
  if (get("key") === "") set("key", makeKey())
  const key = get("key")
  const known = hashers.get(key)
  if (known !== undefined) return known
  if (hashers.size >= 1_000) hashers.clear()
  const made = hasher(key)
  hashers.set(key, made)
  return made
}

/** The key under which `explain` finds the checks. */
export const checksKey: HookState.HookKey<ReadonlyArray<Checked>> = keys.checks
