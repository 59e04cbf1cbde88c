/** Checks before each start of an entry whether the trusted files are unchanged. */
import { relative } from "node:path"
import type { Source } from "../../dialect/shared/system.ts"
import * as Alarm from "./alarm.ts"
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

export interface Watch {
  /** The path of a file that changed since a person trusted it, if they have not trusted the change. */
  readonly changed: () => string | undefined
  /** Waits until `changed` knows of everything that has happened. Undefined if it does. */
  readonly ready: () => Promise<void> | undefined
}

export const make = ({ cwd, files, find, home, isTrusted, sources, trusted }: Watched): Watch => {
  let before: ReadonlyMap<string, string> | undefined
  /** The covered files of the last check, if nothing had changed. */
  let quiet: ReadonlySet<string> | undefined
  let alarm: Alarm.Alarm | undefined
  const isQuiet = (counted: ReadonlySet<string>): boolean => {
    const counts = (path: string) => counted.has(path)
    const heard = alarm?.heard()
    if (heard !== undefined) return files.isQuiet(counts, heard)
    // A change after this is noticed, and one before it is seen.
    const folders = files.folders()
    alarm = folders === undefined ? undefined : Alarm.make(folders)
    return files.isQuiet(counts)
  }
  const changed = () => {
    if (quiet !== undefined && isQuiet(quiet)) return undefined
    quiet = undefined
    alarm?.close()
    alarm = undefined
    const old = before ??= flat(trusted)
    const now = flat(Covered.of(cwd, sources, home, files, true))
    const changed = [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key)).sort()
    if (changed.length === 0) {
      quiet = new Set([...Array.from(old.keys(), pathOf), ...sources.map(({ path }) => path)])
      return undefined
    }
    const found = Covered.of(cwd, find(), home, files)
    const decided = flat(found)
    // A file that the new decision does not cover may have any content.
    if (isTrusted(Covered.print(cwd, found)) && changed.every((key) => decided.get(key) === now.get(key))) {
      before = now
      return undefined
    }
    const first = pathOf(changed.find((key) => old.has(key)) ?? changed[0]!)
    return shown(relative(cwd, first).startsWith("..") ? first : relative(cwd, first))
  }
  return { changed, ready: () => alarm === undefined ? undefined : Alarm.caughtUp() }
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
