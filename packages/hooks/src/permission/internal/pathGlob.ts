/** Globs over absolute paths, such as `src/**` or `~/.ssh/**`. */
import { braceExpand, Minimatch } from "minimatch"
import { globsIntersect } from "./globIntersection.ts"
import { absolutePaths, folderSpellings, normalizeName, normalizePath, type Place } from "./pathSpellings.ts"

/**
 * Where a relative glob matches: only below the folder that it starts at (`anchored`), or below any folder, as a guard
 * needs it (`anywhere`).
 */
type Reach = "anchored" | "anywhere"

/** A glob over paths. */
export interface PathGlob {
  readonly text: string
  /** Whether the glob matches an absolute path. With `anywhere`, `dir/**` matches `dir` as well. */
  readonly test: (path: string, place: Place, reach: Reach) => boolean
  /** Whether the glob matches something below a folder. */
  readonly below: (folder: string, place: Place) => boolean
  /** Whether some path may match both this glob and another one. */
  readonly intersects: (glob: string, place: Place, folders: ReadonlyArray<string>) => boolean
}

/** The longest glob, in characters. */
export const maxGlobLength = 1_024

/** The meaning of a leading slash: the root of the file system, or the folder of the rule's source. */
type SlashMeaning = "root" | "source"

/** Compiles a glob. Where a leading slash means `source`, two slashes mean the root of the file system. */
export const compilePathGlob = (text: string, slash: SlashMeaning): PathGlob => {
  const patternsAt = patternCache(text, slash)
  return {
    text,
    test: (path, place, reach) =>
      patternsAt(place, reach).some((pattern) =>
        pattern.match(path) ||
        (reach === "anywhere" && pattern.pattern.endsWith("/**") && pattern.match(`${path}/x`))
      ),
    below: (folder, place) => {
      const parent = folder === "/" ? "/" : `${folder}/`
      return [...patternsAt(place, "anchored"), ...patternsAt(place, "anywhere")].some(({ pattern }) =>
        expandBraces(pattern).some((glob) => {
          const start = literalStart(glob)
          return start.startsWith(parent) || start === folder
        })
      )
    },
    intersects: (other, place, folders) => {
      const others = expandBraces(other).flatMap((word) =>
        absolutePaths(word, place, folders).map((path) => normalizeName(normalizePath(path), place))
      )
      return patternsAt(place, "anywhere").some(({ pattern }) =>
        expandBraces(pattern).some((glob) => others.some((path) => globsIntersect(glob, path)))
      )
    }
  }
}

/** Compiles the patterns of a glob once for each place. Most calls ask about the same place several times. */
const patternCache = (text: string, slash: SlashMeaning) => {
  const byPlace = new Map<string, ReadonlyArray<Minimatch>>()
  const latest: { [reach: string]: { readonly place: Place; readonly patterns: ReadonlyArray<Minimatch> } } = {}
  const compile = (place: Place, reach: Reach): ReadonlyArray<Minimatch> => {
    const key = JSON.stringify([place.cwd, place.home, place.source, place.ignoreCase, reach])
    const cached = byPlace.get(key)
    if (cached !== undefined) return cached
    const patterns = absoluteGlobs(text, place, reach, slash).map((pattern) =>
      new Minimatch(normalizeName(pattern, place), options)
    )
    if (byPlace.size > 64) byPlace.clear()
    byPlace.set(key, patterns)
    return patterns
  }
  return (place: Place, reach: Reach): ReadonlyArray<Minimatch> => {
    if (latest[reach]?.place === place) return latest[reach].patterns
    const patterns = compile(place, reach)
    latest[reach] = { place, patterns }
    return patterns
  }
}

const options = { dot: true, nocomment: true, nonegate: true, braceExpandMax: 256 }

const expandBraces = (text: string): ReadonlyArray<string> => braceExpand(text, { braceExpandMax: 256 })

/** The folders of a glob before the first one that is a pattern. */
const literalStart = (glob: string): string => {
  const parts = glob.split("/")
  const patternIndex = parts.findIndex((part) => /[*?[(!+@]/.test(part))
  return (patternIndex < 0 ? parts : parts.slice(0, patternIndex)).join("/")
}

/** Escapes the name of a folder, which is not a pattern. */
const escapeGlob = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@]/g, (c) => `\\${c}`)

/** The absolute globs of a glob as it is written. */
const absoluteGlobs = (written: string, place: Place, reach: Reach, slash: SlashMeaning): ReadonlyArray<string> => {
  const { cwd, home, source = cwd } = place
  const text = written.startsWith("./") ? written.slice(2) : written
  const below = (folder: string, rest: string) =>
    folderSpellings(folder, place).map((spelling) => escapeGlob(spelling) + rest)
  if (text === "~" || text.startsWith("~/")) return below(home, text.slice(1))
  if (text.startsWith("//")) return [`/${text.replace(/^\/+/, "")}`]
  if (text.startsWith("/")) {
    if (slash === "root") return [text]
    return reach === "anywhere" ? [...below(source, text), text] : below(source, text)
  }
  if (text.startsWith("**/")) return [`/${text}`]
  const isName = !text.includes("/")
  if (reach === "anywhere") return isName ? [`/**/${text}`, `/**/${text}/**`] : [`/**/${text}`]
  return below(cwd, isName ? `/**/${text}` : `/${text}`)
}
