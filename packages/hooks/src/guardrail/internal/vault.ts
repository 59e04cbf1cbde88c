/** What placeholders stand for, session by session: in memory, or sealed in the session's state. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"

/** A value that was taken out of a text, or a number that was taken out of JSON. */
export type Value = string | number

/** The values of one session. */
export interface Vault {
  /** The placeholder of a value, always the same; nothing when there is no room for another value. */
  readonly put: (kind: string, value: Value) => string | undefined
  /** What a placeholder stands for, in whatever case it is written. */
  readonly get: (placeholder: string) => Value | undefined
  /** Whether it was given to a value in this conversation, be it by another hook. */
  readonly gave: (placeholder: string) => boolean
  /** Every value, with its kind. */
  readonly values: () => Iterable<readonly [value: string, kind: string]>
  /** Grows with every value. */
  readonly size: number
  /** A short keyed digest, the same for the same value within a session. */
  readonly digest: (kind: string, value: Value) => string
}

/** All sessions of one hook. */
export interface Vaults {
  /** Opens the session's vault, lets `f` use it, and writes down what it put in. */
  readonly use: <A>(ctx: Pick<HookContext, "root" | "hook">, f: (vault: Vault) => A) => A
  /** The conversation goes on in another session: its values go along. */
  readonly move: (from: string, ctx: Pick<HookContext, "root" | "hook">) => void
  /** Forgets a session. */
  readonly drop: (sessionId: string) => void
}

/** What a kind is called in texts. */
export const label = (kind: string): string => kind.toUpperCase().replaceAll("-", "_")

/** How many bytes of JSON a vault holds: sealed, they have to fit into one key of the state. */
const maxBytes = 48_000

/**
 * Numbers are never used twice in a conversation: not by another hook, nor where the values they stood for are gone.
 */
const counts = HookState.key("placeholders/counts", Schema.Record(Schema.String, Schema.Finite), {})

const vaultOf = (hook: string) => HookState.key(`${hook}/vault`, "")

/**
 * Makes the vaults of a hook. With a key of 32 bytes they are sealed (AES-256-GCM) in the state, under `<hook>/vault`.
 */
export const make = (key: Uint8Array | undefined): Vaults => {
  const open = new Map<string, { readonly data: Data; readonly sealed: string }>()
  // An agent's own hook, at work beside one of the same name, has another name there.
  const keys = new Map<string, HookState.StateKey<string>>()
  const keyOf = (hook: string) => {
    const found = keys.get(hook) ?? vaultOf(hook)
    keys.set(hook, found)
    return found
  }
  return {
    use: (ctx, f) => {
      const { hook, root: { sessionId, state } } = ctx
      const stored = keyOf(hook)
      const sealed = key === undefined ? "" : state.get(stored)
      let known = open.get(sessionId)
      if (known === undefined || known.sealed !== sealed) {
        const entries = sealed === "" || key === undefined ? [] : unseal(sealed, key, sessionId)
        open.set(sessionId, known = { data: new Data(entries, state.get(counts), key), sealed })
      }
      const { data } = known
      data.learn(state.get(counts))
      const before = data.size
      // What was put in is written down even when `f` breaks: its placeholder may be somewhere already.
      const answer = Result.try(() => f(data))
      if (data.size !== before) {
        state.set(counts, { ...state.get(counts), ...Object.fromEntries(data.counts) })
        if (key !== undefined) {
          const text = seal(data.entries(), key, sessionId)
          state.set(stored, text)
          open.set(sessionId, { data, sealed: text })
        }
      }
      return Result.getOrThrow(answer)
    },
    move: (from, { hook, root: { sessionId, state } }) => {
      const stored = keyOf(hook)
      const sealed = key === undefined ? "" : state.get(stored)
      const known = open.get(from)
      open.delete(from)
      const data = known?.data ??
        new Data(sealed === "" || key === undefined ? [] : unseal(sealed, key, from), state.get(counts), key)
      const text = key === undefined || data.size === 0 ? sealed : seal(data.entries(), key, sessionId)
      if (text !== sealed) state.set(stored, text)
      open.set(sessionId, { data, sealed: text })
    },
    drop: (sessionId) => void open.delete(sessionId)
  }
}

