/** Loads all files with the information that the commands show. */
import type { ConfigError } from "@belay/core/AgentError"
import * as Discovery from "@belay/hook-files/Discovery"
import type { Event, Guide } from "@belay/hook-files/Guide"
import type { Warning } from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Kodelet from "@belay/hook-files/Kodelet"
import type { Work } from "@belay/hook-files/Runners"
import { builtIn, eventOf, type System } from "@belay/hook-files/Systems"
import * as Result from "effect/Result"
import { readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join, relative, resolve } from "node:path"
import { beginning } from "./beginning.ts"
import { type Fields, isFields } from "./fields.ts"
import { groupKey, read } from "./raw.ts"

/** Where to look. All commands share these flags. */
export interface Where {
  readonly cwd: string
  readonly home: string
  readonly managed?: string
  readonly dialects: ReadonlyArray<Discovery.Dialect>
  readonly files: ReadonlyArray<string>
  /** Folders of plugins of Claude Code. */
  readonly plugins: ReadonlyArray<string>
  /** Systems that the host adds to the built-in ones. */
  readonly systems: ReadonlyArray<System>
  /** Whether to load nothing. */
  readonly off: boolean
}

/** One entry with its text in the file. */
export interface Item {
  readonly entry: Discovery.Entry
  readonly source: Discovery.Source
  /** The description of its event. Absent for an event that is not known before the entry runs. */
  readonly event: Event | undefined
  readonly raw: Fields
  readonly group: Fields
  readonly line: number | undefined
  readonly matcher: string | undefined
  readonly rule: string | undefined
  /** Seconds. */
  readonly timeout: number
  readonly isAsync: boolean
  readonly once: boolean
}

/** `stopped` means that nothing runs because of a mistake elsewhere. `left out` means that another system is used. */
type Status = "runs" | "untrusted" | "silenced" | "stopped" | "left out"

export interface File {
  readonly source: Discovery.Source
  readonly status: Status
  readonly items: ReadonlyArray<Item>
  readonly warnings: ReadonlyArray<Warning>
}

export interface World {
  readonly where: Where
  readonly files: ReadonlyArray<File>
  readonly warnings: ReadonlyArray<Warning>
  readonly untrusted: ReadonlyArray<HookFiles.Untrusted>
  /** Executables that are switched off by their name. */
  readonly disabled: ReadonlyArray<string>
  /** Scripts without an execute bit next to executables. */
  readonly idle: ReadonlyArray<string>
  readonly loaded: HookFiles.Loaded | undefined
  /** Warnings about a project, or a user, with several systems. */
  readonly several: ReadonlyArray<Warning>
  /** Entries that do not run, because an entry of another system runs the same script. */
  readonly twins: ReadonlyArray<Discovery.Twin>
  /** Why nothing runs. */
  readonly problem: string | undefined
}

export const trustOf = ({ home }: Where): string => join(home, ".belay", "trust")

export const whereOf = (flags: {
  readonly cwd?: string
  readonly home?: string
  readonly managed?: string
  readonly dialects: ReadonlyArray<Discovery.Dialect>
  readonly files: ReadonlyArray<string>
  readonly plugins: ReadonlyArray<string>
  readonly systems: ReadonlyArray<System>
  readonly off: boolean
}): Where => {
  const { cwd = process.cwd(), home = homedir(), managed, ...rest } = flags
  return {
    ...rest,
    cwd: resolve(cwd),
    home: resolve(home),
    ...(managed === undefined ? {} : { managed: resolve(managed) })
  }
}

export const optionsOf = ({ cwd, dialects, files, home, managed, off, plugins, systems }: Where) => {
  const wanted = [
    ...(files.length > 0 ? files.map((file) => ({ dialect: dialects[0] ?? dialectOf(file), file })) : dialects),
    ...plugins.map((plugin) => ({ plugin }))
  ]
  return {
    cwd,
    home,
    systems,
    ...(managed === undefined ? {} : { managed }),
    ...(off
      ? { sources: [] }
      : { sources: wanted.length > 0 ? wanted : [...builtIn, ...systems].map(({ dialect }) => dialect) })
  }
}

/** Whether the flags name what counts. */
export const isAsked = ({ dialects, files, plugins }: Where): boolean =>
  dialects.length + files.length + plugins.length > 0

/** Says that an agent uses another system. */
export const otherSystem = ({ dialect }: Discovery.Source): string =>
  `another system is used: runs only with --source ${dialect}`

