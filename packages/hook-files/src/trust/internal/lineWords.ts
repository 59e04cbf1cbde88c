/** What the words of a command line name. */
import { interpreters, shells, type Word, wrappers } from "@belay/hooks/Shell"
import { basename } from "node:path"
import type { Places } from "./places.ts"

export interface Where extends Places {
  /** The folders in which the line runs. */
  readonly base: string
  readonly exists: (path: string) => boolean
}

/**
 * Returns the folder in an option that says where an interpreter finds modules; `""` if it is the next word; undefined
 * for other options.
 */
export const folderOption = (name: string, word: string): string | undefined => {
  if (/^(?:perl|j?ruby)/.test(name)) return /^-I(.*)$/.exec(word)?.[1]
  return /^(?:java|jshell|kotlin|groovy|scala)$/.test(name)
    ? /^(?:-cp|-classpath|--class-path|-p|--module-path)(?:$|=)(.*)$/.exec(word)?.[1]
    : undefined
}

export const isArchive = (path: string): boolean => /\.jar$/i.test(path)

export const textOf = ({ text }: Word): string => text

export const folderOf = (path: string): string => path.replace(/[^/]*$/, "")

export const nameOf = (text: string): string => basename(text).toLowerCase().replace(/\.exe$/, "")

/** Whether the shell computes the text, so that it contains no path. */
export const isComputed = (text: string): boolean =>
  text.includes("$") && !/^\/[\w./@+-]*[\w-]$/.test(text.slice(text.lastIndexOf("$") + 1))

/** The arguments without the first one that is not an option. */
export const skipped = (rest: ReadonlyArray<string>): ReadonlyArray<string> =>
  rest.slice(rest.findIndex((word) => !word.startsWith("-")) + 1)

export const isInterpreter = (name: string): boolean => interpreters.has(name.replace(/[\d.]+$/, "")) || more.test(name)

const more = new RegExp(
  "^(?:tsx|ts-node(?:-esm)?|vite-node|swc-node|esno|jiti|zx|go|dotnet|swift|java|jbang|jruby|kotlin|" +
    "crystal|nim|zig|pyw|py|r|rscript)$"
)

export const readsFile = /^(?:[gmn]?awk|g?sed|[jg]q|gojq|jaq|yq)$/

/** Options of other programs that name a file with code. */
export const optionsWithFile: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [/^(?:[gn]?vim?|view|ex|emacs)$/, /^-(?:[Sus]|-script|l|-load)$/],
  [/^(?:psql|mysql|sqlite3|gdb|expect)$/, /^(?:-[fx]|--file|-init)$/]
]

export const profiles = [".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshrc", ".zprofile"]

export const isKnown = (word: string): boolean =>
  shells.has(nameOf(word)) || isInterpreter(nameOf(word)) || wrappers.has(nameOf(word)) || readsFile.test(nameOf(word))

/** Options of interpreters that take the next word as their value. */
export const takesValue = new RegExp(
  "^(?:-r|-I|-W|-X|-C|-P|-M|-c|--require|--import|--loader|--experimental-loader|--preload|--config|" +
    "--import-map|--tsconfig|--project|--conditions|--cwd|--env-file|--directory)$"
)

/** The same for programs that run another program. */
export const valued = new RegExp(
  "^(?:-[nuksgLPdaCIpEJ]|--(?:with|with-editable|with-requirements|python|from|package|p|signal|" +
    "kill-after|adjustment|chdir|unset|env-file|group|extra|index-url|directory|project|max-args|" +
    "max-procs|replace|user))$"
)

/** Options with code that a tool loads. */
export const loads = new RegExp(
  String.raw`^--?(?:[cfr]|config|config-?file|conf|require|import|loader|plugins?|preload|preset|setup\w*|` +
    "rulesdir|reporter|formatter|resolver|init|rcfile|init-file)$",
  "i"
)

export const looksLikePath = (text: string): boolean => /[/.]/.test(text) && !/^[\d.]+$/.test(text)

export const written = new RegExp(
  String.raw`(?:\d?>>?|&>>?|\btee\s+(?:-a\s+)?|(?<![\w./-])(?:touch|mkdir|rm)\s+(?:-[\w-]+\s+)*|(?:\[\[?|` +
    String.raw`(?<![\w./-])test)\s+(?:!\s+)?-[defhLsrwx]\s)\s*(?![&-])(?:"[^"]*"|'[^']*'|[^\s;|&()<>"']+)`,
  "g"
)

/** The files with code that options of awk, sed and jq name. */
export const filesOfReader = (rest: ReadonlyArray<string>): ReadonlyArray<string> =>
  rest.flatMap((word, index) => {
    const [, value] = /^(?:--(?:file|from-file|include)=|-f(?=.))(.+)$/.exec(word) ?? []
    if (value !== undefined) return [value]
    const next = rest[index + 1]
    return next !== undefined && /^(?:-\w*f|--file|--from-file|-L|--include|-i)$/.test(word) ? [next] : []
  })

/** An option of `find` that runs a command. */
export const runsFound = /^--?(?:exec|ok|x)/i

/** The folders that `find` searches, if it runs the files that it finds. */
export const foldersOfFind = (rest: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = rest.findIndex((word) => runsFound.test(word))
  const [program = "", script = "{}"] = rest.slice(at + 1).filter((word) => !/^[-+;]/.test(word))
  const isRun = program === "{}" || (script === "{}" && (shells.has(nameOf(program)) || isInterpreter(program)))
  if (at < 0 || !isRun) return []
  const end = rest.findIndex((word) => /^[-(!]/.test(word))
  return end === 0 ? ["."] : rest.slice(0, end)
}
