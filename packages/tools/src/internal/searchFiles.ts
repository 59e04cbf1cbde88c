/** Searches the lines of files. */
import { constants, type FileHandle, open, stat } from "node:fs/promises"
import { join } from "node:path"
import { type Place, shownPath } from "./resolvePath.ts"
import { walkFiles } from "./walkFiles.ts"

/** What is shown: lines, files, or the number of matching lines of each file. */
export type Mode = "content" | "files_with_matches" | "count"

interface Search {
  readonly place: Place
  readonly cwd: string
  readonly matches: (text: string) => boolean
  readonly isWanted: (path: string) => boolean
  readonly mode: Mode
  /** The most lines to show. */
  readonly limit: number
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

const maxBytes = 5_000_000
const maxLineLength = 500

/** Returns what was found, with a note if the search ended early. */
export const searchFiles = async ({ isWanted, limit, matches, mode, place, signal, timeoutMs, ...search }: Search) => {
  const end = performance.now() + timeoutMs
  const shown: Array<string> = []
  let note: string | undefined
  const files = filesOf(place.path, () => note = "[there are too many entries: search in a smaller folder]")
  for await (const path of files) {
    if (signal.aborted) break
    if (performance.now() > end) {
      note = `[the search was stopped after ${timeoutMs} ms: search in a smaller folder]`
      break
    }
    if (!isWanted(path) || place.isExcluded(path)) continue
    const full = path === "" ? place.path : join(place.path, path)
    const text = await textOf(full)
    if (text === undefined) continue
    const lines = text.split("\n").flatMap((line, index) => matches(trimEnd(line)) ? [[index + 1, line] as const] : [])
    if (lines.length === 0) continue
    const file = shownPath(search.cwd, path === "" ? place.path : full)
    if (mode === "files_with_matches") shown.push(file)
    else if (mode === "count") shown.push(`${file}:${lines.length}`)
    else for (const [number, line] of lines) shown.push(`${file}:${number}:${shorten(trimEnd(line))}`)
    if (shown.length > limit) {
      shown.length = limit
      note = `[there are more than ${limit} lines: use a narrower pattern, path or glob]`
      break
    }
  }
  return [...shown, ...(note === undefined ? [] : [note])].join("\n") || "[nothing matches]"
}

const trimEnd = (line: string): string => line.endsWith("\r") ? line.slice(0, -1) : line

const shorten = (line: string): string => line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line

/** The files below a folder, or the file itself as an empty path. */
async function* filesOf(path: string, onLimit: () => void): AsyncGenerator<string> {
  if (await stat(path).then((found) => found.isFile(), () => false)) return yield ""
  for await (const entry of walkFiles(path, onLimit)) if (entry.kind === "file") yield entry.path
}

/** Returns nothing for large and binary files, and for what cannot be read. */
const textOf = async (path: string): Promise<string | undefined> => {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const handle = await open(path, flags).catch(() => undefined)
  if (handle === undefined) return undefined
  const text = await readText(handle).catch(() => undefined)
  await handle.close()
  return text
}

const readText = async (file: FileHandle): Promise<string | undefined> => {
  const stat = await file.stat()
  if (!stat.isFile() || stat.size > maxBytes) return undefined
  const bytes = await file.readFile()
  return bytes.subarray(0, 8_192).includes(0) ? undefined : bytes.toString("utf8")
}
