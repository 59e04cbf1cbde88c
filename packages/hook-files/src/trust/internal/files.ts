/** Checks files repeatedly, and reads only those that may have changed. */
import * as Result from "effect/Result"
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs"
import { basename, dirname, sep } from "node:path"
import { parse as parseToml } from "smol-toml"
import { isFields, record } from "../../internal/fields.ts"
import { read, real, sha256 } from "../../internal/files.ts"

/** The file at a path; links are followed. */
interface Seen {
  readonly type: "file" | "folder" | "other"
  readonly executable: boolean
  readonly link: boolean
}

interface Entry {
  readonly name: string
  readonly type: "file" | "folder" | "link"
}

export interface Files {
  /** Undefined if there is no file. */
  readonly see: (path: string) => Seen | undefined
  /** Its execute bits and SHA-256, such as `755 9f86…`; or `absent`; or the reason why it cannot be read. */
  readonly state: (path: string) => string
  /** The data of the file system with which the state was read, if the file had not changed just before. */
  readonly settledKey: (path: string) => string | undefined
  /** The real path. */
  readonly real: (path: string) => string
  readonly list: (folder: string) => ReadonlyArray<Entry>
  /**
   * Computes a value from the text of a file (`""` if there is none), and returns the cached value while the file does
   * not change.
   */
  readonly text: <A>(path: string, about: string, make: (text: string) => A) => A
  /** Starts a new check: everything may have changed. */
  readonly begin: () => void
  /**
   * Whether nothing has changed since the last check, by the data of the file system. For files that do not count,
   * whether they still do not count. With `only`, just these paths are looked at, and links.
   */
  readonly isQuiet: (counts: (path: string) => boolean, only?: ReadonlySet<string>) => boolean
  /** The folders of all files of the last check that exist, if there are many files. */
  readonly folders: () => ReadonlySet<string> | undefined
}

/** Times of files are coarse. A file that was read within so many milliseconds after its change is read again. */
const settling = 2_000

/** So many files are not all looked at before each start of an entry, if their folders can be watched. */
const many = 1_000

/** The most bytes of a script that are read. For a larger one, its size, time and inode count. */
const maxScript = 67_108_864

interface Stat extends Seen {
  /** It has other paths, through which it can be changed. */
  readonly shared: boolean
  /** A text that changes when the file changes. */
  readonly key: string
  readonly changed: number
}

interface Kept {
  readonly key: string
  readonly settled: boolean
  readonly value: unknown
}

/** Returns the state of a file with this data of the file system, if it is known. */
export type Known = (path: string, key: string) => string | undefined

export const make = (known?: Known): Files => {
  /** By what is computed, and path. */
  const kept = new Map<string, Map<string, Kept>>()
  const seen = new Map<string, Stat | undefined>()
  const folders = new Map<string, string>()
  let unheard: ReadonlyArray<string> | undefined
  /** When this check began. A file that changed later is not settled. */
  let began = new Date().getTime()
  /** Whether no file of the last check was changed too recently. */
  let calm = false

  const stat = (path: string): Stat | undefined => {
    const before = seen.get(path)
    if (before !== undefined || seen.has(path)) return before
    const found = look(path)
    seen.set(path, found)
    return found
  }

  /** Computes a value from a path, and computes it again if the path may have changed since. */
  const once = <A>(path: string, about: string, make: (stat: Stat | undefined) => A): A => {
    const now = stat(path)
    const values = kept.get(about) ?? new Map<string, Kept>()
    kept.set(about, values)
    if (now === undefined) {
      values.delete(path)
      return make(now)
    }
    const before = values.get(path)
    // The same `about` always uses the same function.
    if (before?.key === now.key && before.settled) return before.value as A
    const settled = began - now.changed > settling
    calm &&= settled
    const value = make(now)
    values.set(path, { key: now.key, settled, value })
    return value
  }

  const realOf = (path: string): string => {
    if (stat(path)?.link === true) return real(path)
    const at = path.lastIndexOf(sep)
    if (at <= 0) return real(path)
    const folder = path.slice(0, at)
    let found = folders.get(folder)
    if (found === undefined) folders.set(folder, found = real(folder))
    return inside(found, path.slice(at + 1))
  }

  /** Folders that exist can be watched, but not the targets of links. */
  const folderOf = (path: string): ReadonlyArray<string> => {
    const folder = dirname(path)
    const own = seen.get(path)
    return [...(own?.type === "folder" ? [path] : []), ...(own === undefined ? [] : [folder])]
  }
  /** The files that are looked at each time, because a change of them is not noticed. */
  const apart = (): ReadonlyArray<string> =>
    unheard ??= [...seen].flatMap(([path, own]) => own === undefined || own.link || own.shared ? [path] : [])

  return {
    see: stat,
    state: (path) =>
      once(path, "state", (now) => now === undefined ? "absent" : known?.(path, now.key) ?? stateOf(path)),
    settledKey: (path) => {
      const state = kept.get("state")?.get(path)
      return state?.settled === true ? state.key : undefined
    },
    list: (folder) =>
      once(
        folder,
        "list",
        (now) =>
          now?.type === "folder"
            ? Result.getOrElse(Result.try(() => listOf(folder)), (): ReadonlyArray<Entry> => [])
            : []
      ),
    text: (path, about, make) =>
      once(path, about, () => {
        const content = read(path, 1_048_576)
        return make(content === "absent" || "problem" in content ? "" : content.bytes.toString("utf8"))
      }),
    real: realOf,
    isQuiet: (counts, only) => {
      if (!calm) return false
      const isStill = (path: string) => isSame(seen.get(path), look(path), counts(path))
      if (only === undefined) return [...seen.keys()].every(isStill)
      return apart().every(isStill) && [...only].every((path) => !seen.has(path) || isStill(path))
    },
    folders: () => seen.size < many ? undefined : new Set([...seen.keys()].flatMap(folderOf)),
    begin: () => {
      began = new Date().getTime()
      calm = true
      unheard = undefined
      seen.clear()
      folders.clear()
    }
  }
}

