/** Describes a system of hook files: where its files are, how they are read, and how hooks are made of them. */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Result from "effect/Result"
import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Warning } from "../../engine/Dialect.ts"
import type { Guide } from "../../engine/Guide.ts"
import type { Refuse } from "../../engine/refusal.ts"
import { isFields } from "../../internal/fields.ts"
import { isRefused } from "../../internal/projectVariables.ts"
import type { Runners, Work } from "../../runner/Runners.ts"
import type { ToolNames } from "./toolNames.ts"

/** The system of hook files that a file belongs to. */
export type Dialect =
  | "claude"
  | "codex"
  | "copilot"
  | "gemini"
  | "cursor"
  | "windsurf"
  | "factory"
  | "kodelet"
  | "basecoat"
  | (string & {})

/**
 * Who wrote a file: the administrator of the machine, the user, the project, or the user for this checkout of the
 * project only.
 */
export type Scope = "managed" | "user" | "project" | "local"

/** The folders in which hook files are searched. */
export interface Where {
  readonly cwd: string
  readonly home: string
  /** The folder of the settings for all users of this machine. */
  readonly managed: string
}

/** The plugin, skill or agent that an entry belongs to. @category models @since 0.1.0 */
export interface Origin {
  readonly type: "plugin" | "skill" | "agent"
  readonly name: string
  /** The folder of the plugin, the skill or the agent's file. */
  readonly root: string
  /** The folder in which a plugin stores its data. */
  readonly data?: string
  /** The plugin that a skill belongs to. */
  readonly plugin?: { readonly root: string; readonly data: string }
}

/** A place at which a hook file can exist. */
export interface Place {
  readonly scope: Scope
  readonly path: string
  readonly origin?: Origin
  /** The format of the file, if the system has several formats. */
  readonly format?: string
  /** Set if the file is an executable that is run and not read. */
  readonly isProgram?: true
}

/** A hook file that exists. */
export interface SourceFile extends Place {
  readonly dialect: Dialect
  /** Whether the project could have written the file. Such a file is used only if it is trusted. */
  readonly ofProject: boolean
  readonly text: string
}

/** The fields that the entries of all dialects have. */
export interface Entry {
  readonly event: string
  readonly file: string
  readonly key: string
  readonly work: Work
  /** The matcher as the file writes it. Absent if there is none. */
  readonly matcherText?: string
  /** The folder in which the entry runs, if the file sets it. `env` contains more variables. */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
}

/** The result of reading a file, in all dialects. */
export interface Decoded {
  readonly handlers: ReadonlyArray<Entry>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
  /** Environment variables that the file sets for commands. */
  readonly env?: { readonly [name: string]: string }
}

/** A file with the result of reading it. */
export interface Source extends SourceFile {
  readonly system: System
  readonly config: Decoded
}

/** The options with which hooks are made of files. */
export interface Making extends Omit<HookDefaults.HookDefaults, "name" | "tier" | "timeout" | "onTimeout"> {
  readonly projectDir: string
  readonly home: string
  readonly runners: Runners
  readonly toolNames?: ToolNames
  /** The folder for transcripts. Every hook has a subfolder in it. */
  readonly transcripts: string | undefined
  readonly refuse: Refuse<Pick<Entry, "file">>
}

/** A system of hook files. */
export interface System {
  readonly dialect: Dialect
  readonly places: (where: Where) => ReadonlyArray<Place>
  readonly decode: (file: SourceFile, where: Where) => Decoded
  /**
   * Returns the parts of a file that are about hooks. If they change, the user is asked again whether to trust the
   * file. Returns undefined if the file has no such parts.
   */
  readonly about: (file: SourceFile) => unknown
  /**
   * Folders that usually contain the hook scripts of a project. They are included in the check of trust if the project
   * has an entry.
   */
  readonly folders: ReadonlyArray<string>
  /** Describes the events, for people and for tools that check files. */
  readonly guide: Guide
  readonly hooks: (sources: ReadonlyArray<Source>, making: Making) => ReadonlyArray<AgentHook>
}

/**
 * Returns the options of a hook with this name, without its entries. `own` has the options that the hook knows; options
 * for other systems are left out.
 */
export const called = (
  name: string,
  { transcripts, ...making }: Making,
  own: { readonly [option: string]: unknown }
): Omit<Making, "transcripts"> & { readonly name: string; readonly transcripts?: string } => ({
  // The required options of `Making` are known to every system.
  ...Object.fromEntries(
    Object.entries(making).filter(([key]) => Object.hasOwn(own, key) || Object.hasOwn(HookDefaults.commonKinds, key))
  ) as Omit<Making, "transcripts">,
  name,
  ...(transcripts === undefined || !("transcripts" in own) ? {} : { transcripts: join(transcripts, name) })
})

/**
 * Removes the variables that a project may not set from a file at `path` and from its entries, with a warning for each.
 * The entries themselves are kept.
 */
export const tamed = <D extends Decoded>(config: D, path: string): D => {
  const warnings: Array<Warning> = []
  const kept = (env: { readonly [name: string]: string }, file: string, key: string) => {
    const refused = Object.keys(env).filter(isRefused)
    for (const name of refused) {
      warnings.push({
        file,
        key: `${key}env.${name.slice(0, 80)}`,
        reason: "is not set: a project may not set variables that make programs load code or send data elsewhere"
      })
    }
    return refused.length === 0 ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !isRefused(name)))
  }
  const handlers = config.handlers.map((handler) => {
    const { env, file, key } = handler
    if (env === undefined) return handler
    const own = kept(env, file, `${key}.`)
    return own === env ? handler : { ...handler, env: own }
  })
  const env = config.env === undefined ? {} : { env: kept(config.env, path, "") }
  return warnings.length === 0 ? config : { ...config, ...env, handlers, warnings: [...config.warnings, ...warnings] }
}

/** Returns the entries of files. `trusted` is the owner of the file. */
export const trusting = checked("Systems.entriesOf", ["sources"], <E extends Entry>(
  sources: ReadonlyArray<Source>
): ReadonlyArray<E & { readonly trusted: "user" | "project" }> =>
  sources.flatMap(({ config, ofProject }) =>
    (config.handlers as ReadonlyArray<E>).map((handler) => ({
      ...handler,
      trusted: ofProject ? "project" as const : "user" as const
    }))
  ))

/** Returns the given fields of an object as pairs. Returns undefined if it has none of them. */
export const picked = (value: unknown, ...keys: ReadonlyArray<string>): unknown => {
  if (!isFields(value)) return undefined
  const own = keys.flatMap((key) => Object.hasOwn(value, key) ? [[key, value[key]]] : [])
  return own.length === 0 ? undefined : own
}

/**
 * Returns the folder in which another system keeps files for all users: beside the usual folder of Claude Code, or in
 * the folder that the host named.
 */
export const folderOfMachine = (managed: string, name: string): string => {
  const own = basename(managed)
  if (own === "ClaudeCode") return join(dirname(managed), name)
  return own === "claude-code" ? join(dirname(managed), name.toLowerCase()) : join(managed, name.toLowerCase())
}

/** Returns the sorted names in a folder. Returns an empty list if the folder cannot be read. */
export const list = (folder: string): ReadonlyArray<string> =>
  [...Result.getOrElse(Result.try(() => readdirSync(folder)), () => [])].sort()

/** Returns the paths of files in a folder whose names end with `ending`. */
export const filesOf = (folder: string, ending: string): ReadonlyArray<string> =>
  list(folder).filter((name) => name.endsWith(ending)).map((name) => join(folder, name))
