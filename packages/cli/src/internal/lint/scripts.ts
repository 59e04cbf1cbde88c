/** Finds the script that a command starts. */
import type { Entry } from "@belay/hook-files/Discovery"
import * as Result from "effect/Result"
import { statSync } from "node:fs"
import { delimiter, isAbsolute, join, resolve } from "node:path"
import { beginning } from "../beginning.ts"
import type { Item } from "../world.ts"

/** The script and program of a command. */
export interface Script {
  readonly path: string
  /** `bash` in `bash guard.sh`. Absent if the file is started directly. */
  readonly by: string | undefined
  readonly exists: boolean
  readonly executable: boolean
  readonly text: string
}

const interpreters = /^(?:(?:ba|z|da|k)?sh|python(?:\d(?:\.\d+)?)?|node|bun|deno|ruby|perl|tsx)$/

/** Returns the words of a command without quotes, up to the first operator. */
export const wordsOf = (line: string): ReadonlyArray<string> => {
  const found = [...line.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\;|&()<>])+|[;|&()<>]+|\n/g)].map(([word]) =>
    word
  )
  const end = found.findIndex((word) => /^[;|&()<>\n]/.test(word))
  return (end < 0 ? found : found.slice(0, end)).map((word) => word.replaceAll(/["']/g, ""))
}

export const scriptOf = (
  { entry }: Pick<Item, "entry">,
  where: { readonly cwd: string; readonly home: string }
): Script | undefined => {
  // Some dialects have these fields.
  const { cwd = "", work } = entry as Entry & { readonly cwd?: string }
  if (work.type !== "command") return undefined
  const words = work.args === undefined
    ? wordsOf(work.command).filter((word) => !/^\w+=/.test(word))
    : [work.command, ...work.args]
  const [first = ""] = words
  const by = interpreters.test(first.split("/").at(-1)!) ? first.split("/").at(-1) : undefined
  const name = by === undefined ? first : words.slice(1).find((word) => !word.startsWith("-"))
  if (
    name === undefined ||
    (by !== undefined &&
      words.slice(1).some((word) => word === "-c" || word === "-e" || word === "-m" || word === "--eval"))
  ) return undefined
  if (by === undefined && !name.includes("/")) return undefined
  const path = resolveScript(name, cwd === "" ? where : { ...where, cwd: resolve(where.cwd, cwd) }, where.cwd)
  if (/[$`*?{}]/.test(path)) return undefined
  const stat = Result.getOrUndefined(Result.try(() => statSync(path)))
  const isFile = stat?.isFile() === true
  return {
    path,
    by,
    exists: isFile,
    executable: isFile && (stat.mode & 0o111) !== 0,
    text: isFile ? beginning(path) : ""
  }
}

const resolveScript = (
  name: string,
  { cwd, home }: { readonly cwd: string; readonly home: string },
  project: string
): string => {
  const known = /\$\{?(?:(?:CLAUDE|GEMINI|COPILOT|CURSOR|FACTORY)_PROJECT_DIR|GEMINI_CWD)\}?/g
  const path = name.replaceAll(known, () => project).replaceAll(/\$\{?PWD\}?/g, () => cwd).replace(
    /^(?:~|\$\{?HOME\}?)(?=\/)/,
    () => home
  )
    .replace(/^\$\(git rev-parse --show-toplevel\)/, () => project)
  return isAbsolute(path) ? path : resolve(cwd, path)
}

/** Whether a program is in a folder of `PATH`. */
export const isProgram = (name: string, path: string): boolean =>
  path.split(delimiter).some((folder) => {
    const stat = Result.getOrUndefined(Result.try(() => statSync(join(folder, name))))
    return stat?.isFile() === true && (stat.mode & 0o111) !== 0
  })

/** Returns the interpreter of a script: by its first line, by the program that starts it, or by its name. */
export const languageOf = ({ by, path, text }: Script): "bash" | "sh" | "python" | "node" | "other" => {
  const first = by ?? /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1]?.split("/").at(-1) ?? ""
  if (/^(?:bash|zsh|ksh)/.test(first)) return "bash"
  if (/^(?:da)?sh$/.test(first)) return "sh"
  if (first.startsWith("python")) return "python"
  if (/^(?:node|bun|deno|tsx)/.test(first)) return "node"
  // Without a first line, the shell of the command runs it.
  return first === "" && /\.(?:sh|bash)$|\/[^./]+$/.test(path) ? "bash" : "other"
}
