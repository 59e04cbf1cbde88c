/**
 * Stores sessions, artifacts, inboxes, events, budgets and standing approvals in one SQLite file that several processes
 * can share. It uses `node:sqlite`, so there is nothing to install.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { RuleStore } from "@belay/core/Approvals"
import type { ArtifactStore } from "@belay/core/ArtifactStore"
import type { Erasure } from "@belay/core/Erasure"
import type { EventLog } from "@belay/core/EventLog"
import type { Inbox } from "@belay/core/Inbox"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Result from "effect/Result"
import type { Account, Ledger } from "./internal/accounts.ts"
import { StoreError } from "./internal/error.ts"
import { artifactsOf } from "./internal/sqlite/artifacts.ts"
import { ledgerOf, rulesOf } from "./internal/sqlite/books.ts"
import { open } from "./internal/sqlite/database.ts"
import { erasureOf } from "./internal/sqlite/erase.ts"
import { eventsOf } from "./internal/sqlite/events.ts"
import { inboxOf } from "./internal/sqlite/inbox.ts"
import { sessionsOf } from "./internal/sqlite/sessions.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /**
   * Path of the file, on a local disk. A new file is created with mode 0600 and its folder with mode 0700. `:memory:`
   * keeps everything in this process.
   */
  readonly path: string
  /**
   * `normal` survives the end of the process. `full` also survives a power cut and is several times slower. Default
   * `normal`.
   */
  readonly synchronous?: "normal" | "full"
  /** How many milliseconds an operation waits for other processes, which blocks this one. Default 10,000. */
  readonly patience?: number
}

/** An open store. Its operations fail with a `StoreError`. @category models @since 0.1.0 */
export interface SqliteStore extends Disposable {
  /** For `store` of an agent. */
  readonly sessions: Required<SessionStore>
  /** The artifacts of the sessions. The same as `sessions.artifacts`. */
  readonly artifacts: ArtifactStore
  /** For `store` of a host, together with the sessions. */
  readonly inbox: Inbox
  /** For `store` of a host: the events of the last turn of each session. */
  readonly events: EventLog
  /** For `store` of a host, whose `erase` uses it. */
  readonly erasure: Erasure
  /** For `ledger` of a budget hook. */
  readonly ledger: Ledger
  /** For `approvals.rules` of an agent. */
  readonly rules: RuleStore
  /** Closes the file. Later operations fail with `closed`. */
  readonly close: () => void
}

export { type Account, type Ledger, StoreError }

const optionKinds: OptionKinds<Options> = {
  path: "text",
  synchronous: "text",
  patience: "number"
}

/**
 * Opens a store. Throws a `StoreError` for a file that is damaged, newer or of another program, and does not change
 * that file. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as SqliteStore from "@belay/providers/SqliteStore"
 *
 * const store = SqliteStore.make({ path: "data/agent.db" })
 * export const agent = createAgent({
 *   provider: OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" }),
 *   store: store.sessions,
 *   approvals: { rules: store.rules }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): SqliteStore => {
  Result.getOrThrow(checkKinds("sqlite-store", options, optionKinds, ["path"]))
  const { patience = 10_000, path, synchronous = "normal" } = Result.getOrThrow(check(options))
  const database = open(path, synchronous, patience)
  const artifacts = artifactsOf(database)
  return {
    sessions: { ...sessionsOf(database), artifacts },
    artifacts,
    inbox: inboxOf(database),
    events: eventsOf(database),
    erasure: erasureOf(database),
    ledger: ledgerOf(database),
    rules: rulesOf(database),
    close: database.close,
    [Symbol.dispose]: database.close
  }
}

const check = (options: Options): Result.Result<Options, ConfigError> => {
  const { patience = 0, path, synchronous = "normal" } = options
  const refuse = (key: keyof Options, expected: string) =>
    Result.fail(new ConfigError({ key: `sqlite-store.${key}`, message: `sqlite-store.${key}: expected ${expected}` }))
  if (typeof path !== "string" || path === "" || path.includes("\0") || path.startsWith("file:")) {
    return refuse("path", "the path of a file, or \":memory:\"")
  }
  if (synchronous !== "normal" && synchronous !== "full") return refuse("synchronous", "\"normal\" or \"full\"")
  if (!Number.isInteger(patience) || patience < 0 || patience > 3_600_000) {
    return refuse("patience", "whole milliseconds, at most an hour")
  }
  return Result.succeed(options)
}
