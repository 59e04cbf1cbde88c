/**
 * Calls the hooks of a session with a signal when files, settings or instructions change, or when the session moves to
 * another folder.
 *
 * @since 0.1.0
 */
import type { Agent, AgentSession } from "@belay/core/createAgent"
import type { SignalAnswer } from "@belay/core/Delegation"
import type { JsonObject } from "@belay/core/Json"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { nodeFs } from "../internal/nodeFs.ts"
import { FolderWatchers } from "./internal/folderWatchers.ts"

/** Options of `HostEvents.start`. @category models @since 0.1.0 */
export interface Options {
  /** The session whose hooks receive the signals. Required. */
  readonly session: Pick<AgentSession, "signal">
  /** The agent of the session. Its hooks can request files to watch (`watchPaths`). Default: they cannot. */
  readonly agent?: Pick<Agent, "on">
  /** The folder that the session works in. Required. */
  readonly cwd: string
  /** The user's home folder. Default: the home folder of the user who runs the process. */
  readonly home?: string
  /** Files to watch, relative to `cwd`, in addition to those that hooks request. Default none. */
  readonly files?: ReadonlyArray<string>
  /**
   * Settings files to watch, by path, with their kind. `false` for none. Default: the settings of Claude Code of the
   * user, the project and the checkout.
   */
  readonly config?: { readonly [path: string]: ConfigSource } | false
  /**
   * Files with instructions for the agent, relative to `cwd`. They cause a signal at the start and when they change.
   * Default none.
   */
  readonly instructions?: ReadonlyArray<string>
  /** How many milliseconds without another change to wait before a signal. Default 100. */
  readonly debounceMs?: number
  /** Called with the answer to each signal (hooks can reject `ConfigChange`), or with the error if sending failed. */
  readonly onAnswer?: (event: string, payload: JsonObject, answer: SignalAnswer | Error) => void
}

/** The kind of a settings file. @category models @since 0.1.0 */
export type ConfigSource = "user_settings" | "project_settings" | "local_settings" | "policy_settings" | "skills"

/** A watch, which runs until it is closed. @category models @since 0.1.0 */
export interface HostEvents extends AsyncDisposable {
  /** Watches more files. */
  readonly add: (paths: ReadonlyArray<string>) => void
  /**
   * Moves the session to another folder: sends `CwdChanged`, and watches relative files in the new folder.
   */
  readonly cd: (cwd: string) => Promise<SignalAnswer>
  /** Checks all files now and sends signals for changes, without waiting for the file system. */
  readonly flush: () => Promise<void>
  /** Ends the watch. */
  readonly close: () => Promise<void>
}

/** The most files that are watched. @category limits @since 0.1.0 */
export const maxFiles = 1_000

/** What a change of a file means. */
type WatchedFile =
  | { readonly event: "FileChanged" }
  | { readonly event: "ConfigChange"; readonly source: ConfigSource }
  | { readonly event: "InstructionsLoaded" }

const optionKinds: OptionKinds<Options> = {
  session: "any",
  agent: "any",
  cwd: "text",
  home: "text",
  files: "textList",
  config: ["object", "flag"],
  instructions: "textList",
  debounceMs: "number",
  onAnswer: "function"
}

/**
 * Starts the watch. It sends these signals:
 *
 * - `FileChanged` with `file_path` and `event` (`add`, `change` or `unlink`)
 * - `ConfigChange` with `source` and `file_path`
 * - `InstructionsLoaded` with `file_path`, `memory_type` and `load_reason`
 * - `CwdChanged` with `old_cwd` and `new_cwd`
 *
 * Several changes of a file within `debounceMs` cause one signal. Throws a `ConfigError` for an invalid number.
 *
 * @example
 * ```ts
 * import type { Agent, AgentSession } from "@belay/core/createAgent"
 * import * as HostEvents from "@belay/hooks/HostEvents"
 *
 * declare const agent: Agent
 * const session = await agent.session()
 * const events = HostEvents.start({
 *   session,
 *   agent,
 *   cwd: "/srv/app",
 *   files: [".env"],
 *   instructions: ["AGENTS.md"]
 * })
 * await events.cd("/srv/app/packages/web")
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const start = (options: Options): HostEvents => {
  Result.getOrThrow(checkKinds("host-events", options, optionKinds, ["session", "cwd"]))
  Result.getOrThrow(checkOptions("host-events", whole("debounceMs", options.debounceMs)))
  const watch = new FileWatch(options)
  return {
    add: (paths) => watch.add(paths),
    cd: (cwd) => watch.changeFolder(cwd),
    flush: () => watch.flush(),
    close: () => watch.close(),
    [Symbol.asyncDispose]: () => watch.close()
  }
}

/** A class: it holds the mutable state of one watch. */
class FileWatch {
  private readonly options: Options
  private readonly home: string
  private readonly folders: FolderWatchers
  private readonly unsubscribe: (() => void) | undefined
  /** Files that hooks and the host named, as they were written. */
  private readonly requested: Set<string>
  private readonly files = new Map<string, WatchedFile>()
  /** The last known state of each file. */
  private readonly states = new Map<string, string | undefined>()
  private cwd: string
  private isClosed = false
  private timer: NodeJS.Timeout | undefined
  /** The last check of the files. Checks run one after the other. */
  private lastCheck: Promise<void> = Promise.resolve()

