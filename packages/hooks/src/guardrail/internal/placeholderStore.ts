/** The values that placeholders stand for, by session: in memory, or encrypted in the session's state. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { nodeCrypto } from "../../internal/nodeCrypto.ts"

/** A value that was replaced in a text, or a number that was replaced in JSON. */
export type Value = string | number

/** The placeholders of one session. */
export interface Placeholders {
  /** Returns the placeholder of a value, which is always the same; `undefined` when there is no room for the value. */
  readonly put: (kind: string, value: Value) => string | undefined
  /** Returns the value of a placeholder, whatever letter case it is written in. */
  readonly get: (placeholder: string) => Value | undefined
  /** Whether a hook of the conversation made the placeholder. */
  readonly isKnown: (placeholder: string) => boolean
  /** All values with their kinds. */
  readonly values: () => Iterable<readonly [value: string, kind: string]>
  /** The number of values. */
  readonly size: number
  /** Returns a short keyed digest, which is the same for the same value within a session. */
  readonly digest: (kind: string, value: Value) => string
}

/** The part of a context that identifies the hook and its session. */
type SessionOfHook = Pick<HookContext, "hook" | "root" | "state">

/** The placeholders of all sessions of one hook. */
export interface PlaceholderStore {
  /** Calls `f` with the placeholders of the session, and stores the placeholders that it makes. */
  readonly use: <A>(ctx: SessionOfHook, f: (placeholders: Placeholders) => A) => A
  /** Moves the placeholders of a conversation that continues in another session. */
  readonly move: (from: string, ctx: SessionOfHook) => void
  /** Removes the placeholders of a session from memory. */
  readonly drop: (sessionId: string) => void
}

/** The name of a kind inside of a marker or a placeholder: `EMAIL`. */
export const kindLabel = (kind: string): string => kind.toUpperCase().replaceAll("-", "_")

/** The most bytes of JSON that are stored for a session. The encrypted JSON has to fit into one key of the state. */
const maxBytes = 48_000

/**
 * The last number of each kind that a hook has used. A number is used once in a conversation, by one hook, even if its
 * value was removed.
 */
const counts = HookState.ownKey("placeholder-counts", Schema.Record(Schema.String, Schema.Finite), {})

/** The last number of each kind that any hook of the conversation has used. */
const highestCounts = (state: SessionOfHook["state"]): Map<string, number> => {
  const highest = new Map<string, number>()
  for (const ofHook of state.all(counts).values()) raise(highest, ofHook)
  return highest
}

const raise = (counts: Map<string, number>, others: { readonly [kind: string]: number }): void => {
  for (const kind of Object.keys(others)) counts.set(kind, Math.max(counts.get(kind) ?? 0, others[kind]!))
}

/**
 * Makes the store of a hook. With a key of 32 bytes the placeholders are also encrypted (AES-256-GCM) in the session's
 * state, under `@<hook>/vault`.
 */
export const makePlaceholderStore = (key: Uint8Array | undefined): PlaceholderStore => {
  const open = new Map<string, { readonly data: PlaceholderTable; readonly encrypted: string }>()
  const keyOf = HookState.ownKey("vault", "")
  return {
    use: (ctx, f) => {
      const { hook, root: { sessionId }, state } = ctx
      const stored = keyOf(hook)
      const encrypted = key === undefined ? "" : state.get(stored)
      let known = open.get(sessionId)
      if (known === undefined || known.encrypted !== encrypted) {
        const entries = encrypted === "" || key === undefined ? [] : decrypt(encrypted, key, sessionId)
        open.set(sessionId, known = { data: new PlaceholderTable(entries, highestCounts(state), key), encrypted })
      }
      const { data } = known
      data.otherCounts = () => state.all(counts).values()
      const before = data.size
      // New placeholders are stored even if `f` throws, because a text with them may have been sent already.
      const result = Result.try(() => f(data))
      if (data.size !== before) {
        state.set(counts(hook), Object.fromEntries(data.counts))
        if (key !== undefined) {
          const text = encrypt(data.entries(), key, sessionId)
          state.set(stored, text)
          open.set(sessionId, { data, encrypted: text })
        }
      }
      return Result.getOrThrow(result)
    },
    move: (from, { hook, root: { sessionId }, state }) => {
      const stored = keyOf(hook)
      const encrypted = key === undefined ? "" : state.get(stored)
      const known = open.get(from)
      open.delete(from)
      const data = known?.data ??
        new PlaceholderTable(
          encrypted === "" || key === undefined ? [] : decrypt(encrypted, key, from),
          highestCounts(state),
          key
        )
      const text = key === undefined || data.size === 0 ? encrypted : encrypt(data.entries(), key, sessionId)
      if (text !== encrypted) state.set(stored, text)
      open.set(sessionId, { data, encrypted: text })
    },
    drop: (sessionId) => void open.delete(sessionId)
  }
}

