/**
 * Remembers how tools fail and what helped: it tells the model what is known, and learns from what happens.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as HookDefaults from "../HookDefaults.ts"
import * as JsonFile from "./internal/jsonfile.ts"
import * as Knowledge from "./internal/knowledge.ts"

export { FileError } from "./internal/jsonfile.ts"
export { Entry } from "./internal/knowledge.ts"

/**
 * Where entries are kept between sessions. `load` is asked at the start of a session, `save` after every change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Store {
  readonly load: () => Eventual<ReadonlyArray<Knowledge.Entry>>
  readonly save: (entries: ReadonlyArray<Knowledge.Entry>) => Eventual<void>
}

/** What a person writes down of a failure; the rest is counted. @category models @since 0.1.0 */
export interface Known extends Pick<Knowledge.Entry, "id" | "signature" | "resolution"> {
  /** Default `known-fix`. */
  readonly category?: Knowledge.Entry["category"]
  /** Default: every tool. */
  readonly scope?: Knowledge.Entry["scope"]
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** What is known from the beginning. The store's counts are kept, its words are not. */
  readonly entries?: ReadonlyArray<Known>
  /** Default: in memory, as long as the hook lives. */
  readonly store?: Store
  /** How long after an alert the same failure is not told of again. Default 1 minute. */
  readonly window?: Duration.Input
  /** Whether failures that nobody has seen before are written down. Default true. */
  readonly record?: boolean
  /** Most entries; of the novel ones, those that did not happen for longest are forgotten. Default 500. */
  readonly maxEntries?: number
}

