/** Checks before each start of an entry whether the trusted files are unchanged. */
import { relative } from "node:path"
import type { Source } from "../../dialect/shared/system.ts"
import * as Covered from "./covered.ts"
import type { Files } from "./files.ts"

export interface Watched {
  readonly cwd: string
  readonly home: string
  readonly files: Files
  /** The files as they were loaded. */
  readonly sources: ReadonlyArray<Source>
  readonly trusted: Covered.Covered
  /** The files as they would be loaded now. */
  readonly find: () => ReadonlyArray<Source>
  readonly isTrusted: (fingerprint: string) => boolean
}

/**
 * Returns the path of a file that changed since a person trusted it. Returns nothing if no file changed, or if a person
 * has trusted the changes.
 */
export const make = ({ cwd, files, find, home, isTrusted, sources, trusted }: Watched): () => string | undefined => {
  let before = flat(trusted)
  /** The covered files of the last check, if nothing had changed. */
  let quiet: ReadonlySet<string> | undefined
  return () => {
    const counted = quiet
    if (counted !== undefined && files.isQuiet((path) => counted.has(path))) return undefined
    quiet = undefined
    const now = flat(Covered.of(cwd, sources, home, files, true))
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key))
      .sort()
    if (changed.length === 0) {
      quiet = new Set([...Array.from(before.keys(), pathOf), ...sources.map(({ path }) => path)])
      return undefined
    }
    const found = Covered.of(cwd, find(), home, files)
    const decided = flat(found)
    // A file that the new decision does not cover may have any content.
    if (isTrusted(Covered.print(cwd, found)) && changed.every((key) => decided.get(key) === now.get(key))) {
      before = now
      return undefined
    }
    const first = pathOf(changed.find((key) => before.has(key)) ?? changed[0]!)
    return shown(relative(cwd, first).startsWith("..") ? first : relative(cwd, first))
  }
}

const flat = (covered: Covered.Covered): ReadonlyMap<string, string> =>
  new Map(
    [...covered].flatMap(([dialect, items]) =>
      [...items].map(([path, { real, state }]) => [`${dialect}:${path}`, `${real} ${state}`] as const)
    )
  )

const pathOf = (key: string): string => key.slice(key.indexOf(":") + 1)

/** A project chooses the names of its files, so control characters in them are escaped. */
const shown = (path: string): string => path.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?").slice(0, 200)