type Entry = readonly [placeholder: string, value: Value]

/** A class: a small mutable table with several views. */
class PlaceholderTable implements Placeholders {
  readonly counts: Map<string, number>
  private readonly byValue = new Map<string, string>()
  private readonly byPlaceholder = new Map<string, Value>()
  private bytes = 0
  /** The numbers that the hooks of the conversation have used until now. Read only when a number is needed. */
  otherCounts: () => Iterable<{ readonly [kind: string]: number }> = () => []
  private key: Uint8Array | undefined

  constructor(entries: ReadonlyArray<Entry>, counts: Map<string, number>, key: Uint8Array | undefined) {
    this.counts = counts
    this.key = key
    for (const [placeholder, value] of entries) this.store(placeholder, value)
  }
  get size() {
    return this.byPlaceholder.size
  }
  /** Skips the numbers that other hooks have used. */
  private raiseCounts(): void {
    for (const ofHook of this.otherCounts()) raise(this.counts, ofHook)
  }
  put(kind: string, value: Value): string | undefined {
    const known = this.byValue.get(nameOf(kind, value))
    if (known !== undefined) return known
    this.raiseCounts()
    const number = (this.counts.get(kind) ?? 0) + 1
    const placeholder = `<${kindLabel(kind)}_${number}>`
    if (this.bytes + bytesOf(placeholder, value) > maxBytes) return undefined
    this.counts.set(kind, number)
    this.store(placeholder, value)
    return placeholder
  }
  get(placeholder: string): Value | undefined {
    return this.byPlaceholder.get(placeholder.toUpperCase())
  }
  isKnown(placeholder: string): boolean {
    this.raiseCounts()
    const [, kind = "", number = "0"] = /^<(.*)_(\d{1,15})>$/.exec(placeholder) ?? []
    return Number(number) >= 1 && Number(number) <= (this.counts.get(kind.toLowerCase().replaceAll("_", "-")) ?? 0)
  }
  *values(): Iterable<readonly [string, string]> {
    for (const [placeholder, value] of this.byPlaceholder) yield [String(value), kindOf(placeholder)]
  }
  entries(): ReadonlyArray<Entry> {
    return [...this.byPlaceholder]
  }
  digest(kind: string, value: Value): string {
    this.key ??= nodeCrypto().randomBytes(32)
    return nodeCrypto().createHmac("sha256", this.key).update(nameOf(kind, value)).digest("hex").slice(0, 8)
  }
  private store(placeholder: string, value: Value): void {
    this.byPlaceholder.set(placeholder, value)
    this.byValue.set(nameOf(kindOf(placeholder), value), placeholder)
    this.bytes += bytesOf(placeholder, value)
  }
}

/** For scans that neither make placeholders nor look for them. */
export const noPlaceholders: Placeholders = new PlaceholderTable([], new Map(), undefined)

const bytesOf = (placeholder: string, value: Value): number =>
  Buffer.byteLength(JSON.stringify([placeholder, value])) + 1

const nameOf = (kind: string, value: Value): string => `${kind}\n${typeof value}\n${value}`

const kindOf = (placeholder: string): string =>
  placeholder.slice(1, placeholder.lastIndexOf("_")).toLowerCase().replaceAll("_", "-")

/** Encrypts for one session: in another session the text cannot be decrypted. */
const encrypt = (entries: ReadonlyArray<Entry>, key: Uint8Array, sessionId: string): string => {
  const { createCipheriv, randomBytes } = nodeCrypto()
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(sessionId))
  const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(entries), "utf8"), cipher.final()])
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64")
}

const Entries = Schema.Array(Schema.Tuple([Schema.String, Schema.Union([Schema.String, Schema.Finite])]))

const decrypt = (text: string, key: Uint8Array, sessionId: string): ReadonlyArray<Entry> =>
  Result.getOrThrowWith(
    Result.try(() => {
      const sealed = Buffer.from(text, "base64")
      const cipher = nodeCrypto().createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 })
        .setAAD(
          Buffer.from(sessionId)
        )
      cipher.setAuthTag(sealed.subarray(-16))
      const entries: unknown = JSON.parse(
        Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()]).toString("utf8")
      )
      return Schema.decodeUnknownSync(Entries)(entries)
    }),
    () => new Error("the stored values of this session cannot be decrypted with this key")
  )
