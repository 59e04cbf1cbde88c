/** Whether the commands of a shell line read or write a file, in every folder that the line may be in. */
import { braceExpand, Minimatch } from "minimatch"
import { filesBelow, isFolder } from "./files/diskFiles.ts"
import { fileOptionsOf } from "./files/fileTable.ts"
import type { FileAccess } from "./files/fileUse.ts"
import { wordOf } from "./files/optionValues.ts"
import { filesOf } from "./files/programFiles.ts"
import type { PathGlob } from "./pathGlob.ts"
import { absolutePaths, normalizeName, normalizePath, pathCacheOf, type Place, spellings } from "./pathSpellings.ts"
import type { Command, Decomposed, Word } from "./shell/decompose.ts"
import { anyName } from "./shell/producedText.ts"
import { inert, speakers, writers } from "./syntax/programs.ts"

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
  let lookups = 0
  for (const command of line.commands) {
    if (takesUnknownFiles(command, access)) verdict = "unknown"
    for (const file of cachedFilesOf(command)) {
      if (file.how !== access && (onlyKnownPrograms || file.how !== "maybe")) continue
      lookups += file.word.fuzzy ? 16 : 1
      if (lookups > maxLookups) return "unknown"
      const found = matchFile(file, query.glob, place, folders)
      if (found === "match" && file.how === access && command.via !== "guess") return "match"
      if (found !== "no-match") verdict = "unknown"
    }
  }
  if (access === "read" && verdict === "no-match" && readsScript(line, query.glob, place, folders)) return "match"
  return verdict
}

/** Commands of git that change the files that they name, or show them. */
const changesFiles = /^(?:checkout|restore|rm|mv|clean|apply|stash)$/
const showsFiles = /^(?:show|diff|blame|grep|cat-file|add|hash-object)$/

/** A program whose files come from the input of `xargs` or from `find`, and are not known. */
const takesUnknownFiles = (
  { effects, filesFrom, more, name, words }: Command,
  access: FileQuery["access"]
): boolean => {
  if (filesFrom === undefined || filesFrom === "$" || more !== undefined || speakers.has(name)) return false
  if (fileOptionsOf(name)?.operands === "none") return false
  if (access === "write") {
    return writers.has(name) && (name !== "git" || words.some(({ text }) => changesFiles.test(text))) &&
      !(/^g?sed$|^perl$/.test(name) && effects?.inPlace !== true)
  }
  return inert.has(name) &&
    (name !== "git" || words.some(({ text }) => showsFiles.test(text)))
}

/** Whether the line runs a script that a glob matches: a shell reads it. */
const readsScript = ({ scripts }: Decomposed, glob: FileQuery["glob"], place: Place, folders: Folders): boolean =>
  scripts.some(({ path, type }) =>
    type === "shell" &&
    matchFile({ how: "read", recursive: false, word: wordOf(path) }, glob, place, folders) === "match"
  )

const matchFile = (
  { how, ifFolder, recursive, word: written }: FileAccess,
  glob: FileQuery["glob"],
  place: Place,
  [folders, isIncomplete]: Folders
): Verdict => {
  const word = written.dynamic && written.glob !== undefined
    ? { text: written.glob, dynamic: false, fuzzy: true }
    : written
  const { dynamic, fuzzy, text } = word
  if (ifFolder !== undefined && !mayBeFolder(ifFolder, place, folders)) return "no-match"
  if (dynamic) return how === "maybe" ? "no-match" : "unknown"
  if (isIncomplete && !/^[/~]/.test(text)) return "unknown"
  const isGlobbed = !/^[/~]/.test(text) && folders.some((folder) => /[*?[]/.test(folder))
  if (isGlobbed && glob.intersects(text, place, folders) && !isAbsentBelow(text, glob, place, folders)) return "unknown"
  if (fuzzy) {
    return glob.intersects(text, place, folders) && !isAbsentBelow(text, glob, place, folders) ? "unknown" : "no-match"
  }
  const paths = spellings(text, place, folders)
  if (paths === undefined) return text === "" ? "no-match" : "unknown"
  const matches = paths.some((path) => glob.test(path, place, "anywhere") || (recursive && glob.below(path, place)))
  return matches || (recursive && isBelow(text, glob, place, folders)) ? "match" : "no-match"
}

const mayBeFolder = ({ dynamic, fuzzy, text }: Word, place: Place, folders: ReadonlyArray<string>): boolean =>
  dynamic || fuzzy || /(?:^|\/)\.{0,2}$/.test(text) || text.startsWith("~") ||
  absolutePaths(text, place, folders).some(isFolder)

/** Whether the disk has a file below a folder that the glob matches. */
const isBelow = (text: string, glob: FileQuery["glob"], place: Place, folders: ReadonlyArray<string>): boolean =>
  (spellings(text, { ...place, ignoreCase: false }, folders) ?? []).some((folder) =>
    cachedFilesBelow(folder, place)?.some((path) => glob.test(normalizeName(path, place), place, "anywhere"))
  )

/** Whether the disk shows that a pattern of the shell matches no file that the glob matches. */
const isAbsentBelow = (text: string, glob: FileQuery["glob"], place: Place, folders: ReadonlyArray<string>): boolean =>
  braceExpand(text).every((one) =>
    absolutePaths(one, place, folders).every((path) => {
      if (/[*?[@{].*\/\.\.(?:\/|$)/.test(path)) return false
      const parts = normalizePath(path).split("/")
      const index = parts.findIndex((part) => /[*?[@{]/.test(part))
      if (index < 0) return !glob.test(normalizeName(path, place), place, "anywhere")
      const files = cachedFilesBelow(parts.slice(0, index).join("/") || "/", place)
      if (files === undefined) return false
      const pattern = new Minimatch(normalizePath(path), {
        dot: text.includes(anyName),
        nocase: place.ignoreCase !== false,
        nocomment: true,
        nonegate: true
      })
      return !files.some((file) => glob.test(normalizeName(file, place), place, "anywhere") && pattern.match(file))
    })
  )

const cachedFilesBelow = (folder: string, place: Place): ReadonlyArray<string> | undefined => {
  const cache = pathCacheOf(place)?.filesBelow
  if (cache === undefined) return filesBelow(folder)
  if (!cache.has(folder)) cache.set(folder, filesBelow(folder))
  return cache.get(folder)
}

/** The folders that a line may run in; `incomplete` if it may also run in an unknown folder. */
type Folders = readonly [folders: ReadonlyArray<string>, isIncomplete: boolean]

/** The folders that the commands of a line may run in. */
export const foldersOf = (line: Decomposed, place: Place): Folders => {
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
    else if ((word.dynamic && word.glob === undefined) || folders.length > maxFolders) isIncomplete = true
    else if (word.fuzzy || word.dynamic) {
      const entered = absolutePaths(word.glob ?? word.text, place, folders).map(normalizePath)
      folders = [...new Set([...folders, ...entered])]
    } else if (word.text !== "-") {
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
