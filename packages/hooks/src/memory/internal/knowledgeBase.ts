/** The entries of an error knowledge hook: loads them, matches them with failures, and stores changes. */
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { Json } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { type CompiledEntry, compileEntry, Entry, normalizeError, novelEntry } from "./errorEntries.ts"

/**
 * Stores entries between sessions. `load` is called at the start of a session, `save` after every change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Store {
  readonly load: () => Eventual<ReadonlyArray<Entry>>
  readonly save: (entries: ReadonlyArray<Entry>) => Eventual<void>
}

/** An entry in the options. The hook adds the counts. @category models @since 0.1.0 */
export interface Known extends Pick<Entry, "id" | "signature" | "resolution"> {
  /** Default `known-fix`. */
  readonly category?: Entry["category"]
  /** The tools and commands of the entry. Default: every tool. */
  readonly scope?: Entry["scope"]
}

export const entryFromOptions = (
  { category = "known-fix", id, resolution, scope = { tool: "*" }, signature }: Known
): Entry => ({
  id,
  category,
  signature,
  scope,
  resolution,
  successRate: 0,
  attempts: 0,
  occurrences: 0,
  lastMatchedAt: 0
})

/** A failed tool call. */
interface Failure {
  readonly tool: string
  readonly args: Json
  readonly error: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A class: it holds the entries of one hook, which change. Throws a `ConfigError` for an invalid pattern. */
export class KnowledgeBase {
  /** Loads the entries again, at the start of a session. */
  readonly reload: Effect.Effect<void, unknown>
  /** Stores all entries. */
  readonly save: Effect.Effect<void, unknown>
  private readonly name: string
  private readonly maxEntries: number
  private readonly load: Effect.Effect<void, unknown>
  /** `undefined` until the store was read, or if it could not be read. */
  private entries: ReadonlyArray<CompiledEntry> | undefined
  private loadFailed = false

  constructor(name: string, initial: ReadonlyArray<Entry>, store: Store | undefined, maxEntries: number) {
    this.name = name
    this.maxEntries = maxEntries
    const compiled = Result.getOrThrow(
      Result.all(initial.map((entry, index) => compileEntry(entry, `${name}.entries[${index}]`)))
    )
    this.entries = store === undefined ? compiled : undefined
    const queue = Semaphore.makeUnsafe(1)
    this.load = queue.withPermit(
      Effect.suspend(() => this.entries !== undefined || store === undefined ? Effect.void : this.read(store, compiled))
    )
    this.reload = Effect.suspend(() => {
      this.loadFailed = false
      return this.load
    })
    this.save = queue.withPermit(Effect.suspend(() => {
      const { entries } = this
      if (store === undefined || entries === undefined) return Effect.void
      return eventual(() => store.save(entries.map(({ entry }) => entry)))
    }))
  }

  /** Runs `f` with the entries. Loads them first if they were not loaded yet. Does nothing if they cannot be loaded. */
  whenLoaded(f: () => Effect.Effect<void, unknown> | undefined): Effect.Effect<void, unknown> | undefined {
    if (this.entries !== undefined) return f()
    return this.loadFailed ? undefined : Effect.andThen(this.load, Effect.suspend(() => f() ?? Effect.void))
  }

  /** The entries for a call whose resolution the model has not read yet. */
  unknownTo(informed: ReadonlyArray<string>, tool: string, command: string): ReadonlyArray<Entry> {
    return this.all.flatMap(({ entry, isFor }) =>
      entry.resolution.length > 0 && !informed.includes(entry.id) && isFor(tool, command) ? [entry] : []
    )
  }

  /** Counts whether the resolutions of these entries helped in a call, and returns the ids of those that were tried. */
  learn(ids: ReadonlyArray<string>, tool: string, command: string, succeeded: boolean): ReadonlyArray<string> {
    if (ids.length === 0) return []
    const tried = this.all.filter(({ entry, isFor }) => ids.includes(entry.id) && isFor(tool, command))
    for (const { entry } of tried) {
      const attempts = entry.attempts + 1
      const successes = entry.successRate * entry.attempts + (succeeded ? 1 : 0)
      this.put({ ...entry, attempts, successRate: successes / attempts })
    }
    return tried.map(({ entry }) => entry.id)
  }

  /** Counts a failure in the entry that matches, or in a new one. Returns the entry, if there is one. */
  record({ args, error, now, tool }: Failure, command: string, addsNew: boolean): Entry | undefined {
    const found = this.all.filter(({ isFor, matches }) => isFor(tool, command) && matches(error))
    // An entry that a person wrote takes precedence over one that the hook added.
    const match = (found.find(({ entry }) => entry.category !== "novel") ?? found[0])?.entry
    if (match === undefined && (!addsNew || normalizeError(error) === "")) return undefined
    const entry = match === undefined
      ? novelEntry(tool, args, error, now)
      : { ...match, occurrences: match.occurrences + 1, lastMatchedAt: now }
    this.put(entry)
    return entry
  }

  private get all(): ReadonlyArray<CompiledEntry> {
    return this.entries ?? []
  }

  private read(store: Store, initial: ReadonlyArray<CompiledEntry>): Effect.Effect<void, unknown> {
    return eventual(() => store.load()).pipe(
      Effect.flatMap((found) => Schema.decodeEffect(Schema.Array(Entry))(found)),
      Effect.flatMap((found) =>
        Effect.fromResult(Result.all(found.map((entry) => compileEntry(entry, `${this.name} entry ${entry.id}`))))
      ),
      Effect.tapCause(() => Effect.sync(() => this.loadFailed = true)),
      Effect.map((found) => {
        this.entries = mergeEntries(initial, found)
      })
    )
  }

  /** Replaces or adds an entry. If there are too many, the oldest novel entry is dropped. */
  private put(entry: Entry): void {
    const compiled = Result.getOrUndefined(compileEntry(entry, this.name))
    if (compiled === undefined || this.entries === undefined) return
    const isKnown = this.entries.some((one) => one.entry.id === entry.id)
    const all = isKnown
      ? this.entries.map((one) => one.entry.id === entry.id ? compiled : one)
      : [...this.entries, compiled]
    const oldest = all.length > this.maxEntries ? oldestNovel(all.filter((one) => one !== compiled)) : undefined
    this.entries = all.filter((one) => one !== oldest)
  }
}

const oldestNovel = (entries: ReadonlyArray<CompiledEntry>): CompiledEntry | undefined =>
  entries.filter(({ entry }) => entry.category === "novel")
    .sort((a, b) => a.entry.lastMatchedAt - b.entry.lastMatchedAt)[0]

/** The initial entries with the counts of the store, and the other entries of the store. */
const mergeEntries = (
  initial: ReadonlyArray<CompiledEntry>,
  stored: ReadonlyArray<CompiledEntry>
): ReadonlyArray<CompiledEntry> => [
  ...initial.map((one) => {
    const counts = stored.find(({ entry }) => entry.id === one.entry.id)?.entry
    if (counts === undefined) return one
    const { attempts, lastMatchedAt, occurrences, successRate } = counts
    return { ...one, entry: { ...one.entry, attempts, lastMatchedAt, occurrences, successRate } }
  }),
  ...stored.filter(({ entry }) => !initial.some((one) => one.entry.id === entry.id))
]
