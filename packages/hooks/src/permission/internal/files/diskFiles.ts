/** What the disk says about the files below a folder, so that a guard need not guess. */
import * as Result from "effect/Result"
import { nodeFs } from "../../../internal/nodeFs.ts"

const maxEntries = 4_096
const maxDepth = 12

/** Folders with files that tools made or fetched: they are not searched. */
const generated =
  /^(?:node_modules|\.git|\.venv|venv|vendor|target|dist|build|out|__pycache__|\.cache|\.next|\.nuxt|\.tox|\.gradle)$/

/**
 * The paths of the files and folders below a folder, the nearest first. `undefined` when there is no such folder, when
 * it cannot be read, or when it has too many files.
 */
export const filesBelow = (folder: string): ReadonlyArray<string> | undefined => {
  const found: Array<string> = []
  let level = [folder]
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: Array<string> = []
    for (const parent of level) {
      const entries = Result.getOrUndefined(
        Result.try(() => nodeFs().readdirSync(parent, { withFileTypes: true }))
      )
      if (entries === undefined) {
        if (depth === 0) return undefined
        continue
      }
      for (const entry of entries) {
        const path = `${parent === "/" ? "" : parent}/${entry.name}`
        if (found.push(path) > maxEntries) return undefined
        if (entry.isDirectory() && !generated.test(entry.name)) next.push(path)
      }
    }
    level = next
  }
  return level.length === 0 ? found : undefined
}

/** Whether a path is a folder on the disk. */
export const isFolder = (path: string): boolean =>
  Result.getOrElse(Result.try(() => nodeFs().statSync(path).isDirectory()), () => false)