  constructor(options: Options) {
    const { agent, config, files = [], home = homedir(), instructions = [] } = options
    this.options = options
    this.home = home
    this.cwd = resolve(options.cwd)
    this.requested = new Set(files)
    this.folders = new FolderWatchers(() => this.schedule())
    this.unsubscribe = agent?.on((event) => {
      if (event.type === "custom" && event.name === "watch-paths") this.add(pathsOf(event.payload))
    })
    const sources = config === false ? {} : config ?? settings(this.cwd, home)
    for (const [path, source] of Object.entries(sources)) {
      this.put(resolve(this.cwd, path), { event: "ConfigChange", source })
    }
    for (const path of instructions) this.addInstructions(resolve(this.cwd, path))
    this.add(files)
  }

  add(paths: ReadonlyArray<string>): void {
    for (const path of paths) {
      if (path === "" || path.includes("\0")) continue
      this.requested.add(path)
      this.put(resolve(this.cwd, path), { event: "FileChanged" })
    }
    this.watchFolders()
  }

  async changeFolder(to: string): Promise<SignalAnswer> {
    await this.flush()
    const [oldCwd, newCwd] = [this.cwd, resolve(this.cwd, to)]
    if (oldCwd === newCwd) return { allowed: true }
    this.cwd = newCwd
    for (const path of this.requested) {
      const before = resolve(oldCwd, path)
      if (before === resolve(newCwd, path) || this.files.get(before)?.event !== "FileChanged") continue
      this.files.delete(before)
      this.states.delete(before)
    }
    this.add([...this.requested])
    return await this.signal("CwdChanged", { old_cwd: oldCwd, new_cwd: newCwd }, false)
  }

  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    return this.lastCheck = this.lastCheck.then(() => this.check())
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    this.unsubscribe?.()
    this.folders.close()
    await this.lastCheck
  }

  private addInstructions(path: string): void {
    this.put(path, { event: "InstructionsLoaded" })
    if (this.states.get(path) === undefined) return
    const payload = instructionsPayload(path, this.home, "session_start")
    this.lastCheck = this.lastCheck.then(async () => void await this.signal("InstructionsLoaded", payload, false))
  }

  private put(path: string, file: WatchedFile): void {
    if (this.files.has(path) || this.files.size >= maxFiles) return
    this.files.set(path, file)
    this.states.set(path, stateOf(path))
  }

  /** Checks the files when there was no change for a while. */
  private schedule(): void {
    if (this.isClosed) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.flush(), this.options.debounceMs ?? 100)
  }

  /** Compares every file with its last state, and sends signals for changes. */
  private async check(): Promise<void> {
    for (const [path, file] of this.files) {
      if (this.isClosed) return
      const [before, now] = [this.states.get(path), stateOf(path)]
      if (before === now) continue
      this.states.set(path, now)
      const change = before === undefined ? "add" : "change"
      await this.signalChange(path, file, now === undefined ? "unlink" : change)
    }
    this.watchFolders()
  }

  /** Watches the folders of all files, also of files that do not exist yet. */
  private watchFolders(): void {
    if (!this.isClosed) this.folders.set([...this.files.keys()].map((path) => nearestFolder(dirname(path))))
  }

  private async signalChange(path: string, file: WatchedFile, change: "add" | "change" | "unlink"): Promise<void> {
    switch (file.event) {
      case "FileChanged":
        return void await this.signal("FileChanged", { file_path: path, event: change }, false)
      case "ConfigChange": {
        const payload = { source: file.source, file_path: path }
        return void await this.signal("ConfigChange", payload, file.source !== "policy_settings")
      }
      case "InstructionsLoaded":
        if (change === "unlink") return
        return void await this.signal("InstructionsLoaded", instructionsPayload(path, this.home, "change"), false)
    }
  }

  private async signal(event: string, payload: JsonObject, blockable: boolean): Promise<SignalAnswer> {
    const { onAnswer, session } = this.options
    const answer = await session.signal({ name: event, payload, blockable }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error))
    )
    onAnswer?.(event, payload, answer)
    return answer instanceof Error ? { allowed: true } : answer
  }
}

/** The paths in the payload of the event `watch-paths`, which hooks emit. */
const pathsOf = (payload: unknown): ReadonlyArray<string> => {
  if (typeof payload !== "object" || payload === null || !("paths" in payload)) return []
  return Array.isArray(payload.paths) ? payload.paths.filter((path) => typeof path === "string") : []
}

/** The settings files of Claude Code. */
const settings = (cwd: string, home: string): { readonly [path: string]: ConfigSource } => ({
  [join(home, ".claude", "settings.json")]: "user_settings",
  [join(cwd, ".claude", "settings.json")]: "project_settings",
  [join(cwd, ".claude", "settings.local.json")]: "local_settings"
})

const instructionsPayload = (path: string, home: string, reason: string): JsonObject => ({
  file_path: path,
  memory_type: memoryType(path, home),
  load_reason: reason
})

const memoryType = (path: string, home: string): string => {
  if (dirname(dirname(path)) === home) return "User"
  return basename(path).includes(".local.") ? "Local" : "Project"
}

/** A text that changes with the file, without reading it; `undefined` when there is no file. */
const stateOf = (path: string): string | undefined => {
  const stat = Result.getOrUndefined(Result.try(() => nodeFs().statSync(path, { bigint: true })))
  return stat === undefined || !stat.isFile() ? undefined : `${stat.ino} ${stat.size} ${stat.mtimeNs}`
}

/** The folder, or the nearest parent that exists. */
const nearestFolder = (folder: string): string => {
  const exists = Result.isSuccess(Result.try(() => nodeFs().statSync(folder)))
  return exists || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}
