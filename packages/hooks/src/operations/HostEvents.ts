/**
 * Tells the hooks of a session what happens around it: files that change, settings, instructions, and the folder it
 * works in.
 *
 * @since 0.1.0
 */
import type { Agent, AgentSession } from "@belay/core/createAgent"
import type { SignalAnswer } from "@belay/core/Delegation"
import type { JsonObject } from "@belay/core/Json"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { type FSWatcher, statSync, watch } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"

/** @category models @since 0.1.0 */
export interface Options {
  /** Whose hooks are told. */
  readonly session: Pick<AgentSession, "signal">
  /** Hears which files hooks want to be told of (`watchPaths`). */
  readonly agent?: Pick<Agent, "on">
  /** The folder that the session works in. */
  readonly cwd: string
  /** The user's home folder. Default: that of the process. */
  readonly home?: string
  /** Files that are watched, relative to `cwd`. Default: those that hooks ask for. */
  readonly files?: ReadonlyArray<string>
  /**
   * Settings files that are watched, with what each is called. Default: those of Claude Code of the user, the project
   * and the checkout; `false` for none.
   */
  readonly config?: { readonly [path: string]: ConfigSource } | false
  /**
   * Files with instructions for the agent, relative to `cwd`: told of at the start and when they change. Default: none.
   */
  readonly instructions?: ReadonlyArray<string>
  /** Milliseconds without a change before one is told. Default 100. */
  readonly debounceMs?: number
  /** Hears what hooks refused (`ConfigChange` can be), and what could not be told. */
  readonly onAnswer?: (event: string, payload: JsonObject, answer: SignalAnswer | Error) => void
}

/** What a settings file is called. @category models @since 0.1.0 */
export type ConfigSource = "user_settings" | "project_settings" | "local_settings" | "policy_settings" | "skills"

/** A watch that goes on until it is closed. @category models @since 0.1.0 */
export interface HostEvents extends AsyncDisposable {
  /** Watches more files. */
  readonly add: (paths: ReadonlyArray<string>) => void
  /**
   * The session works in another folder now: hooks are told, and files that were named relative to the old one are
   * looked for here.
   */
  readonly cd: (cwd: string) => Promise<SignalAnswer>
  /** Tells of what has changed until now, without waiting for the file system to say so. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Most files that are watched. @category limits @since 0.1.0 */
export const maxFiles = 1_000

type Watched =
  | { readonly event: "FileChanged" }
  | { readonly event: "ConfigChange"; readonly source: ConfigSource }
  | { readonly event: "InstructionsLoaded" }

/**
 * Starts to tell: `FileChanged` (`file_path`, `event`: `add`, `change` or `unlink`), `ConfigChange` (`source`,
 * `file_path`), `InstructionsLoaded` (`file_path`, `memory_type`, `load_reason`) and `CwdChanged`
 * (`old_cwd`, `new_cwd`), as signals of these names. A file that was written several times in a moment is told of once.
 * Throws a `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import type { Agent, AgentSession } from "@belay/core/createAgent"
 * import * as HostEvents from "@belay/hooks/HostEvents"
 *
 * declare const agent: Agent
 * const session = await agent.session()
 * await using events = HostEvents.start({ session, agent, cwd: "/srv/app", files: [".env"], instructions: ["AGENTS.md"] })
 * await events.cd("/srv/app/packages/web")
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const start = (options: Options): HostEvents => {
  const { agent, config, debounceMs = 100, files = [], home = homedir(), instructions = [], onAnswer, session } =
    options
  Result.getOrThrow(checkOptions("host-events", whole("debounceMs", debounceMs)))
  let cwd = resolve(options.cwd)
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let telling: Promise<void> = Promise.resolve()
  const relative = new Set(files)
  const watched = new Map<string, Watched>()
  const states = new Map<string, string | undefined>()
  const folders = new Map<string, FSWatcher>()

  const signal = async (event: string, payload: JsonObject, blockable: boolean): Promise<SignalAnswer> => {
    const answer = await session.signal({ name: event, payload, blockable }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error))
    )
    onAnswer?.(event, payload, answer)
    return answer instanceof Error ? { allowed: true } : answer
  }

  const tell = async (path: string, what: Watched, change: "add" | "change" | "unlink"): Promise<void> => {
    switch (what.event) {
      case "FileChanged":
        return void await signal("FileChanged", { file_path: path, event: change }, false)
      case "ConfigChange":
        return void await signal(
          "ConfigChange",
          { source: what.source, file_path: path },
          what.source !== "policy_settings"
        )
      case "InstructionsLoaded":
        if (change === "unlink") return
        return void await signal("InstructionsLoaded", loaded(path, home, "change"), false)
    }
  }

  /** Looks at every file, and tells of those that are not as they were. */
  const look = async (): Promise<void> => {
    for (const [path, what] of watched) {
      if (closed) return
      const [before, now] = [states.get(path), stateOf(path)]
      if (before === now) continue
      states.set(path, now)
      await tell(path, what, before === undefined ? "add" : now === undefined ? "unlink" : "change")
    }
    arm()
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    return telling = telling.then(look)
  }

