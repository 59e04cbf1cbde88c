/** Whether the commands of a shell line read or write a file, in every folder that the line may be in. */
import type { Command, Decomposed, Word } from "./decompose.ts"
import type { PathGlob } from "./pathGlob.ts"
import { pathCacheOf, type Place, spellings } from "./pathSpellings.ts"
import { type FileAccess, filesOf } from "./programFiles.ts"
import { inert, writers } from "./programs.ts"

/**
 * Whether a call does what a rule describes. `unknown`: the call cannot be read well enough.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = "match" | "no-match" | "unknown"

const maxFolders = 16

/** How many words are compared with the file system. A line with more of them is `unknown`. */
const maxLookups = 1_024

/** The files to search for in a line. */
export interface FileQuery {
  readonly access: "read" | "write"
  readonly glob: Pick<PathGlob, "below" | "intersects" | "test">
  /** Whether to ignore the arguments of unknown programs. Default false. */
  readonly onlyKnownPrograms?: boolean
}

/** Whether a line reads or writes a file that a glob matches. */
export const accessesFile = (line: Decomposed, query: FileQuery, place: Place): Verdict => {
  const { access, onlyKnownPrograms = false } = query
  const folders = foldersOf(line, place)
  let verdict: Verdict = line.unknown === undefined ? "no-match" : "unknown"
  const readsFileNames = line.commands.some(({ name, wraps }) =>
    wraps && /^g?(?:xargs|find)$|^(?:parallel|fd|fdfind)$/.test(name)
  )
  let lookups = 0
  for (const command of line.commands) {
    const usesFiles = access === "write" ? writers.has(command.name) : inert.has(command.name)
    if (readsFileNames && command.via === "wrapped" && usesFiles) verdict = "unknown"
    for (const file of cachedFilesOf(command)) {
      if (file.how !== access && (onlyKnownPrograms || file.how !== "maybe")) continue
      lookups += file.word.fuzzy ? 16 : 1
      if (lookups > maxLookups) return "unknown"
      const found = matchFile(file, query.glob, place, folders)
      if (found === "match" && file.how === access && command.via !== "guess") return "match"
      if (found !== "no-match") verdict = "unknown"
    }
  }
  return verdict
}

const matchFile = (
  { how, recursive, word }: FileAccess,
  glob: FileQuery["glob"],
  place: Place,
  [folders, isIncomplete]: Folders
): Verdict => {
  const { dynamic, fuzzy, text } = word
  if (dynamic) return how === "maybe" ? "no-match" : "unknown"
  if (isIncomplete && !/^[/~]/.test(text)) return "unknown"
  if (fuzzy) return glob.intersects(text, place, folders) ? "unknown" : "no-match"
  const paths = spellings(text, place, folders)
  if (paths === undefined) return text === "" ? "no-match" : "unknown"
  const matches = paths.some((path) => glob.test(path, place, "anywhere") || (recursive && glob.below(path, place)))
  return matches ? "match" : "no-match"
}

/** The folders that a line may run in; `incomplete` if it may also run in an unknown folder. */
type Folders = readonly [folders: ReadonlyArray<string>, isIncomplete: boolean]

const foldersOf = (line: Decomposed, place: Place): Folders => {
  const cache = pathCacheOf(place)
  if (cache?.folders?.line === line) return cache.folders.found
  const found = findFolders(line, place)
  if (cache !== undefined) cache.folders = { line, found }
  return found
}

const findFolders = ({ commands }: Decomposed, place: Place): Folders => {
  let folders: ReadonlyArray<string> = [place.cwd]
  let isIncomplete = false
  const enter = (word: Word | undefined): void => {
    if (word === undefined) folders = [...folders, place.home]
    else if (word.dynamic || word.fuzzy || folders.length > maxFolders) isIncomplete = true
    else if (word.text !== "-") {
      const entered = spellings(word.text, { ...place, ignoreCase: false }, folders) ?? []
      folders = [...new Set([...folders, ...entered])]
    }
  }
  for (const { name, words } of commands) {
    const args = words.slice(1)
    if (name === "cd" || name === "pushd" || name === "chdir") enter(args.find(({ text }) => !/^-\w/.test(text)))
    args.forEach(({ dynamic, fuzzy, text }, index) => {
      if (/^(?:-C|--directory|--chdir|--prefix)$/.test(text) && args[index + 1] !== undefined) enter(args[index + 1])
      const [, value] = /^(?:--directory|--chdir|--prefix|--git-dir|--work-tree)=([\s\S]*)$/.exec(text) ?? []
      if (value !== undefined) enter({ text: value, dynamic, fuzzy })
    })
  }
  return [folders, isIncomplete]
}

const cachedFilesOf = (command: Command): ReadonlyArray<FileAccess> => {
  const cached = filesByCommand.get(command)
  if (cached !== undefined) return cached
  const files = filesOf(command)
  filesByCommand.set(command, files)
  return files
}

/** Module state: a weak cache of a pure function. */
const filesByCommand = new WeakMap<Command, ReadonlyArray<FileAccess>>()
