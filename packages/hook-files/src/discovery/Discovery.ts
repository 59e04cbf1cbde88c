/**
 * Finds and reads the hook files of every system. It runs nothing.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import { assertArguments } from "@belay/core/ArgumentCheck"
import { nearest } from "@belay/core/NamePattern"
import { checkOptions, oneOf, show } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type * as HookConfig from "../dialect/claude/config/HookConfig.ts"
import { placeInPlugin, plugin } from "../dialect/claude/plugin/pluginFiles.ts"
import { type Dialect, type Place, type Source, type System, tamed } from "../dialect/shared/system.ts"
import { isInside, read, real } from "../internal/files.ts"
import { managedFolder } from "../internal/managedFolder.ts"
import { byDialect } from "../system/builtIn.ts"
import { withProjectEnvironment } from "./projectEnvironment.ts"

export type { Dialect, Entry, Scope, Source } from "../dialect/shared/system.ts"
export { type Choice, chooseSystems } from "./chooseSystems.ts"
export { type Twin, twinsOf } from "./dropTwins.ts"

/**
 * What to look for: all files of a system, one file of a system, or the folder of a plugin of Claude Code.
 *
 * @category models
 * @since 0.1.0
 */
export type Wanted = Dialect | { readonly dialect: Dialect; readonly file: string } | { readonly plugin: string }

/** Where to look. @category models @since 0.1.0 */
export interface Places {
  /** The folder of the project. */
  readonly cwd: string
  /** The user's home folder. */
  readonly home: string
  /**
   * The folder of Claude Code's managed settings, which apply to all users of this machine. Default: the folder that
   * Claude Code uses (`/etc/claude-code` on Linux).
   */
  readonly managed?: string
  /**
   * What to look for. Paths are relative to `cwd`. Default: the files of every system, of which `HookFiles.load` uses
   * one for the project and one for the user. An empty list finds nothing.
   */
  readonly sources?: ReadonlyArray<Wanted>
  /** Systems in addition to the built-in ones. */
  readonly systems?: ReadonlyArray<System>
  /** Which files to read, by who controls them. Default: all. */
  readonly scopes?: ReadonlyArray<"managed" | "user" | "project">
}

/** The most bytes of a hook file. A larger file is not read, and a warning names it. @category limits @since 0.1.0 */
export const maxBytes = 1_048_576

/** The files that were found, and warnings about them. @category models @since 0.1.0 */
export interface Found {
  readonly sources: ReadonlyArray<Source>
  readonly warnings: ReadonlyArray<HookConfig.Warning>
}

/**
 * Finds and reads the hook files of the machine, of the user and of the project. Use it to list hooks; `HookFiles.load`
 * also makes hooks of them. A file that does not exist is skipped, or is a warning if `sources` names it. A file that
 * cannot be read is a warning. Throws a `ConfigError` if `sources` names an unknown system.
 *
 * @example
 * ```ts
 * import * as Discovery from "@belay/hook-files/Discovery"
 *
 * const { sources } = Discovery.find({ cwd: "/srv/app", home: "/srv/ada", sources: ["claude", "codex"] })
 * sources.flatMap(({ config, path }) => config.handlers.map(({ event, work }) => `${path}: ${event} ${work.type}`))
 * ```
 * @category reading
 * @since 0.1.0
 */
