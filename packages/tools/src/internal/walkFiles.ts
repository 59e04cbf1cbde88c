/** Lists what is below a folder, in the order of the paths. Symbolic links are not followed. */
import type { Dirent } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"

/** Folders that are left out, unless the walk starts inside of them. */
const skipped: ReadonlySet<string> = new Set([".git", "node_modules"])

const maxEntries = 200_000

/** A file, folder or link. The path is relative to the folder, with `/`. */
export interface Entry {
  readonly path: string
  readonly kind: "file" | "folder" | "other"
}

/** Ends after 200,000 entries. Then `onLimit` is called. Folders that cannot be read are empty. */
export async function* walkFiles(folder: string, onLimit: () => void): AsyncGenerator<Entry> {
  const open: Array<string> = [""]
  let count = 0
  while (open.length > 0) {
    const parent = open.pop()!
    const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch((): Array<Dirent> => [])
    entries.sort((a, b) => a.name < b.name ? -1 : 1)
    const folders: Array<string> = []
    for (const entry of entries) {
      if (++count > maxEntries) return onLimit()
      const path = parent === "" ? entry.name : `${parent}/${entry.name}`
      const kind = entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other"
      if (kind === "folder" && skipped.has(entry.name)) continue
      if (kind === "folder") folders.push(path)
      yield { path, kind }
    }
    open.push(...folders.toReversed())
  }
}