type Entry = readonly [placeholder: string, value: Value]

/** A class because it is a small mutable table with several views. */
class Data implements Vault {
  readonly counts: Map<string, number>
  private readonly names = new Map<string, string>()
  private readonly known = new Map<string, Value>()
  private bytes = 0
  private readonly key: Uint8Array

  constructor(entries: ReadonlyArray<Entry>, counts: { readonly [kind: string]: number }, key: Uint8Array | undefined) {
    this.counts = new Map(Object.entries(counts))
    this.key = key ?? randomBytes(32)
    for (const [placeholder, value] of entries) this.keep(placeholder, value)
  }
  get size() {
    return this.known.size
  }
  /** Numbers that were given elsewhere. */
  learn(counts: { readonly [kind: string]: number }): void {
    for (const kind of Object.keys(counts)) this.counts.set(kind, Math.max(this.counts.get(kind) ?? 0, counts[kind]!))
  }
  put(kind: string, value: Value): string | undefined {
    const known = this.names.get(nameOf(kind, value))
    if (known !== undefined) return known
    const number = (this.counts.get(kind) ?? 0) + 1
    const placeholder = `<${label(kind)}_${number}>`
    if (this.bytes + bytesOf(placeholder, value) > maxBytes) return undefined
    this.counts.set(kind, number)
    this.keep(placeholder, value)
    return placeholder
  }
  get(placeholder: string): Value | undefined {
    return this.known.get(placeholder.toUpperCase())
  }
  gave(placeholder: string): boolean {
    const [, kind = "", number = "0"] = /^<(.*)_(\d{1,15})>$/.exec(placeholder) ?? []
    return Number(number) >= 1 && Number(number) <= (this.counts.get(kind.toLowerCase().replaceAll("_", "-")) ?? 0)
  }
  *values(): Iterable<readonly [string, string]> {
    for (const [placeholder, value] of this.known) yield [String(value), kindOf(placeholder)]
  }
  entries(): ReadonlyArray<Entry> {
    return [...this.known]
  }
  digest(kind: string, value: Value): string {
    return createHmac("sha256", this.key).update(nameOf(kind, value)).digest("hex").slice(0, 8)
  }
  private keep(placeholder: string, value: Value): void {
    this.known.set(placeholder, value)
    this.names.set(nameOf(kindOf(placeholder), value), placeholder)
    this.bytes += bytesOf(placeholder, value)
  }
}

const bytesOf = (placeholder: string, value: Value): number =>
  Buffer.byteLength(JSON.stringify([placeholder, value])) + 1

const nameOf = (kind: string, value: Value): string => `${kind}\n${typeof value}\n${value}`

const kindOf = (placeholder: string): string =>
  placeholder.slice(1, placeholder.lastIndexOf("_")).toLowerCase().replaceAll("_", "-")

/** Sealed for one session: a vault that is moved to another one does not open. */
const seal = (entries: ReadonlyArray<Entry>, key: Uint8Array, sessionId: string): string => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(sessionId))
  const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(entries), "utf8"), cipher.final()])
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64")
}

const Entries = Schema.Array(Schema.Tuple([Schema.String, Schema.Union([Schema.String, Schema.Finite])]))

const unseal = (text: string, key: Uint8Array, sessionId: string): ReadonlyArray<Entry> =>
  Result.getOrThrowWith(
    Result.try(() => {
      const sealed = Buffer.from(text, "base64")
      const cipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 }).setAAD(
        Buffer.from(sessionId)
      )
      cipher.setAuthTag(sealed.subarray(-16))
      const entries: unknown = JSON.parse(
        Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()]).toString("utf8")
      )
      return Schema.decodeUnknownSync(Entries)(entries)
    }),
    () => new Error("the vault of this session does not open with this key")
  )