  const soon = (): void => {
    if (closed) return
    clearTimeout(timer)
    timer = setTimeout(() => void flush(), debounceMs)
  }

  /** Watches the folders that files are in, or will be. */
  const arm = (): void => {
    const wanted = new Set([...watched.keys()].map((path) => nearest(dirname(path))))
    for (const [folder, watcher] of folders) {
      if (wanted.has(folder)) continue
      watcher.close()
      folders.delete(folder)
    }
    for (const folder of closed ? [] : wanted) {
      if (folders.has(folder)) continue
      const watcher = Result.getOrUndefined(Result.try(() => watch(folder, { persistent: false }, soon)))
      if (watcher === undefined) continue
      watcher.on("error", () => {
        watcher.close()
        folders.delete(folder)
        soon()
      })
      folders.set(folder, watcher)
    }
  }

  const put = (path: string, what: Watched): void => {
    if (watched.has(path) || watched.size >= maxFiles) return
    watched.set(path, what)
    states.set(path, stateOf(path))
  }

  const add = (paths: ReadonlyArray<string>): void => {
    for (const path of paths) {
      if (path === "" || path.includes("\0")) continue
      relative.add(path)
      put(resolve(cwd, path), { event: "FileChanged" })
    }
    arm()
  }

  const cd = async (to: string): Promise<SignalAnswer> => {
    await flush()
    const [old_cwd, new_cwd] = [cwd, resolve(cwd, to)]
    if (old_cwd === new_cwd) return { allowed: true }
    cwd = new_cwd
    for (const path of relative) {
      const before = resolve(old_cwd, path)
      if (before === resolve(cwd, path) || watched.get(before)?.event !== "FileChanged") continue
      watched.delete(before)
      states.delete(before)
    }
    add([...relative])
    return await signal("CwdChanged", { old_cwd, new_cwd }, false)
  }

  const close = async (): Promise<void> => {
    closed = true
    clearTimeout(timer)
    unsubscribe?.()
    for (const watcher of folders.values()) watcher.close()
    folders.clear()
    await telling
  }

  const unsubscribe = agent?.on((event) => {
    if (
      event.type !== "custom" || event.name !== "watch-paths" || typeof event.payload !== "object" ||
      event.payload === null
    ) return
    const { paths } = event.payload as { readonly paths?: unknown }
    if (Array.isArray(paths)) add(paths.filter((path): path is string => typeof path === "string"))
  })

  for (const [path, source] of Object.entries(config === false ? {} : config ?? settings(cwd, home))) {
    put(resolve(cwd, path), { event: "ConfigChange", source })
  }
  for (const path of instructions) {
    const full = resolve(cwd, path)
    put(full, { event: "InstructionsLoaded" })
    if (states.get(full) === undefined) continue
    telling = telling.then(async () =>
      void await signal("InstructionsLoaded", loaded(full, home, "session_start"), false)
    )
  }
  add(files)
  return { add, cd, flush, close, [Symbol.asyncDispose]: close }
}

const settings = (cwd: string, home: string): { readonly [path: string]: ConfigSource } => ({
  [join(home, ".claude", "settings.json")]: "user_settings",
  [join(cwd, ".claude", "settings.json")]: "project_settings",
  [join(cwd, ".claude", "settings.local.json")]: "local_settings"
})

const loaded = (path: string, home: string, load_reason: string): JsonObject => ({
  file_path: path,
  memory_type: dirname(dirname(path)) === home ? "User" : basename(path).includes(".local.") ? "Local" : "Project",
  load_reason
})

/** What a file is, as far as one can tell without reading it; nothing where there is none. */
const stateOf = (path: string): string | undefined => {
  const stat = Result.getOrUndefined(Result.try(() => statSync(path, { bigint: true })))
  return stat === undefined || !stat.isFile() ? undefined : `${stat.ino} ${stat.size} ${stat.mtimeNs}`
}

/** The folder, or the nearest above it that is there. */
const nearest = (folder: string): string => {
  const isThere = Result.isSuccess(Result.try(() => statSync(folder)))
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder))
}
