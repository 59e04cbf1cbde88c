/**
 * Remembers what was read when a person decided. So later changes can be shown, and files that did not change need not
 * be read again. It decides nothing.
 */
import { isFields, record } from "../../internal/fields.ts"
import { read as readFile, real, write as writeFile } from "../../internal/files.ts"
import type * as Covered from "./covered.ts"
import { type Files, type Known, stateOf } from "./files.ts"
import { pathOf } from "./rememberedPath.ts"

/** A file that a decision was about. */
export interface File {
  /** Its state, as in a fingerprint. */
  readonly state: string
  /** Its real path, if this is another one. */
  readonly real?: string
  /** The data of the file system when it was read. */
  readonly key?: string
  /** Of a settings file, only the settings of hooks. */
  readonly text?: string
}

/** By system and path. */
export type Remembered = { readonly [dialect: string]: { readonly [path: string]: File } }

/** Undefined if there is nothing, or if it is about another project. */
export const read = (folder: string, cwd: string): Remembered | undefined => {
  const content = readFile(pathOf(folder, cwd), 67_108_864)
  if (content === "absent" || "problem" in content) return undefined
  const { project, systems } = record(content.bytes.toString("utf8")) ?? {}
  const isRight = project === real(cwd) && isFields(systems) && Object.values(systems).every(isFields)
  // Only `write` writes the file, and a schema for thousands of files would take too long.
  return isRight ? systems as Remembered : undefined
}

/** What is known of the states of files. */
export const known = (remembered: Remembered | undefined): Known | undefined => {
  if (remembered === undefined) return undefined
  const systems = Object.values(remembered)
  return (path, key) => systems.find((files) => Object.hasOwn(files, path) && files[path]!.key === key)?.[path]?.state
}

/** The most bytes of one text, and of all texts, that are kept. */
const [maxText, maxTexts] = [65_536, 2_097_152]

/** What was read of other systems stays. */
export const write = (
  folder: string,
  cwd: string,
  covered: Covered.Covered,
  files: Files,
  textOf: (path: string) => string | undefined
): void => {
  let size = 0
  const kept = (path: string, item: Covered.Item): File => {
    const key = item.isSource === true ? undefined : files.settledKey(path)
    const text = size > maxTexts ? undefined : item.isSource === true ? textOf(path) : current(path, item)
    size += text?.length ?? 0
    return {
      state: item.state,
      ...(item.real === path ? {} : { real: item.real }),
      ...(key === undefined ? {} : { key }),
      ...(text === undefined || text.length > maxText ? {} : { text })
    }
  }
  const systems = Object.fromEntries(
    [...covered].map(([dialect, items]) => [
      dialect,
      Object.fromEntries([...items].map(([path, item]) => [path, kept(path, item)]))
    ])
  )
  writeFile(
    pathOf(folder, cwd),
    `${JSON.stringify({ project: real(cwd), systems: { ...read(folder, cwd), ...systems } })}\n`
  )
}

/** The text of a file, if it is still what was covered. Installed packages have too many files. */
export const current = (path: string, { state }: Pick<File, "state">): string | undefined => {
  if (/[\\/]node_modules[\\/]/.test(path)) return undefined
  const content = readFile(path, maxText)
  if (content === "absent" || "problem" in content || content.bytes.includes(0)) return undefined
  return stateOf(path) === state ? content.bytes.toString("utf8") : undefined
}