/** Joins the path of a folder and a name, which are both plain. */
export const inside = (folder: string, name: string): string =>
  folder.endsWith(sep) ? `${folder}${name}` : `${folder}${sep}${name}`

const look = (path: string): Stat | undefined => Result.getOrUndefined(Result.try(() => statOf(path)))

const isSame = (before: Stat | undefined, now: Stat | undefined, counts: boolean): boolean => {
  if (before === undefined || now === undefined) return before === now
  if (counts || now.type !== "file") return before.key === now.key
  return before.type === "file" && before.executable === now.executable && before.link === now.link
}

const statOf = (path: string): Stat | undefined => {
  const own = lstatSync(path, { throwIfNoEntry: false })
  const link = own?.isSymbolicLink() === true
  const target = link ? statSync(path, { throwIfNoEntry: false }) : own
  if (own === undefined || target === undefined) return undefined
  const isFile = target.isFile()
  return {
    type: isFile ? "file" : target.isDirectory() ? "folder" : "other",
    executable: isFile && (target.mode & 0o111) !== 0,
    link,
    shared: isFile && target.nlink > 1,
    key: link ? `${keyOf(own)} ${keyOf(target)}` : keyOf(own),
    changed: Math.max(own.ctimeMs, target.ctimeMs, target.mtimeMs)
  }
}

/** Times in milliseconds have a fraction. */
const keyOf = ({ ctimeMs, dev, ino, mode, mtimeMs, size }: Stats): string =>
  `${dev} ${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`

const listOf = (folder: string): ReadonlyArray<Entry> =>
  readdirSync(folder, { withFileTypes: true }).map((entry): Entry => ({
    name: entry.name,
    type: entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "file"
  })).sort((a, b) => a.name < b.name ? -1 : 1)

/** Its execute bits and SHA-256. */
export const stateOf = (path: string): string => {
  const content = read(path, maxScript)
  if (content === "absent") return content
  if ("problem" in content) return content.problem
  const name = basename(path)
  const relevant = name === "package.json"
    ? ofPackage(content.bytes)
    : name === "pyproject.toml"
    ? ofPyproject(content.bytes)
    : undefined
  return `${content.mode.toString(8)} ${sha256(relevant ?? content.bytes)}`
}

/** The fields of a `package.json` that decide which code runs, without dependencies and descriptions. */
const ofPackage = (bytes: Buffer): string | undefined => {
  const fields = record(bytes.toString("utf8"))
  if (fields === undefined) return undefined
  return JSON.stringify(Object.entries(fields).filter(([key]) => !inert.has(key)).sort(([a], [b]) => a < b ? -1 : 1))
}

const inert: ReadonlySet<string> = new Set(
  `version description keywords author contributors license homepage bugs repository funding private files engines
   dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies bundledDependencies`.split(
    /\s+/
  )
)

/** The same for a `pyproject.toml`: its build, its scripts and its task runners. */
const ofPyproject = (bytes: Buffer): string | undefined => {
  const parsed = Result.try((): unknown => parseToml(bytes.toString("utf8")))
  if (Result.isFailure(parsed) || !isFields(parsed.success)) return undefined
  const { "build-system": build, project, tool } = parsed.success
  const own = isFields(project) ? project : {}
  const tools = isFields(tool) ? tool : {}
  const { dependencies: _, "dev-dependencies": _dev, group: _group, version: _version, ...poetry } =
    isFields(tools["poetry"])
      ? tools["poetry"]
      : {}
  const runners = ["uv", "pdm", "hatch", "rye", "poe", "taskipy", "invoke"].map((name) => tools[name])
  return JSON.stringify([build, own["scripts"], own["gui-scripts"], own["entry-points"], poetry, runners])
}
