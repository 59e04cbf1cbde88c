/** Paths as the file system sees them, and globs that are held against them. */
import * as Result from "effect/Result"
import { braceExpand, Minimatch } from "minimatch"
import { readlinkSync, realpathSync } from "node:fs"
import { posix } from "node:path"

/** Where paths are seen from. */
export interface Place {
  /** The folder that relative paths start at. */
  readonly cwd: string
  /** What `~` stands for. */
  readonly home: string
  /** The folder of whoever wrote the rule: what `/docs/**` starts at. Default `cwd`. */
  readonly source?: string
  /** Paths that differ in letter case only are one. Default true. */
  readonly ignoreCase?: boolean
  /** The path behind symbolic links, or nothing when there is none. Default the file system's. */
  readonly realpath?: (path: string) => string | undefined
}

/** Longest path that is looked at, in characters. */
const maxPath = 8_192

/** A link that leads to nothing yet still says where a write would land. */
const native = (path: string, hops = 0): string | undefined =>
  Result.getOrElse(Result.try(() => realpathSync.native(path)), () => {
    const target = Result.getOrUndefined(Result.try(() => readlinkSync(path)))
    if (target === undefined || hops > 32) return undefined
    return behind(
      target.startsWith("/") ? target : `${posix.dirname(path)}/${target}`,
      (next) => native(next, hops + 1)
    )
  })

/**
 * Every absolute spelling of a path: as written, and behind its symbolic links. A path that cannot be one is
 * `undefined`.
 */
export const spellings = (
  path: string,
  place: Place,
  folders: ReadonlyArray<string> = [place.cwd]
): ReadonlyArray<string> | undefined => {
  const known = memos.get(place)?.spellings
  if (known === undefined) return spell(path, place, folders)
  const key = folders.length === 1 && folders[0] === place.cwd ? path : [path, ...folders].join("\0")
  if (!known.has(key)) known.set(key, spell(path, place, folders))
  return known.get(key)
}

/** What is found out about one call, about which many rules ask. */
interface Memo {
  readonly spellings: Map<string, ReadonlyArray<string> | undefined>
  visited?: { readonly line: object; readonly found: readonly [ReadonlyArray<string>, boolean] }
}

const memos = new WeakMap<Place, Memo>()

/**
 * Makes a place one of a single call: the file system is asked once about each path. Others are asked anew every time,
 * as links may change.
 */
export const once = <P extends Place>(place: P): P => {
  memos.set(place, { spellings: new Map() })
  return place
}

/** What is known of a call. */
export const memoOf = (place: Place): Memo | undefined => memos.get(place)

const spell = (path: string, place: Place, folders: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if (path === "" || path.length > maxPath || path.includes("\0")) return undefined
  const written = path.startsWith("file://") ? decoded(path.slice(7)) : path
  if (written === undefined) return undefined
  const forms = written.includes("\\") ? [written, written.replaceAll("\\", "/")] : [written]
  const found = new Set<string>()
  for (const form of forms) {
    for (const raw of absolute(form, place, folders)) {
      const plain = tidy(raw)
      found.add(plain)
      const real = behind(raw, place.realpath ?? native)
      if (real !== undefined) found.add(tidy(real))
    }
  }
  return [...found].map((one) => fold(one, place))
}

const decoded = (text: string): string | undefined => Result.getOrUndefined(Result.try(() => decodeURIComponent(text)))

