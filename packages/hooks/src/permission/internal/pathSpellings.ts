/** Finds the absolute paths of a path as it is written, with and without symbolic links. */
import * as Result from "effect/Result"
import { posix } from "node:path"
import { nodeFs } from "../../internal/nodeFs.ts"

/** Where paths are resolved. @category models @since 0.1.0 */
export interface Place {
  /** The folder that relative paths start at. */
  readonly cwd: string
  /** The absolute folder that `~` stands for. */
  readonly home: string
  /** The folder that a pattern such as `/docs/**` starts at. Default `cwd`. */
  readonly source?: string
  /** Whether paths that differ only in letter case are the same path. Default true. */
  readonly ignoreCase?: boolean
  /**
   * Resolves the symbolic links of an absolute path; returns `undefined` for a path that does not exist. Default: asks
   * the file system.
   */
  readonly realpath?: (path: string) => string | undefined
}

/** The longest path that is read, in characters. */
const maxPathLength = 8_192

const maxLinks = 32

/**
 * Returns every absolute spelling of a path: as written, and with its symbolic links resolved. Returns `undefined` for
 * a text that is not a path.
 */
export const spellings = (
  path: string,
  place: Place,
  folders: ReadonlyArray<string> = [place.cwd]
): ReadonlyArray<string> | undefined => {
  const cached = caches.get(place)?.spellings
  if (cached === undefined) return findSpellings(path, place, folders)
  const key = folders.length === 1 && folders[0] === place.cwd ? path : [path, ...folders].join("\0")
  if (!cached.has(key)) cached.set(key, findSpellings(path, place, folders))
  return cached.get(key)
}

/** A script that a shell reads. Its text is undefined if it cannot be read. */
export interface ScriptText {
  /** The line names the shell, or reads the script into it. Else the line runs the file by its path. */
  readonly isCertain: boolean
  readonly text: string | undefined
}

/** The cache of one call. Many rules read the same paths. */
export interface PathCache {
  readonly spellings: Map<string, ReadonlyArray<string> | undefined>
  /** What is below folders on the disk. */
  readonly filesBelow: Map<string, ReadonlyArray<string> | undefined>
  /** The shell scripts that a line runs. */
  readonly scripts: WeakMap<object, ReadonlyArray<ScriptText>>
  /** The folders that the commands of a line may run in. */
  folders?: { readonly line: object; readonly found: readonly [ReadonlyArray<string>, boolean] }
}

/** Module state: weak, so that a cache is collected with its place. */
const caches = new WeakMap<Place, PathCache>()

/**
 * Gives a place a cache, so that the file system is asked once about each path. Use it for the place of a single call:
 * links may change between calls.
 */
export const withPathCache = <P extends Place>(place: P): P => {
  caches.set(place, { spellings: new Map(), filesBelow: new Map(), scripts: new WeakMap() })
  return place
}

/** The cache of a place, if it has one. */
export const pathCacheOf = (place: Place): PathCache | undefined => caches.get(place)

const findSpellings = (
  path: string,
  place: Place,
  folders: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  if (path === "" || path.length > maxPathLength || path.includes("\0")) return undefined
  const written = path.startsWith("file://") ? decodeUrl(path.slice(7)) : path
  if (written === undefined) return undefined
  const forms = written.includes("\\") ? [written, written.replaceAll("\\", "/")] : [written]
  const found = new Set<string>()
  for (const form of forms) {
    for (const absolute of absolutePaths(form, place, folders)) {
      found.add(normalizePath(absolute))
      const real = resolveLinks(absolute, place.realpath ?? realpath)
      if (real !== undefined) found.add(normalizePath(real))
    }
  }
  return [...found].map((spelling) => normalizeName(spelling, place))
}

const decodeUrl = (text: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => decodeURIComponent(text)))

/** The absolute paths that a path may mean, when the working folder may be one of `folders`. */
export const absolutePaths = (path: string, { home }: Place, folders: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (path === "~" || path.startsWith("~/")) return [home + path.slice(1)]
  return path.startsWith("/") ? [path] : folders.map((folder) => `${folder}/${path}`)
}

/** Removes `.`, `..`, doubled slashes and a slash at the end. */
export const normalizePath = (path: string): string => {
  const normalized = posix.normalize(path).replace(/^\/+/, "/")
  return normalized.length > 1 && normalized.endsWith("/") ? normalized.slice(0, -1) : normalized
}

/** Brings names into one Unicode form, and into lower case where the file system may ignore it. */
export const normalizeName = (path: string, { ignoreCase = true }: Place): string =>
  ignoreCase ? path.normalize("NFKC").toLowerCase().normalize("NFC") : path.normalize("NFC")

/** A folder as it is written and with its links resolved. */
export const folderSpellings = (folder: string, { realpath: resolve = realpath }: Place): ReadonlyArray<string> => {
  const normalized = normalizePath(folder)
  const real = resolve(normalized)
  return real === undefined || normalizePath(real) === normalized ? [normalized] : [normalized, normalizePath(real)]
}

/** Asks the file system. For a link to a missing file it still returns where a write would go. */
const realpath = (path: string, links = 0): string | undefined =>
  Result.getOrElse(Result.try(() => nodeFs().realpathSync.native(path)), () => {
    const target = Result.getOrUndefined(Result.try(() => nodeFs().readlinkSync(path)))
    if (target === undefined || links > maxLinks) return undefined
    const absolute = target.startsWith("/") ? target : `${posix.dirname(path)}/${target}`
    return resolveLinks(absolute, (next) => realpath(next, links + 1))
  })

/**
 * Resolves the links of the nearest folder that exists and appends the rest, as the kernel does: `link/..` is the
 * parent of the link's target.
 */
const resolveLinks = (path: string, resolve: NonNullable<Place["realpath"]>): string | undefined => {
  const parts = path.split("/")
  for (let end = parts.length; end > 0; end--) {
    const real = resolve(parts.slice(0, end).join("/") || "/")
    if (real !== undefined) return [real, ...parts.slice(end)].join("/")
    if (parts.length - end > 256) return undefined
  }
  return undefined
}