/** Returns the owner of a file from its path. */
const dialectOf = (path: string): Discovery.Dialect => {
  const whole = resolve(path).replaceAll("\\", "/")
  if (/\/\.codex\//.test(whole)) return "codex"
  if (/\/\.gemini\//.test(whole)) return "gemini"
  if (/\/\.cursor\//.test(whole)) return "cursor"
  if (/\/\.factory\//.test(whole)) return "factory"
  if (/\/\.(?:windsurf|codeium)\//.test(whole)) return "windsurf"
  if (/\/\.(?:github|copilot)\//.test(whole)) return "copilot"
  return "claude"
}

export const look = (where: Where): World => {
  const options = optionsOf(where)
  const tried = Result.try({
    try: () => HookFiles.load({ ...options, trust: trustOf(where), transcripts: false }),
    // Loading throws this error only.
    catch: (error) => error as ConfigError
  })
  const loaded = Result.getOrUndefined(tried)
  const { sources, warnings } = loaded ?? Discovery.find({ ...options, cwd: where.cwd, home: where.home })
  const silenced = new Set((loaded?.silenced ?? []).map(({ dialect, path }) => `${dialect} ${path}`))
  const counting = sources.filter(({ dialect, path }) => !silenced.has(`${dialect} ${path}`))
  const { leftOut, used, warnings: several } = Discovery.chooseSystems(counting, {
    cwd: where.cwd,
    home: where.home,
    always: (isAsked(where) ? [...builtIn, ...where.systems] : where.systems).map(({ dialect }) => dialect)
  })
  const waiting = new Set((loaded?.untrusted ?? []).flatMap(({ commands }) => commands.map(({ file }) => file)))
  const files = sources.map((source): File => ({
    source,
    status: loaded === undefined
      ? "stopped"
      : silenced.has(`${source.dialect} ${source.path}`)
      ? "silenced"
      : leftOut.includes(source)
      ? "left out"
      : source.ofProject && waiting.has(source.path)
      ? "untrusted"
      : "runs",
    items: itemsOf(source),
    warnings: source.config.warnings
  }))
  const problem = Result.isFailure(tried) ? tried.failure.message : undefined
  const [disabled, others] = [besides(where).filter(isDisabled), besides(where).filter((path) => !isDisabled(path))]
  return {
    where,
    files,
    warnings,
    several,
    twins: Discovery.twinsOf(used),
    disabled,
    idle: others.filter(isIdle),
    untrusted: loaded?.untrusted ?? [],
    loaded,
    problem
  }
}

const isDisabled = (path: string): boolean => path.endsWith(".disable")

/** The files in the folders of executables. */
const besides = ({ cwd, dialects, files, home, off, plugins }: Where): ReadonlyArray<string> =>
  off || files.length + plugins.length > 0 || (dialects.length > 0 && !dialects.includes("kodelet"))
    ? []
    : Kodelet.folders({ cwd, home }).flatMap(({ path }) =>
      [...Result.getOrElse(Result.try(() => readdirSync(path)), (): ReadonlyArray<string> => [])].sort().map((name) =>
        join(path, name)
      )
    )

/** A regular file with an interpreter line and without an execute bit. */
const isIdle = (path: string): boolean =>
  Result.getOrElse(
    Result.try(() => {
      const stat = statSync(path)
      return stat.isFile() && stat.size > 2 && (stat.mode & 0o111) === 0 && beginning(path).startsWith("#!")
    }),
    () => false
  )

const itemsOf = (source: Discovery.Source): ReadonlyArray<Item> => {
  const raw = read(source.path, source.isProgram === true ? "" : source.text)
  return source.config.handlers.map((entry) => {
    // Some dialects have these fields.
    const more = entry as Discovery.Entry & {
      readonly timeout?: unknown
      readonly timeoutMs?: unknown
      readonly async?: unknown
      readonly once?: unknown
    }
    const own = fieldsOf(raw.at(entry.key))
    const outer = groupKey(entry.key)
    const group = outer === undefined ? {} : fieldsOf(raw.at(outer))
    const event = eventOf(source.system.guide, entry.event)
    return {
      entry,
      source,
      event,
      raw: own,
      group,
      line: raw.line(entry.key),
      matcher: textOf(group["matcher"]) ?? textOf(own["matcher"]),
      rule: textOf(own["if"]),
      timeout: typeof more.timeoutMs === "number"
        ? more.timeoutMs / 1_000
        : typeof more.timeout === "number"
        ? more.timeout
        : usual(entry, source.system.guide),
      isAsync: more.async === true,
      once: more.once === true
    }
  })
}

const usual = ({ event, work }: Discovery.Entry, { dialect, timeout }: Guide): number => {
  if (dialect === "claude" || dialect === "codex") {
    if (work.type === "prompt") return 30
    if (work.type === "agent") return 60
    if (event === "UserPromptSubmit") return 30
    if (event === "MessageDisplay") return 10
    if (event === "SessionEnd") return 1.5
  }
  return timeout
}

const fieldsOf = (value: unknown): Fields => isFields(value) ? value : {}
const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** Returns what an entry runs on one line. */
export const describeWork = (work: Work): string => {
  switch (work.type) {
    case "command":
      return [work.command, ...(work.args ?? []).map((one) => /^[\w@%+=:,./-]+$/.test(one) ? one : JSON.stringify(one))]
        .join(" ")
    case "http":
      return `POST ${work.url}`
    case "mcp_tool":
      return `${work.server}.${work.tool}`
    case "prompt":
    case "agent":
      return work.prompt
    default:
      return ""
  }
}

/** Shortens a path. */
export const short = (path: string, { cwd, home }: Pick<Where, "cwd" | "home">): string => {
  const inside = relative(cwd, path)
  if (inside !== "" && !inside.startsWith("..")) return inside
  const below = relative(home, path)
  return below !== "" && !below.startsWith("..") ? `~/${below}` : path
}
