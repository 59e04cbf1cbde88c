/** What a system of hooks has to say for itself: where its files are, how they are read, and what hooks they become. */
import type { AgentHook } from "@belay/core/AgentHook"
import type * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Guide } from "../../Guide.ts"
import { isRefused } from "../../internal/projectVariables.ts"
import type { Runners, Work } from "../../Runners.ts"
import type { Origin, Warning } from "../claude/HookConfig.ts"
import { isFields } from "./fields.ts"
import type { ToolNames } from "./toolNames.ts"

/** Whose system a file belongs to. */
export type Dialect = "claude" | "codex" | "copilot" | "gemini" | "kodelet" | "basecoat" | (string & {})

/** Who wrote a file: the machine's owner, the user, the project, or this checkout of it. */
export type Scope = "managed" | "user" | "project" | "local"

/** Where to look. */
export interface Where {
  readonly cwd: string
  readonly home: string
  /** The folder of settings that count for everybody on this machine. */
  readonly managed: string
}

/** A file that could be there. */
export interface Place {
  readonly scope: Scope
  readonly path: string
  readonly origin?: Origin
  /** Which of several formats it has. */
  readonly format?: string
  /** It is run, not read. */
  readonly isProgram?: true
}

/** One that is. */
export interface SourceFile extends Place {
  readonly dialect: Dialect
  /** The project could have written it: it counts when it is trusted. */
  readonly ofProject: boolean
  readonly text: string
}

/** One entry, as every dialect has it. */
export interface Entry {
  readonly event: string
  readonly file: string
  readonly key: string
  readonly work: Work
  /** The folder in which it runs and more variables, if the file has them. */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
}

/** What a file says, as every dialect reads it. */
export interface Decoded {
  readonly handlers: ReadonlyArray<Entry>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
}

/** A file with what it says. */
export interface Source extends SourceFile {
  readonly system: System
  readonly config: Decoded
}

/** How hooks are made of what was read. */
export interface Making extends Omit<HookDefaults.HookDefaults, "name" | "tier" | "timeout" | "onTimeout"> {
  readonly projectDir: string
  readonly home: string
  readonly runners: Runners
  readonly toolNames?: ToolNames
  /** A folder, in which every hook has one of its own. */
  readonly transcripts: string | undefined
  readonly refuse: (entry: Pick<Entry, "file">) => string | undefined
}

/** One system. */
export interface System {
  readonly dialect: Dialect
  readonly places: (where: Where) => ReadonlyArray<Place>
  readonly decode: (file: SourceFile, where: Where) => Decoded
  /** What a file says of hooks, and of nothing else: a change of it asks again. Nothing where it says nothing. */
  readonly about: (file: SourceFile) => unknown
  /** Folders in which scripts of a project usually are: they count as soon as it has an entry. */
  readonly folders: ReadonlyArray<string>
  /** Describes the events, for people and for tools that check files. */
  readonly guide: Guide
  readonly hooks: (sources: ReadonlyArray<Source>, making: Making) => ReadonlyArray<AgentHook>
}

/** The options of a hook, without its entries. */
export const called = (
  name: string,
  { transcripts, ...making }: Making
): Omit<Making, "transcripts"> & { readonly name: string; readonly transcripts?: string } => ({
  ...making,
  name,
  ...(transcripts === undefined ? {} : { transcripts: join(transcripts, name) })
})

/** What a file of a project says, without variables that it may not set: the entries count without them. */
export const tamed = <D extends Decoded>(config: D): D => {
  const warnings: Array<Warning> = []
  const handlers = config.handlers.map((handler) => {
    const { env = {}, file, key } = handler
    const refused = Object.keys(env).filter(isRefused)
    if (refused.length === 0) return handler
    for (const name of refused) {
      warnings.push({
        file,
        key: `${key}.env.${name.slice(0, 80)}`,
        reason: "is not set: a project may not say what programs load"
      })
    }
    return { ...handler, env: Object.fromEntries(Object.entries(env).filter(([name]) => !isRefused(name))) }
  })
  return warnings.length === 0 ? config : { ...config, handlers, warnings: [...config.warnings, ...warnings] }
}

/** The entries of files, each with whose file it is. */
export const trusting = <E extends Entry>(
  sources: ReadonlyArray<Source>
): ReadonlyArray<E & { readonly trusted: "user" | "project" }> =>
  sources.flatMap(({ config, ofProject }) =>
    (config.handlers as ReadonlyArray<E>).map((handler) => ({
      ...handler,
      trusted: ofProject ? "project" as const : "user" as const
    }))
  )

/** Fields of an object, where it has any of them. */
export const picked = (value: unknown, ...keys: ReadonlyArray<string>): unknown => {
  if (!isFields(value)) return undefined
  const own = keys.flatMap((key) => Object.hasOwn(value, key) ? [[key, value[key]]] : [])
  return own.length === 0 ? undefined : own
}

/** Names in a folder, in order; nothing where there is none. */
export const list = (folder: string): ReadonlyArray<string> =>
  [...Result.getOrElse(Result.try(() => readdirSync(folder)), () => [])].sort()

/** Files of a folder with an ending. */
export const filesOf = (folder: string, ending: string): ReadonlyArray<string> =>
  list(folder).filter((name) => name.endsWith(ending)).map((name) => join(folder, name))
