/**
 * Stores which projects may run their own hooks: a decision of a person about exactly these files.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Source } from "../Discovery.ts"
import { isInside, read, real, sha256 } from "../internal/files.ts"
import * as Covered from "./internal/covered.ts"
import * as Files from "./internal/files.ts"

/**
 * Computes what a decision is about, system by system: the project's real path, what its files say of hooks, the
 * scripts that entries run, and what these could load from beside them. It
 * changes with a letter or an execute bit of any of them, not with data that scripts write.
 *
 * @category reading
 * @since 0.1.0
 */
export const fingerprint = (cwd: string, sources: ReadonlyArray<Source>, home: string = homedir()): string =>
  Covered.print(cwd, Covered.of(cwd, sources, home, Files.make()))

/** A file that a decision covers, in addition to the settings. @category models @since 0.1.0 */
export interface Script {
  readonly path: string
  /** Its execute bits and SHA-256, such as `755 9f86…`; `absent`; or why it cannot be read. */
  readonly state: string
}

/**
 * Lists the files that a decision covers in addition to the settings, whether they exist or not. Installed packages count
 * as one.
 *
 * @category reading
 * @since 0.1.0
 */
export const scripts = (
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
}

/** Where decisions are kept. @category models @since 0.1.0 */
export interface Store {
  /** Whether each system of a fingerprint was decided about as it is. */
  readonly isTrusted: (cwd: string, fingerprint: string) => boolean
  /** Writes it down; what was decided about other systems of the project stays. */
  readonly trust: (cwd: string, fingerprint: string) => void
  /** Takes back what was decided about a project, whatever it was about; says whether there was anything. */
  readonly remove: (cwd: string) => boolean
}

/**
 * Keeps decisions in a folder, a file a project, which only the owner may read. It has to be outside of every project
 * whose hooks it is asked about: one inside never trusts.
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
      const temporary = `${fileOf(cwd)}.${randomUUID()}.tmp`
      mkdirSync(path, { recursive: true, mode: 0o700 })
      writeFileSync(
        temporary,
        `${JSON.stringify({ project: real(cwd), fingerprint: [...others, ...parts(print)].join(" ") })}\n`,
        {
          mode: 0o600
        }
      )
      renameSync(temporary, fileOf(cwd))
    },
    remove: (cwd) => {
      const isThere = existsSync(fileOf(cwd))
      rmSync(fileOf(cwd), { force: true })
      return isThere
    }
  }
}

const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ project: Schema.String, fingerprint: Schema.String }))
)

/** A fingerprint has a part for each system. */
const parts = (print: string): ReadonlyArray<string> => print.split(" ").filter((part) => part !== "")
const systemOf = (part: string): string => part.split(":", 1)[0]!