export const find = (places: Places): Found => {
  const areTexts = typeof places?.cwd === "string" && typeof places.home === "string"
  assertArguments(areTexts, "Discovery.find", ["cwd", "home"], [places?.cwd, places?.home])
  const { cwd, home, managed = managedFolder(), scopes } = places
  const systems = byDialect(places.systems ?? [])
  const wanted = places.sources ?? [...systems.keys()]
  Result.getOrThrow(known(wanted, systems))
  // A misspelled scope would silently have no files.
  const names = scopes?.map((one, index) => oneOf(`scopes[${index}]`, one, ["managed", "user", "project"])) ?? []
  Result.getOrThrow(checkOptions("hook-files", ...names))
  const where = { cwd, home, managed }
  const found: Array<Source> = []
  const warnings: Array<HookConfig.Warning> = []
  const seen = new Set<string>()
  for (const one of wanted) {
    if (typeof one !== "string" && "plugin" in one && !existsSync(resolve(cwd, one.plugin))) {
      warnings.push({ file: resolve(cwd, one.plugin), key: "", reason: "does not exist" })
    }
    for (const { dialect, named, place } of placesOf(one, where, systems)) {
      const { path, scope } = place
      if (scopes !== undefined && !scopes.includes(scope === "local" ? "project" : scope)) continue
      // A catalog has hooks of several plugins.
      const id = `${dialect} ${real(path)} ${place.format === "catalog" ? place.origin?.name : ""}`
      if (seen.has(id)) continue
      seen.add(id)
      const content = place.isProgram === true ? { bytes: Buffer.alloc(0) } : read(path, maxBytes)
      if (content === "absent") {
        if (named) warnings.push({ file: path, key: "", reason: "does not exist" })
        continue
      }
      if ("problem" in content) {
        warnings.push({ file: path, key: "", reason: `cannot be read: ${content.problem}` })
        continue
      }
      const inProject = scope === "project" || scope === "local" || isInside(cwd, path) ||
        isInside(real(cwd), real(path))
      // `known` has checked that the system exists.
      const system = systems.get(dialect)!
      const file = {
        ...place,
        dialect,
        system,
        ofProject: scope !== "managed" && inProject,
        text: content.bytes.toString("utf8")
      }
      const decoded = system.decode(file, where)
      const config = file.ofProject ? tamed(decoded, path) : decoded
      found.push({ ...file, config })
      warnings.push(...config.warnings)
    }
  }
  return { sources: withProjectEnvironment(found), warnings }
}

/** Fails if a system is unknown. Otherwise a misspelled system would silently have no hooks. */
const known = (
  wanted: ReadonlyArray<Wanted>,
  systems: ReadonlyMap<string, System>
): Result.Result<void, ConfigError> => {
  const shapeless = wanted.find((one) => {
    if (typeof one === "string") return false
    return "plugin" in one
      ? typeof one.plugin !== "string"
      : typeof one.dialect !== "string" || typeof one.file !== "string"
  })
  if (shapeless !== undefined) {
    const message = `hook-files.sources: expected a system, { dialect, file } or { plugin }, found ${show(shapeless)}`
    return Result.fail(new ConfigError({ key: "hook-files.sources", message }))
  }
  const strange = wanted.map((one) => typeof one === "string" ? one : "plugin" in one ? "claude" : one.dialect).find((
    one
  ) => !systems.has(one))
  if (strange === undefined) return Result.succeed(undefined)
  const dialects = [...systems.keys()]
  const near = nearest(strange, dialects)
  const hint = near === undefined ? "" : `; did you mean ${near}?`
  const message = `hook-files.sources: expected ${dialects.join(", ")}, found ${
    JSON.stringify(strange)?.slice(0, 80)
  }${hint}`
  return Result.fail(new ConfigError({ key: "hook-files.sources", message }))
}

interface Candidate {
  readonly dialect: Dialect
  readonly place: Place
  /** Whether `sources` names this file. */
  readonly named: boolean
}

const placesOf = (
  wanted: Wanted,
  where: Required<Pick<Places, "cwd" | "home" | "managed">>,
  systems: ReadonlyMap<string, System>
): ReadonlyArray<Candidate> => {
  if (typeof wanted === "string") {
    return (systems.get(wanted)?.places(where) ?? []).map((place) => ({ dialect: wanted, place, named: false }))
  }
  if ("plugin" in wanted) {
    return plugin(resolve(where.cwd, wanted.plugin), where.home).map((place) => ({
      dialect: "claude",
      place,
      named: false
    }))
  }
  const path = resolve(where.cwd, wanted.file)
  const known = systems.get(wanted.dialect)?.places(where).find((place) => resolve(place.path) === path)
  return [{
    dialect: wanted.dialect,
    named: true,
    place: known ?? (wanted.dialect === "claude" ? placeInPlugin(path, where.home) : undefined) ??
      { scope: "user", path, ...(path.endsWith(".toml") ? { format: "toml" } : {}) }
  }]
}