/**
 * Before a call, has the model read what is known to go wrong with such calls, once a turn. After a failure, finds the
 * entry whose signature matches, or writes
 * a novel one down, and tells: the developer with a warning and the event `error-knowledge`, the model with the
 * resolution. The next call of
 * its scope says whether the resolution helped. A store that cannot be read is never written to: the hook then fails
 * at the start of the session, and knows nothing. Throws a `ConfigError` for a bad pattern.
 *
 * @example
 * ```ts
 * import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
 *
 * const knowledge = ErrorKnowledge.make({
 *   store: ErrorKnowledge.file("error-knowledge.json"),
 *   entries: [{
 *     id: "stale-archive",
 *     signature: "archive .* is older than its sources",
 *     scope: { tool: "bash", command: "^npm run package" },
 *     resolution: ["Remove dist/ and run the build again."]
 *   }]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const { entries: seeds = [], maxEntries = 500, name = "error-knowledge", record = true, store } = options
  const windowMs = Duration.toMillis(options.window ?? "1 minute")
  Result.getOrThrow(checkOptions(name, whole("maxEntries", maxEntries, 1)))
  const seeded = Result.getOrThrow(
    Result.all(seeds.map((seed, index) => Knowledge.compile(entryOf(seed), `${name}.entries[${index}]`)))
  )

  const state = HookState.key(`${name}/state`, State, { turn: 0, told: [], alerts: [], pending: [] })
  const queue = Semaphore.makeUnsafe(1)

  /** Absent until the store was read, and when it could not be. */
  let known: ReadonlyArray<Knowledge.Compiled> | undefined = store === undefined ? seeded : undefined
  let failed = false
  const load = Effect.suspend(() =>
    known !== undefined || store === undefined ? Effect.void : eventual(() => store.load()).pipe(
      Effect.flatMap((found) => Schema.decodeEffect(Schema.Array(Knowledge.Entry))(found)),
      Effect.flatMap((found) =>
        Effect.fromResult(Result.all(found.map((entry) => Knowledge.compile(entry, `${name} entry ${entry.id}`))))
      ),
      Effect.tap((found) => Effect.sync(() => known = merged(seeded, found))),
      Effect.tapCause(() => Effect.sync(() => failed = true))
    )
  ).pipe((reading) => queue.withPermit(reading))
  const save = Effect.suspend(() =>
    store === undefined || known === undefined
      ? Effect.void
      : eventual(() => store.save(known!.map(({ entry }) => entry)))
  ).pipe((writing) => queue.withPermit(writing))
  /** Runs `f` with the entries, which are read first where that was not tried yet. */
  const ready = (f: () => Effect.Effect<void, unknown> | undefined): Effect.Effect<void, unknown> | undefined =>
    known !== undefined ? f() : failed ? undefined : Effect.andThen(load, Effect.suspend(() => f() ?? Effect.void))

  const put = (entry: Knowledge.Entry): void => {
    const compiled = Result.getOrUndefined(Knowledge.compile(entry, name))
    if (compiled === undefined || known === undefined) return
    const others = known.filter((one) => one.entry.id !== entry.id)
    const all = known.length === others.length
      ? [...others, compiled]
      : known.map((one) => one.entry.id === entry.id ? compiled : one)
    const oldest = all.length > maxEntries
      ? all.filter((one) => one.entry.category === "novel" && one !== compiled).sort((a, b) =>
        a.entry.lastMatchedAt - b.entry.lastMatchedAt
      )[0]
      : undefined
    known = all.filter((one) => one !== oldest)
  }

  /** Says whether what the model read about an earlier failure has helped. */
  const learn = (tool: string, command: string, ok: boolean, ctx: HookContext): boolean => {
    const { pending } = ctx.state.get(state)
    if (pending.length === 0) return false
    const tried = known!.filter(({ entry, isFor }) => pending.includes(entry.id) && isFor(tool, command))
    if (tried.length === 0) return false
    for (const { entry } of tried) {
      const attempts = entry.attempts + 1
      put({ ...entry, attempts, successRate: (entry.successRate * entry.attempts + (ok ? 1 : 0)) / attempts })
    }
    ctx.state.update(
      state,
      (now) => ({ ...now, pending: now.pending.filter((id) => !tried.some(({ entry }) => entry.id === id)) })
    )
    return true
  }

  const tell = (entry: Knowledge.Entry, tool: string, error: string, now: number, ctx: HookContext): void => {
    const { category, id, occurrences, resolution } = entry
    const { alerts } = ctx.state.get(state)
    const last = alerts.find((alert) => alert.id === id)
    const quiet = last !== undefined && now - last.at < windowMs
    const missed = quiet ? last.missed + 1 : 0
    const others = alerts.filter((alert) => alert !== last)
    const alert = { id, at: quiet ? last.at : now, missed }
    const helps = !quiet && resolution.length > 0
    ctx.state.update(state, (before) => ({
      ...before,
      alerts: [...others, alert].slice(-maxKept),
      pending: helps ? [...before.pending.filter((one) => one !== id), id].slice(-maxKept) : before.pending
    }))
    if (quiet) return
    const more = last !== undefined && last.missed > 0 ? ` (${last.missed} more since the last word about it)` : ""
    ctx.warn(
      `${category} failure of ${tool}, ${occurrences === 1 ? "the first" : `number ${occurrences}`}${more}: ${
        Knowledge.normalised(error)
      }`
    )
    ctx.events.emit("error-knowledge", { id, category, tool, occurrences })
    if (helps) {
      ctx.inject(`This failure of ${tool} is known. ${advice(entry)}`, { key: `${name}/${id}`, mode: "overwrite" })
    }
  }

  return HookDefaults.apply(options, {
    name,
    // The first to see a result: signatures are written for what the tool said.
    priority: 950,
    ...(store === undefined ? {} : {
      onSessionStart: () => {
        failed = false
        return Effect.asVoid(load)
      }
    }),
    preToolCall: ({ args, name: tool }, ctx) =>
      ready(() => {
        const command = Knowledge.commandOf(args)
        const now = ctx.state.get(state)
        const told = now.turn === ctx.turnNumber ? now.told : []
        const news = known!.filter(({ entry, isFor }) =>
          entry.resolution.length > 0 && !told.includes(entry.id) && isFor(tool, command)
        )
        if (news.length === 0) return undefined
        ctx.state.set(state, {
          ...now,
          turn: ctx.turnNumber,
          told: [...told, ...news.map(({ entry }) => entry.id)].slice(-maxKept)
        })
        for (const { entry } of news.slice(0, maxTold)) {
          ctx.inject(`Known trouble with such calls of ${tool}: ${entry.id}. ${advice(entry)}`, {
            key: `${name}/${entry.id}`,
            mode: "overwrite"
          })
        }
        return undefined
      }),
    postToolCall: ({ call: { args, name: tool }, executed, result }, ctx) =>
      !executed || (result.ok && ctx.state.get(state).pending.length === 0) ? undefined : ready(() => {
        const command = Knowledge.commandOf(args)
        const learned = learn(tool, command, result.ok, ctx)
        if (result.ok) return learned ? save : undefined
        const { error } = result
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          // What a person wrote goes before what was only written down.
          const found = known!.filter(({ isFor, matches }) => isFor(tool, command) && matches(error))
          const match = (found.find(({ entry }) => entry.category !== "novel") ?? found[0])?.entry
          if (match === undefined && (!record || Knowledge.normalised(error) === "")) {
            return learned
              ? save
              : Effect.void
          }
          const entry = match === undefined
            ? Knowledge.novel(tool, args, error, now)
            : { ...match, occurrences: match.occurrences + 1, lastMatchedAt: now }
          put(entry)
          tell(entry, tool, error, now, ctx)
          return save
        })
      })
  })
}