const absolute = (path: string, { home }: Place, folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  path === "~" || path.startsWith("~/")
    ? [home + path.slice(1)]
    : path.startsWith("/")
    ? [path]
    : folders.map((folder) => `${folder}/${path}`)

const tidy = (path: string): string => {
  const plain = posix.normalize(path).replace(/^\/+/, "/")
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain
}

/** Names are compared in one Unicode form, and in one letter case where the file system may not care. */
const fold = (path: string, { ignoreCase = true }: Place): string =>
  ignoreCase ? path.normalize("NFKC").toLowerCase().normalize("NFC") : path.normalize("NFC")

/**
 * The path behind the links of the nearest folder that exists, as the kernel walks it: `link/..` is where the link
 * leads.
 */
const behind = (path: string, realpath: NonNullable<Place["realpath"]>): string | undefined => {
  const parts = path.split("/")
  for (let end = parts.length; end > 0; end--) {
    const real = realpath(parts.slice(0, end).join("/") || "/")
    if (real !== undefined) return [real, ...parts.slice(end)].join("/")
    if (parts.length - end > 256) return undefined
  }
  return undefined
}

/** How a glob counts: `anywhere` also below the folder it starts at, as a guard wants it. */
type Reach = "anchored" | "anywhere"

/** A glob over paths. */
export interface PathGlob {
  readonly text: string
  /** Whether it matches a path (an absolute spelling), the folder that `/**` stands behind included for `anywhere`. */
  readonly test: (path: string, place: Place, reach: Reach) => boolean
  /** Whether it matches something below a folder. */
  readonly below: (folder: string, place: Place) => boolean
  /** Whether some path may match both it and another glob. */
  readonly meets: (glob: string, place: Place, folders: ReadonlyArray<string>) => boolean
}

/** Longest glob, in characters. */
export const maxGlob = 1_024

/**
 * Compiles a glob. `absolutes` says what a leading slash means: `file` the root of the file system, `source` the folder
 * of the rule's source
 * (two slashes are then the root).
 */
export const glob = (text: string, absolutes: "file" | "source"): PathGlob => {
  const cache = new Map<string, ReadonlyArray<Minimatch>>()
  const recent: { [reach: string]: { readonly place: Place; readonly made: ReadonlyArray<Minimatch> } } = {}
  const globs = (place: Place, reach: Reach): ReadonlyArray<Minimatch> => {
    if (recent[reach]?.place === place) return recent[reach].made
    const made = compiled(place, reach)
    recent[reach] = { place, made }
    return made
  }
  const compiled = (place: Place, reach: Reach): ReadonlyArray<Minimatch> => {
    const key = JSON.stringify([place.cwd, place.home, place.source, place.ignoreCase, reach])
    const known = cache.get(key)
    if (known !== undefined) return known
    const made = patterns(text, place, reach, absolutes).map((pattern) => new Minimatch(fold(pattern, place), options))
    if (cache.size > 64) cache.clear()
    cache.set(key, made)
    return made
  }
  return {
    text,
    test: (path, place, reach) =>
      globs(place, reach).some((one) =>
        one.match(path) || (reach === "anywhere" && one.pattern.endsWith("/**") && one.match(`${path}/x`))
      ),
    below: (folder, place) =>
      [...globs(place, "anchored"), ...globs(place, "anywhere")].some(({ pattern }) =>
        expanded(pattern).some((one) => {
          const parts = one.split("/")
          const fixed = parts.slice(0, parts.findIndex((part) => /[*?[(!+@]/.test(part)) >>> 0).join("/")
          return fixed.startsWith(folder === "/" ? "/" : `${folder}/`) || fixed === folder
        })
      ),
    meets: (other, place, folders) =>
      globs(place, "anywhere").some(({ pattern }) =>
        expanded(pattern).some((one) =>
          expanded(other).some((word) =>
            absolute(word, place, folders).some((path) => intersects(one, fold(tidy(path), place)))
          )
        )
      )
  }
}

const options = { dot: true, nocomment: true, nonegate: true, braceExpandMax: 256 }

const expanded = (text: string): ReadonlyArray<string> => braceExpand(text, { braceExpandMax: 256 })

/** A folder's own name is no pattern. */
const literal = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@]/g, (c) => `\\${c}`)

/** The absolute globs that a written one stands for. */
const patterns = (written: string, place: Place, reach: Reach, absolutes: "file" | "source"): ReadonlyArray<string> => {
  const { cwd, home, source = cwd } = place
  const text = written.startsWith("./") ? written.slice(2) : written
  if (text === "~" || text.startsWith("~/")) return roots(home, place).map((folder) => literal(folder) + text.slice(1))
  if (text.startsWith("//")) return [`/${text.replace(/^\/+/, "")}`]
  if (text.startsWith("/")) {
    const inSource = roots(source, place).map((folder) => literal(folder) + text)
    return absolutes === "file" ? [text] : reach === "anywhere" ? [...inSource, text] : inSource
  }
  if (text.startsWith("**/")) return [`/${text}`]
  const here = roots(cwd, place).map(literal)
  if (!text.includes("/")) {
    return reach === "anywhere"
      ? [`/**/${text}`, `/**/${text}/**`]
      : here.map((folder) => `${folder}/**/${text}`)
  }
  return reach === "anywhere" ? [`/**/${text}`] : here.map((folder) => `${folder}/${text}`)
}

/** A folder as it is written and as it is behind its links. */
const roots = (folder: string, { realpath = native }: Place): ReadonlyArray<string> => {
  const plain = tidy(folder)
  const real = realpath(plain)
  return real === undefined || tidy(real) === plain ? [plain] : [plain, tidy(real)]
}

/** Whether two globs have a path in common. Classes count as any character, so that it errs towards yes. */
const intersects = (a: string, b: string): boolean => {
  const [left, right] = [a.split("/"), b.split("/")]
  let row = [true, ...right.map(() => false)]
  for (let j = 0; j < right.length && right[j] === "**"; j++) row[j + 1] = true
  for (const one of left) {
    const next = [one === "**" && row[0]!]
    for (const [j, other] of right.entries()) {
      next.push(
        one === "**"
          ? row[j + 1]! || next[j]!
          : other === "**"
          ? next[j]! || row[j + 1]!
          : row[j]! && segmentsMeet(one, other)
      )
    }
    row = next
  }
  return row[right.length]!
}

/** The second is a word of the shell: its leading `*` does not take a dot. */
const segmentsMeet = (a: string, b: string): boolean => {
  if (/^[*?]/.test(b) && (a.startsWith(".") || a.startsWith("\\."))) return false
  const [left, right] = [characters(a), characters(b)]
  if (left.length * right.length > 65_536) return true
  let row: Array<boolean> = [true]
  for (const c of right) row.push(c === "*" && row[row.length - 1]!)
  for (const c of left) {
    const next = [c === "*" && row[0]!]
    for (const [j, d] of right.entries()) {
      next.push(
        c === "*" || d === "*"
          ? (c === "*" && (row[j + 1]! || next[j]!)) || (d === "*" && (next[j]! || row[j + 1]!)) ||
            (c === "*" && d === "*" && row[j]!)
          : row[j]! && (c === "?" || d === "?" || c === d)
      )
    }
    row = next
  }
  return row[right.length]!
}

const characters = (segment: string): ReadonlyArray<string> =>
  segment.replaceAll(/\\(.)/g, (_, c: string) => (c === "*" || c === "?" ? "?" : c)).replaceAll(
    /[@!+?*]?\([^)]*\)|\[[^\]]*\]/g,
    "*"
  ).split(
    ""
  )
