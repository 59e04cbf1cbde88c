/** What the files say, with everything that a person wants to know about them. */
import type { ConfigError } from "@belay/core/AgentError"
import * as Discovery from "@belay/hook-files/Discovery"
import type { Warning } from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Kodelet from "@belay/hook-files/Kodelet"
import type { Work } from "@belay/hook-files/Runners"
import * as Result from "effect/Result"
import { readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join, relative, resolve } from "node:path"
import { beginning } from "./beginning.ts"
import type { Event } from "./guide/guide.ts"
import { eventOf, systemOf } from "./guide/systems.ts"
import { type Fields, groupKey, isFields, read } from "./raw.ts"

/** Where to look, as all commands are told. */
export interface Where {
  readonly cwd: string
  readonly home: string
  readonly managed?: string
  readonly dialects: ReadonlyArray<Discovery.Dialect>
  readonly files: ReadonlyArray<string>
  /** Nothing is loaded. */
  readonly off: boolean
}

/** One entry, with what its file says about it. */
export interface Item {
  readonly entry: Discovery.Entry
  readonly source: Discovery.Source
  /** What its event is; absent for an event that is not known before it runs. */
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

/** `stopped`: something is wrong elsewhere, and nothing runs at all. */
type Status = "runs" | "untrusted" | "silenced" | "stopped"

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
  /** Executables whose name switches them off. */
  readonly disabled: ReadonlyArray<string>
  /** Scripts beside executables that may not be executed. */
  readonly idle: ReadonlyArray<string>
  readonly loaded: HookFiles.Loaded | undefined
  /** Why nothing of it runs at all. */
  readonly problem: string | undefined
}

export const trustOf = ({ home }: Where): string => join(home, ".belay", "trust")

export const whereOf = (flags: {
  readonly cwd?: string
  readonly home?: string
  readonly managed?: string
  readonly dialects: ReadonlyArray<Discovery.Dialect>
  readonly files: ReadonlyArray<string>
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

export const optionsOf = ({ cwd, dialects, files, home, managed, off }: Where) => {
  const wanted = files.map((file) => ({ dialect: dialects[0] ?? dialectOf(file), file }))
  return {
    cwd,
    home,
    ...(managed === undefined ? {} : { managed }),
    ...(off
      ? { sources: [] }
      : files.length > 0
      ? { sources: wanted }
      : dialects.length > 0
      ? { sources: dialects }
      : {})
  }
}

/** Whose file it is, as far as its path tells. */
const dialectOf = (path: string): Discovery.Dialect => {
  const whole = resolve(path).replaceAll("\\", "/")
  if (/\/\.codex\//.test(whole)) return "codex"
  if (/\/\.gemini\//.test(whole)) return "gemini"
  if (/\/\.(?:github|copilot)\//.test(whole)) return "copilot"
  return "claude"
}

export const look = (where: Where): World => {
  const options = optionsOf(where)
  const tried = Result.try({
    try: () => HookFiles.load({ ...options, trust: trustOf(where), transcripts: false }),
    catch: (error) => error as ConfigError
  })
  const loaded = Result.getOrUndefined(tried)
  const { sources, warnings } = loaded ?? Discovery.find({ ...options, cwd: where.cwd, home: where.home })
  const silenced = new Set((loaded?.silenced ?? []).map(({ dialect, path }) => `${dialect} ${path}`))
  const waiting = new Set((loaded?.untrusted ?? []).flatMap(({ commands }) => commands.map(({ file }) => file)))
  const files = sources.map((source): File => ({
    source,
    status: loaded === undefined
      ? "stopped"
      : silenced.has(`${source.dialect} ${source.path}`)
      ? "silenced"
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
    disabled,
    idle: others.filter(isIdle),
    untrusted: loaded?.untrusted ?? [],
    loaded,
    problem
  }
}

const isDisabled = (path: string): boolean => path.endsWith(".disable")

/** What is in the folders of executables. */
const besides = ({ cwd, dialects, files, home, off }: Where): ReadonlyArray<string> =>
  off || files.length > 0 || (dialects.length > 0 && !dialects.includes("kodelet"))
    ? []
    : Kodelet.folders({ cwd, home }).flatMap(({ path }) =>
      [...Result.getOrElse(Result.try(() => readdirSync(path)), (): ReadonlyArray<string> => [])].sort().map((name) =>
        join(path, name)
      )
    )

/** A regular file that says what runs it, and that nobody may run. */
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
    const more = entry as Discovery.Entry & {
      readonly timeout?: unknown
      readonly timeoutMs?: unknown
      readonly async?: unknown
      readonly once?: unknown
    }
    const own = fieldsOf(raw.at(entry.key))
    const outer = groupKey(entry.key)
    const group = outer === undefined ? {} : fieldsOf(raw.at(outer))
    const event = eventOf(source.dialect, entry.event)
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
        : usual(entry, source.dialect),
      isAsync: more.async === true,
      once: more.once === true
    }
  })
}

const usual = ({ event, work }: Discovery.Entry, dialect: Discovery.Dialect): number => {
  if (dialect === "claude" || dialect === "codex") {
    if (work.type === "prompt") return 30
    if (work.type === "agent") return 60
    if (event === "UserPromptSubmit") return 30
    if (event === "MessageDisplay") return 10
    if (event === "SessionEnd") return 1.5
  }
  return systemOf(dialect)?.timeout ?? 600
}

const fieldsOf = (value: unknown): Fields => isFields(value) ? value : {}
const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** What an entry runs, in a line. */
export const shown = (work: Work): string => {
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

/** A path as short as it can be said. */
export const short = (path: string, { cwd, home }: Pick<Where, "cwd" | "home">): string => {
  const inside = relative(cwd, path)
  if (inside !== "" && !inside.startsWith("..")) return inside
  const below = relative(home, path)
  return below !== "" && !below.startsWith("..") ? `~/${below}` : path
}
