/**
 * Remembers the failures of tools and what helped. It informs the model about known failures, and records new ones.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { ErrorAlerts } from "./internal/errorAlerts.ts"
import { commandOf, Entry } from "./internal/errorEntries.ts"
import { makeJsonFile } from "./internal/jsonFile.ts"
import { entryFromOptions, KnowledgeBase, type Known, type Store } from "./internal/knowledgeBase.ts"

export { Entry, normalizeError } from "./internal/errorEntries.ts"
export { FileError } from "./internal/jsonFile.ts"
export type { Known, Store } from "./internal/knowledgeBase.ts"

/** Options of `ErrorKnowledge.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * Entries that are known from the beginning. If the store has an entry with the same id, only its counts are used.
   * Default none.
   */
  readonly entries?: ReadonlyArray<Known>
  /** Stores the entries. Default: in memory, as long as the hook exists. */
  readonly store?: Store
  /** For how long after an alert the same failure causes no other alert. Default 1 minute. */
  readonly window?: Duration.Input
  /** Whether new failures are added as entries. Default true. */
  readonly record?: boolean
  /** The most entries. The `novel` entries that did not happen for the longest time are dropped. Default 500. */
  readonly maxEntries?: number
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  entries: "list",
  store: "object",
  window: ["object", "number"],
  record: "flag",
  maxEntries: "number"
}

/**
 * Before a tool call, the hook informs the model about known failures of such calls, once in a turn. After a failure,
 * it finds the entry whose signature matches, or adds a `novel` one. It then alerts the developer with a warning and
 * the event `error-knowledge`, once for all agents of a conversation (`ctx.state`), and gives the model of the agent
 * the resolution (`ctx.local`). The next call in the scope of the entry shows whether the resolution helped. If the
 * store cannot be read, the hook fails at the start of the session and does nothing in it; the store is not
 * overwritten. Throws a `ConfigError` for an invalid pattern.
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
  HookDefaults.checkKinds("error-knowledge", options, optionKinds)
  const { entries = [], maxEntries = 500, name = "error-knowledge", record = true, store } = options
  Result.getOrThrow(checkOptions(name, whole("maxEntries", maxEntries, 1)))
  const base = new KnowledgeBase(name, entries.map(entryFromOptions), store, maxEntries)
  const alerts = new ErrorAlerts(name, Duration.toMillis(options.window ?? "1 minute"))
  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      // Makes the hook the first one to see a result, because signatures match the original errors of tools.
      priority: 950,
      onSessionStart: store === undefined ? undefined : () => base.reload,
      preToolCall: ({ args, name: tool }, ctx) =>
        base.whenLoaded(() => {
          const command = commandOf(args)
          alerts.adviseBefore(tool, (told) => base.unknownTo(told, tool, command), ctx)
          return undefined
        }),
      postToolCall: ({ call: { args, name: tool }, executed, result }, ctx) => {
        if (!executed || (result.ok && !alerts.hasPending(ctx))) return undefined
        return base.whenLoaded(() => {
          const command = commandOf(args)
          const tried = base.learn(alerts.pending(ctx), tool, command, result.ok)
          alerts.removePending(tried, ctx)
          if (result.ok) return tried.length > 0 ? base.save : undefined
          const { error } = result
          return Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const entry = base.record({ tool, args, error, now }, command, record)
            if (entry === undefined) return tried.length > 0 ? base.save : Effect.void
            alerts.report(entry, tool, error, now, ctx)
            return base.save
          })
        })
      }
    })
  )
}

/**
 * Makes a store in a JSON file. The file is replaced as a whole. A broken file fails with a `FileError` and is never
 * overwritten. Only one process should write the file; if two do, the counts of the last one stay.
 *
 * @category stores
 * @since 0.1.0
 */
export const file = (path: string): Store => {
  const { load, save } = makeJsonFile(path, "error knowledge", Schema.Array(Entry), [])
  return { load: () => load, save }
}

/** Makes a store in memory, which several hooks or a test can share. @category stores @since 0.1.0 */
export const memory = (entries: ReadonlyArray<Entry> = []): Store => {
  let stored = entries
  return {
    load: () => stored,
    save: (changed) => {
      stored = changed
    }
  }
}
