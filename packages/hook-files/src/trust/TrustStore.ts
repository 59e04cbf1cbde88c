/**
 * Stores decisions of people about what a project may run, without reading anything of the project.
 *
 * @since 0.2.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { isInside, read, real, sha256, write } from "../internal/files.ts"
import { pathOf } from "./internal/rememberedPath.ts"

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
    const content = read(fileOf(cwd), 1_048_576)
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
      rmSync(pathOf(path, cwd), { force: true })
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
