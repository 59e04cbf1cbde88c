/** Compares the files of a project with those that a person trusted. */
import type * as Covered from "./covered.ts"
import * as Remembered from "./remembered.ts"

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

/** In the order of the paths. Files that did not exist and do not exist are left out. */
export const between = (
  before: Remembered.Remembered,
  covered: Covered.Covered,
  textOf: (path: string) => string | undefined
): ReadonlyArray<Change> => {
  const old = new Map(Object.values(before).flatMap((files) => Object.entries(files)))
  const now = new Map([...covered.values()].flatMap((items) => [...items]))
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path): ReadonlyArray<Change> => {
    const [was, is] = [old.get(path), now.get(path)]
    const kind = kindOf(
      was === undefined ? "absent" : was.state,
      is === undefined ? "absent" : is.state,
      (was?.real ?? path) === (is?.real ?? path)
    )
    if (kind === undefined) return []
    const after = is === undefined ? undefined : is.isSource === true ? textOf(path) : Remembered.current(path, is)
    return [{
      path,
      kind,
      ...(was?.text === undefined ? {} : { before: was.text }),
      ...(after === undefined ? {} : { after })
    }]
  })
}

const kindOf = (was: string, is: string, isSamePlace: boolean): Change["kind"] | undefined => {
  if (was === is) return isSamePlace || is === "absent" ? undefined : "link"
  if (was === "absent") return "new"
  if (is === "absent") return "removed"
  const hash = /^\d+( [0-9a-f]{64})$/.exec(was)?.[1]
  return hash !== undefined && is.endsWith(hash) ? "mode" : "changed"
}
