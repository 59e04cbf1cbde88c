/**
 * What a decision about a project's hooks is about: what its files say of hooks, the scripts that entries run, and what
 * these may load from beside them.
 */
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { dirname, join, resolve } from "node:path"
import { isFields } from "../../dialect/shared/fields.ts"
import type { Dialect, Entry, Source } from "../../dialect/shared/system.ts"
import { isInside, real, sha256 } from "../../internal/files.ts"
import type { Files } from "./files.ts"
import * as Kinds from "./kinds.ts"
import * as Line from "./line.ts"

/** One file of it: where it is behind links, and what it is. */
interface Item {
  readonly real: string
  readonly state: string
  /** It is a settings file: only what it says of hooks counts. */
  readonly isSource?: true
}

export type Covered = ReadonlyMap<Dialect, ReadonlyMap<string, Item>>

/** Of the files of a project; as they were read, or as they are `now`. */
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
      // An interpreter looks beside the file that a link leads to.
      for (const one of new Set([path, files.real(path)])) if (!/[\\/]node_modules[\\/]/.test(one)) folder(dirname(one))
      if (/\.[cm]?[jt]sx?$/.test(path)) { for (const one of packagesOf(path, cwd, exists)) paths.add(one) }
    }
    for (const source of own) {
      const said = saidBy(source, files, now)
      if (said !== undefined) {
        items.set(source.path, { real: files.real(source.path), state: `hooks ${sha256(said)}`, isSource: true })
      }
      const { handlers } = source.config
      // What a skill, an agent or a plugin has is in its own folder.
      if (source.origin !== undefined && handlers.length > 0) folder(source.origin.root)
      const root = source.origin?.root
      for (const handler of handlers) {
        if (handler.file !== source.path) paths.add(handler.file)
        const { cwd: at, env } = settingsOf(handler)
        Line.named(handler.work, env, {
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
    // Two of these are never the same.
    if (paths.size > maxFiles) items.set(cwd, { real: cwd, state: `has more than ${maxFiles} scripts ${randomUUID()}` })
    else for (const path of [...paths].sort()) if (!items.has(path)) items.set(path, itemOf(path, cwd, files))
    if (items.size > 0) found.set(dialect, items)
  }
  return found
}

/** Behind a link, programs of the system are as they are. */
const itemOf = (path: string, cwd: string, files: Files): Item => {
  const real = files.real(path)
  return { real, state: Kinds.isOfSystem(real, files.real(cwd)) ? "of the system" : files.state(path) }
}

/** What a decision is written down as: a part for each system. */
export const print = (cwd: string, covered: Covered): string =>
  [...covered].map(([dialect, items]) =>
    `${dialect}:${sha256(JSON.stringify([real(cwd), ...[...items].sort(([a], [b]) => a < b ? -1 : 1)]))}`
  ).sort().join(" ")

/** What a file says of hooks. */
const saidBy = (source: Source, files: Files, now: boolean): string | undefined => {
  if (source.isProgram === true) return undefined
  const about = (text: string) => {
    const said = source.system.about({ ...source, text })
    // What refers to itself has no JSON.
    return said === undefined ? undefined : Result.getOrElse(Result.try(() => JSON.stringify(said)), () => text)
  }
  return now ? files.text(source.path, `${source.dialect} ${source.format ?? ""}`, about) : about(source.text)
}

/** Some systems let an entry say where it runs, and with which variables. */
const settingsOf = (handler: Entry): { readonly cwd: string; readonly env: { readonly [name: string]: string } } => {
  const { cwd, env } = handler as Entry & { readonly cwd?: unknown; readonly env?: unknown }
  const texts = isFields(env)
    ? Object.entries(env).flatMap(([name, value]) => typeof value === "string" ? [[name, value] as const] : [])
    : []
  return { cwd: typeof cwd === "string" ? cwd : ".", env: Object.fromEntries(texts) }
}

/**
 * The packages that may say how a script of JavaScript is read: the nearest one above its folder, and where there could
 * be a nearer one.
 */
const packagesOf = (path: string, cwd: string, exists: (path: string) => boolean): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let folder = dirname(path); isInside(cwd, folder); folder = dirname(folder)) {
    found.push(join(folder, "package.json"))
    if (exists(found.at(-1)!)) break
  }
  return found
}

/** Most files of one system that are looked at: hooks with more are never trusted. */
const maxFiles = 100_000

/**
 * What could run, or be loaded, in a folder of the project, and below it; of the project's own folder only what is
 * directly in it.
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
      const path = join(folder, name)
      const kind = type === "link" ? files.see(path)?.type ?? "file" : type
      if (kind === "folder") {
        if (top === root || Kinds.isKept(name)) continue
        // A folder above would be everything.
        if ([root, home].every((one) => !isInside(files.real(path), one))) {
          walk(path, installed || name === "node_modules")
        }
      } else if ((top !== root || !Kinds.isSetting(name)) && runs(path, name, installed, files)) found.add(path)
    }
  }
  walk(start, false)
}

const runs = (path: string, name: string, installed: boolean, files: Files): boolean => {
  if (Kinds.isScript(name)) return !/\.d\.[cm]?ts$/.test(name)
  if (Kinds.isSetting(name)) return !installed || name === "package.json"
  // Installed packages have thousands of texts.
  if (installed && Kinds.isData(name)) return false
  return files.see(path)?.executable === true
}
