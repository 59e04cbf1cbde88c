/** Reads the scripts that a line runs, if they are on the disk now. */
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { nodeFs } from "../../internal/nodeFs.ts"
import { foldersOf } from "./fileAccess.ts"
import { pathCacheOf, type Place, type ScriptText } from "./pathSpellings.ts"
import type { Decomposed } from "./shell/decompose.ts"

const maxBytes = 262_144

/** Reads a file that a line names, in one of the folders that the line may be in. */
export const readText = (path: string, line: Decomposed, place: Place): string | undefined => {
  const written = path.startsWith("~/") ? place.home + path.slice(1) : path
  for (const folder of foldersOf(line, place)[0]) {
    const absolute = resolve(folder, written)
    const text = Result.getOrUndefined(Result.try(() => {
      const { size } = nodeFs().statSync(absolute)
      return size > maxBytes ? undefined : nodeFs().readFileSync(absolute, "utf8")
    }))
    if (text !== undefined) return text
  }
  return undefined
}

/** The shell scripts that a line runs. */
export const shellScriptsOf = (line: Decomposed, place: Place): ReadonlyArray<ScriptText> => {
  if (line.scripts.length === 0) return []
  const cache = pathCacheOf(place)?.scripts
  const cached = cache?.get(line)
  if (cached !== undefined) return cached
  const found = line.scripts.flatMap(({ path, type }): ReadonlyArray<ScriptText> => {
    if (type === "code") return []
    const text = readText(path, line, place)
    if (type === "shell") return [{ isCertain: true, text }]
    return text !== undefined && /^#!.*sh\b/.test(text) ? [{ isCertain: false, text }] : []
  })
  cache?.set(line, found)
  return found
}