/**
 * Keeps entries in a JSON file. It is replaced as a whole, so that a reader sees the old text or the new one; a broken
 * file is a `FileError` and is never written over. One
 * process at a time: of two that write, the last one's counts stay.
 *
 * @category stores
 * @since 0.1.0
 */
export const file = (path: string): Store => {
  const { load, save } = JsonFile.make(path, "error knowledge", Schema.Array(Knowledge.Entry), [])
  return { load: () => load, save }
}

/** Keeps entries in memory, to be shared by several hooks and read by a test. @category stores @since 0.1.0 */
export const memory = (entries: ReadonlyArray<Knowledge.Entry> = []): Store => {
  let kept = entries
  return {
    load: () => kept,
    save: (changed) => {
      kept = changed
    }
  }
}

const State = Schema.Struct({
  turn: Schema.Finite,
  /** Entries that the model was told of before a call of this turn. */
  told: Schema.Array(Schema.String),
  alerts: Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.Finite, missed: Schema.Finite })),
  /** Entries whose resolution the model has read and not tried yet. */
  pending: Schema.Array(Schema.String)
})

const maxKept = 128
const maxTold = 5

const entryOf = (
  { category = "known-fix", id, resolution, scope = { tool: "*" }, signature }: Known
): Knowledge.Entry => ({
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

/** Seeds with the counts of the store, and the rest of the store. */
const merged = (
  seeds: ReadonlyArray<Knowledge.Compiled>,
  found: ReadonlyArray<Knowledge.Compiled>
): ReadonlyArray<Knowledge.Compiled> => [
  ...seeds.map((seed) => {
    const kept = found.find(({ entry }) => entry.id === seed.entry.id)?.entry
    if (kept === undefined) return seed
    const { attempts, lastMatchedAt, occurrences, successRate } = kept
    return { ...seed, entry: { ...seed.entry, attempts, lastMatchedAt, occurrences, successRate } }
  }),
  ...found.filter(({ entry }) => !seeds.some((seed) => seed.entry.id === entry.id))
]

const advice = ({ attempts, resolution, successRate }: Knowledge.Entry): string =>
  [
    `What helps: ${
      resolution.length === 1 ? resolution[0] : resolution.map((step, index) => `${index + 1}. ${step}`).join(" ")
    }`,
    ...(attempts === 0
      ? []
      : [`(helped in ${Math.round(successRate * 100)} % of ${attempts} attempt${attempts === 1 ? "" : "s"})`])
  ].join(" ")

/**
 * An error text without what differs from one occurrence to the next: numbers, paths, addresses.
 *
 * @category operations
 * @since 0.1.0
 */
export const normalizeError = Knowledge.normalised
