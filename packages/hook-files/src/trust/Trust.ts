/**
 * Stores which projects may run their hooks. A person decides this for exactly the current files.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Source } from "../Discovery.ts"
import { isInside, read, real, sha256, write } from "../internal/files.ts"
import * as Covered from "./internal/covered.ts"
import * as Files from "./internal/files.ts"
import * as Remembered from "./internal/remembered.ts"

/**
 * Computes what a decision covers, by system: the real path of the project, its settings of hooks, the scripts that
 * entries run, and the files that these scripts can load. It changes if a character or an execute bit of one of them
 * changes, and not if scripts write data.
 *
 * @category reading
 * @since 0.1.0
 */
export const fingerprint = checked(
  "Trust.fingerprint",
  ["cwd", "sources", "home"],
  (cwd: string, sources: ReadonlyArray<Source>, home: string = homedir()): string =>
    Covered.print(cwd, Covered.of(cwd, sources, home, Files.make()))
)

/** A file that a decision covers, in addition to the settings. @category models @since 0.1.0 */
export interface Script {
  readonly path: string
  /** Its execute bits and SHA-256, such as `755 9f86…`; or `absent`; or the reason why it cannot be read. */
  readonly state: string
}

/**
 * Lists the files that a decision covers in addition to the settings, whether they exist or not. Installed packages
 * count as one.
 *
 * @category reading
 * @since 0.1.0
 */
export const scripts = checked("Trust.scripts", ["cwd", "sources", "home"], (
  cwd: string,
  sources: ReadonlyArray<Source>,
  home: string = homedir()
): ReadonlyArray<Script> => {
  const items = [...Covered.of(cwd, sources, home, Files.make()).values()].flatMap((own) => [...own])
  const all = new Map(items.flatMap(([path, { isSource, state }]) => isSource === true ? [] : [[path, state] as const]))
  const installed = Map.groupBy(all.keys(), (path) => /^(.*?[\\/]node_modules)[\\/]/.exec(path)?.[1])
  return [
    ...(installed.get(undefined) ?? []).map((path) => ({ path, state: all.get(path)! })),
    ...[...installed].flatMap(([path, own]) =>
      path === undefined
        ? []
        : [{ path, state: `755 ${sha256(JSON.stringify(own.map((one) => [one, all.get(one)])))}` }]
    )
  ].sort((a, b) => a.path < b.path ? -1 : 1)
})

/**
 * A file that is not as it was when a person trusted it.
 *
 * - `link`: its content is the same, but its path leads to another file.
 * - `mode`: its content is the same, but its execute bits are not.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly path: string
  readonly kind: "new" | "changed" | "removed" | "mode" | "link"
  /**
   * Its text then; of a settings file, only the settings of hooks. Absent for files that did not exist, large files,
   * files with bytes that are not text, and installed packages.
   */
  readonly before?: string
  /** The same for now. */
  readonly after?: string
}

/** Stores decisions. @category models @since 0.1.0 */
export interface Store {
  /** Whether every system of a fingerprint is trusted in exactly this state. */
  readonly isTrusted: (cwd: string, fingerprint: string) => boolean
  /** Stores the decision. Decisions about other systems of the project stay. */
  readonly trust: (cwd: string, fingerprint: string) => void
  /** Removes all decisions about a project. Returns whether there were any. */
  readonly remove: (cwd: string) => boolean
}

/**
 * Stores decisions in a folder, one file for each project, readable only by the owner. The folder must be outside of
 * all projects: a folder inside of a project never trusts it.
 *
 * @example
 * ```ts
 * import * as Discovery from "@belay/hook-files/Discovery"
 * import * as Trust from "@belay/hook-files/Trust"
 *
 * const cwd = "/srv/app"
 * const { sources } = Discovery.find({ cwd, home: "/srv/ada" })
 * const store = Trust.folder("/srv/ada/.belay/trust")
 * store.isTrusted(cwd, Trust.fingerprint(cwd, sources.filter(({ ofProject }) => ofProject))) // false
 * ```
 * @category stores
 * @since 0.1.0
 */
export const folder = (path: string): Store => {
  const fileOf = (cwd: string) => join(path, `${sha256(real(cwd))}.json`)
  const fingerprintOf = (cwd: string): string => {
    const content = read(fileOf(cwd), 65_536)
    const kept = content === "absent" || "problem" in content ? Option.none() : decode(content.bytes.toString("utf8"))
    return Option.isSome(kept) && kept.value.project === real(cwd) ? kept.value.fingerprint : ""
  }
  return {
    isTrusted: (cwd, print) => {
      if (isInside(real(cwd), real(path)) || isInside(cwd, path)) return false
      const decided = new Set(parts(fingerprintOf(cwd)))
      return print !== "" && parts(print).every((part) => decided.has(part))
    },
    trust: (cwd, print) => {
      const systems = new Set(parts(print).map(systemOf))
      const others = parts(fingerprintOf(cwd)).filter((part) => !systems.has(systemOf(part)))
      write(
        fileOf(cwd),
        `${JSON.stringify({ project: real(cwd), fingerprint: [...others, ...parts(print)].join(" ") })}\n`
      )
    },
    remove: (cwd) => {
      const isThere = existsSync(fileOf(cwd))
      rmSync(fileOf(cwd), { force: true })
      rmSync(Remembered.pathOf(path, cwd), { force: true })
      return isThere
    }
  }
}

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ project: Schema.String, fingerprint: Schema.String }))
)

/** A fingerprint has one part for each system. */
const parts = (print: string): ReadonlyArray<string> => print.split(" ").filter((part) => part !== "")
const systemOf = (part: string): string => part.split(":", 1)[0]!
