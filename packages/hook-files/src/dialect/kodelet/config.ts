/** Lists the executables of Kodelet without running them. */
import { checked } from "@belay/core/ArgumentCheck"
import * as Result from "effect/Result"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Warning } from "../../engine/Dialect.ts"
import { real } from "../../internal/files.ts"
import type { CommandWork } from "../../runner/Runners.ts"

/** A folder of executables. */
export interface Folder {
  readonly path: string
  /** Whether the project could have written it. */
  readonly ofProject: boolean
  /** A prefix for the names of the executables, such as `org/repo/` for those of a plugin. */
  readonly prefix?: string
}

/** An executable. Its event is not known before `<file> hook` has run. @category models @since 0.1.0 */
export interface Handler {
  readonly event: string
  readonly file: string
  /**
   * The name of the file, with the prefix `org/repo/` if it belongs to a plugin. If two files of one owner have the
   * same name, the first one is used.
   */
  readonly key: string
  /** Whether the project could have written it. */
  readonly ofProject: boolean
  readonly work: CommandWork
}

/**
 * Returns the folders of executables in this order: the project, the plugins of the project, the user, the plugins of
 * the user. If the project is the home folder, the project could have written all of them.
 */
export const folders = checked(
  "Kodelet.folders",
  ["places"],
  ({ cwd, home }: { readonly cwd: string; readonly home: string }): ReadonlyArray<Folder> => {
    const of = (root: string, ofProject: boolean): ReadonlyArray<Folder> => [
      { path: join(root, ".kodelet", "hooks"), ofProject },
      ...list(join(root, ".kodelet", "plugins")).map((plugin) => ({
        path: join(root, ".kodelet", "plugins", plugin, "hooks"),
        ofProject,
        prefix: `${plugin.replace("@", "/")}/`
      }))
    ]
    return real(cwd) === real(home) ? of(home, true) : [...of(cwd, true), ...of(home, false)]
  }
)

/** Lists the regular files with an execute bit whose names do not end with `.disable`, sorted by name. */
export const executables = (
  all: ReadonlyArray<Folder>
): { readonly found: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } => {
  const found: Array<Handler> = []
  const warnings: Array<Warning> = []
  for (const { ofProject, path, prefix = "" } of all) {
    for (const name of list(path)) {
      if (name.endsWith(".disable")) continue
      const file = join(path, name)
      const stat = Result.getOrUndefined(Result.try(() => statSync(file)))
      if (stat === undefined) warnings.push({ file, key: "", reason: "cannot be read" })
      if (stat === undefined || !stat.isFile() || (stat.mode & 0o111) === 0) continue
      const key = `${prefix}${name}`
      // If two files of one owner have the same name, the first one is used. Files of different owners are compared
      // later, when their types are known.
      if (!found.some((one) => one.key === key && one.ofProject === ofProject)) {
        found.push({ event: "run", file, key, ofProject, work: { type: "command", command: file, args: ["run"] } })
      }
    }
  }
  return { found, warnings }
}

const list = (path: string): ReadonlyArray<string> =>
  [...Result.getOrElse(Result.try(() => readdirSync(path)), () => [])].sort()
