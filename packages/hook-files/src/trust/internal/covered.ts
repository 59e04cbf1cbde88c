/**
 * Finds what a decision about the hooks of a project covers: its settings of hooks, the scripts that entries run, and
 * the files that these scripts can load.
 */
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { dirname, join, resolve } from "node:path"
import type { Dialect, Entry, Source } from "../../dialect/shared/system.ts"
import { isFields } from "../../internal/fields.ts"
import { isInside, real, sha256 } from "../../internal/files.ts"
import { type Files, inside } from "./files.ts"
import * as Kinds from "./kinds.ts"
import { named } from "./named.ts"

/** A covered file: its real path and its content. */
export interface Item {
  readonly real: string
  readonly state: string
  /** It is a settings file, of which only the settings of hooks count. */
  readonly isSource?: true
}

export type Covered = ReadonlyMap<Dialect, ReadonlyMap<string, Item>>

/** Of the files of a project: as they were read, or as they are `now`. */
export const of = (cwd: string, sources: ReadonlyArray<Source>, home: string, files: Files, now = false): Covered => {
  files.begin()
  const found = new Map<Dialect, Map<string, Item>>()
  const exists = (path: string) => files.see(path)?.type === "file"
  for (const [dialect, own] of Map.groupBy(sources, (source) => source.dialect)) {
    const items = new Map<string, Item>()
    const paths = new Set<string>()
    const folder = (path: string) => below(path, cwd, home, files, paths)
    const add = ({ as, path }: Kinds.Named): void => {
      const seen = files.see(path)
      if (as === "folder" || (as === "script" && seen?.type === "folder")) return folder(path)
      if (as === "operand" && seen?.executable !== true) return
      if (path === cwd) return
      paths.add(path)
      if (as !== "script" || seen?.type !== "file" || Kinds.isData(path)) return
      // An interpreter looks for modules beside the target of a link.
      for (const one of new Set([path, files.real(path)])) if (!/[\\/]node_modules[\\/]/.test(one)) folder(dirname(one))
      if (/\.[cm]?[jt]sx?$/.test(path)) { for (const one of packagesOf(path, cwd, exists)) paths.add(one) }
    }
    for (const source of own) {
      const said = saidBy(source, files, now)
      if (said !== undefined) {
        items.set(source.path, { real: files.real(source.path), state: `hooks ${sha256(said)}`, isSource: true })
      }
      const { handlers } = source.config
      // The files of a skill, an agent or a plugin are in its own folder.
      if (source.origin !== undefined && handlers.length > 0) folder(source.origin.root)
      const root = source.origin?.plugin?.root ?? source.origin?.root
      const lines = new Set<string>()
      for (const handler of handlers) {
        if (handler.file !== source.path) paths.add(handler.file)
        const { cwd: at, env } = settingsOf(handler)
        const line = JSON.stringify([handler.work, at, env])
        if (lines.has(line)) continue
        lines.add(line)
        named(handler.work, env, {
          cwd,
          home,
          base: resolve(cwd, at),
          exists,
          ...(root === undefined ? {} : { root })
        }).forEach(add)
      }
    }
    if (own.some(({ config }) => config.handlers.length > 0)) {
      own[0]!.system.folders.forEach((name) => folder(join(cwd, name)))
    }
    // Two different lists never give the same text.
    if (paths.size > maxFiles) items.set(cwd, { real: cwd, state: `has more than ${maxFiles} scripts ${randomUUID()}` })
    else for (const path of [...paths].sort()) if (!items.has(path)) items.set(path, itemOf(path, cwd, files))
    if (items.size > 0) found.set(dialect, items)
  }
  return found
}

/** The target of a link can be a program of the system, which does not count. */
const itemOf = (path: string, cwd: string, files: Files): Item => {
  const real = files.real(path)
  return { real, state: Kinds.isOfSystem(real, files.real(cwd)) ? "of the system" : files.state(path) }
}

/** The stored form of a decision: one part for each system. */
export const print = (cwd: string, covered: Covered): string =>
  [...covered].map(([dialect, items]) =>
    `${dialect}:${sha256(JSON.stringify([real(cwd), ...[...items].sort(([a], [b]) => a < b ? -1 : 1)]))}`
  ).sort().join(" ")

/** The settings of hooks in a file. */
const saidBy = (source: Source, files: Files, now: boolean): string | undefined => {
  const about = (text: string) => {
    const said = source.system.about({ ...source, text })
    // A value that contains itself cannot be written as JSON.
    return said === undefined ? undefined : Result.getOrElse(Result.try(() => JSON.stringify(said)), () => text)
  }
  return now ? files.text(source.path, `${source.dialect} ${source.format ?? ""}`, about) : about(source.text)
}

/** The settings of hooks in a file, for a person to read. */
export const textOf = (sources: ReadonlyArray<Source>, path: string): string | undefined => {
  const source = sources.find((one) => one.path === path)
  if (source === undefined) return undefined
  const said = source.system.about(source)
  return Result.getOrUndefined(Result.try(() => JSON.stringify(said, null, 2)))
}

/** In some systems an entry sets its folder and variables. */
const settingsOf = (handler: Entry): { readonly cwd: string; readonly env: { readonly [name: string]: string } } => {
  const { cwd, env } = handler as Entry & { readonly cwd?: unknown; readonly env?: unknown }
  const texts = isFields(env)
    ? Object.entries(env).flatMap(([name, value]) => typeof value === "string" ? [[name, value] as const] : [])
    : []
  return { cwd: typeof cwd === "string" ? cwd : "", env: Object.fromEntries(texts) }
}

/**
 * The `package.json` files that can change how a JavaScript file is read: the nearest one above its folder, and the
 * places where a nearer one could be created.
 */
const packagesOf = (path: string, cwd: string, exists: (path: string) => boolean): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let folder = dirname(path); isInside(cwd, folder); folder = dirname(folder)) {
    found.push(join(folder, "package.json"))
    if (exists(found.at(-1)!)) break
  }
  return found
}

/** The most files of one system that are read. Hooks with more files are never trusted. */
const maxFiles = 100_000

/**
 * Finds the files in a folder and below it that could be run or loaded. In the folder of the project itself, only the
 * files directly in it count.
 */
const below = (start: string, cwd: string, home: string, files: Files, found: Set<string>): void => {
  const [top, root] = [files.real(start), files.real(cwd)]
  if (!isInside(cwd, start) && !isInside(root, top)) return
  const visited = new Set<string>()
  const walk = (folder: string, installed: boolean): void => {
    const behind = files.real(folder)
    if (visited.has(behind) || found.size > maxFiles) return
    visited.add(behind)
    for (const { name, type } of files.list(folder)) {
      const path = inside(folder, name)
      const kind = type === "link" ? files.see(path)?.type ?? "file" : type
      if (kind === "folder") {
        if (top === root || Kinds.isKept(name)) continue
        // A folder above the project would include too many files.
        if ([root, home].every((one) => !isInside(files.real(path), one))) {
          walk(path, installed || name === "node_modules")
        }
      } else if ((top !== root || !Kinds.isSetting(name)) && runs(path, name, installed, files)) found.add(path)
    }
  }
  walk(resolve(start), false)
}

const runs = (path: string, name: string, installed: boolean, files: Files): boolean => {
  if (Kinds.isScript(name)) return !/\.d\.[cm]?ts$/.test(name)
  if (Kinds.isSetting(name)) return !installed || name === "package.json"
  // Installed packages have thousands of files.
  if (installed && Kinds.isData(name)) return false
  return files.see(path)?.executable === true
}
