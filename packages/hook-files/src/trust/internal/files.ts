/** Checks files repeatedly, and reads only those that may have changed. */
import * as Result from "effect/Result"
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { parse as parseToml } from "smol-toml"
import { isFields, record } from "../../dialect/shared/fields.ts"
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
   * whether they still do not count.
   */
  readonly isQuiet: (counts: (path: string) => boolean) => boolean
}

/** Times of files are coarse. A file that was read within so many milliseconds after its change is read again. */
const settling = 2_000

/** The most bytes of a script that are read. For a larger one, its size, time and inode count. */
const maxScript = 67_108_864

interface Stat extends Seen {
  /** A text that changes when the file changes. */
  readonly key: string
  readonly changed: number
}

interface Kept {
  readonly key: string
  readonly settled: boolean
  readonly value: unknown
}

export const make = (): Files => {
  const kept = new Map<string, Kept>()
  const seen = new Map<string, Stat | undefined>()
  const folders = new Map<string, string>()
  /** Whether no file of the last check was changed too recently. */
  let calm = false

  const stat = (path: string): Stat | undefined => {
    if (seen.has(path)) return seen.get(path)
    const found = look(path)
    seen.set(path, found)
    return found
  }

  /** Computes a value from a path, and computes it again if the path may have changed since. */
  const once = <A>(path: string, about: string, make: (stat: Stat | undefined) => A): A => {
    const now = stat(path)
    const id = `${about} ${path}`
    if (now === undefined) {
      kept.delete(id)
      return make(now)
    }
    const before = kept.get(id)
    // The same `about` always uses the same function.
    if (before?.key === now.key && before.settled) return before.value as A
    const settled = new Date().getTime() - now.changed > settling
    calm &&= settled
    const value = make(now)
    kept.set(id, { key: now.key, settled, value })
    return value
  }

  const realOf = (path: string): string => {
    if (stat(path)?.link === true) return real(path)
    const folder = dirname(path)
    const found = folders.get(folder) ?? real(folder)
    folders.set(folder, found)
    return join(found, basename(path))
  }

  return {
    see: stat,
    state: (path) => once(path, "state", (now) => now === undefined ? "absent" : stateOf(path)),
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
    isQuiet: (counts) => {
      if (!calm) return false
      for (const [path, before] of seen) if (!isSame(before, look(path), counts(path))) return false
      return true
    },
    begin: () => {
      calm = true
      seen.clear()
      folders.clear()
    }
  }
}

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

const stateOf = (path: string): string => {
  const content = Result.getOrElse(Result.try(() => read(path, maxScript)), () => "absent" as const)
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
