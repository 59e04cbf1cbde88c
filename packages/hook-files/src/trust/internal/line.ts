/**
 * Finds what a shell line runs: programs, scripts of interpreters, sourced files, and files that task runners read.
 * When in doubt it finds more.
 */
import { interpreters, parse, shells, type Word, wrappers } from "@belay/hooks/Shell"
import { basename, resolve } from "node:path"
import type { Work } from "../../runner/Runners.ts"
import * as Inline from "./inline.ts"
import * as Kinds from "./kinds.ts"
import type { Named } from "./kinds.ts"
import { filled, placed, type Places, unplaced } from "./places.ts"
import * as Runners from "./runners.ts"

export interface Where extends Places {
  /** The folders in which the line runs. */
  readonly base: string
  readonly exists: (path: string) => boolean
}

/** `env`: variables that the entry sets. */
export const named = (work: Work, env: { readonly [name: string]: string }, where: Where): ReadonlyArray<Named> => {
  if (work.type !== "command") return []
  const line = new Line(where)
  for (const [name, value] of Object.entries(env)) line.assigned(name, placed(value))
  if (work.args !== undefined) line.program([work.command, ...work.args].map(placed))
  else line.top(placed(work.shell === "powershell" ? work.command.replaceAll("\\", "/") : work.command))
  return line.found
}

const maxDepth = 8

/**
 * Collects what was found. It is a class because its methods share one list. Each method returns whether everything
 * that runs is known.
 */
class Line {
  readonly found: Array<Named> = []
  private bases: ReadonlyArray<string>
  private readonly where: Where

  constructor(where: Where) {
    this.where = where
    this.bases = [where.base]
  }

  top(text: string): void {
    const line = filled(text)
    if (!this.script(line, 0)) this.whole(line)
  }

  program(words: ReadonlyArray<string>): void {
    if (!this.run(words, 0, [])) words.forEach((word) => this.whole(word))
  }

  assigned(name: string, value: string): void {
    // A login shell of the line reads them.
    if (name === "HOME") { for (const file of profiles) this.add(`${value}/${file}`, "script") }
    const isCode = /^(?:BASH_)?ENV$|OPTIONS$|OPTS?$|PRELOAD|STARTUP|COMMAND|PAGER|EDITOR|ASKPASS/.test(name)
    const isFolder = /PATH|LIB/.test(name) && !isCode
    for (const one of value.split(/[:\s=,]+/)) {
      if (isFolder) this.add(one, "folder")
      if (looksLikePath(one) && (isCode || !Kinds.isData(one))) {
        this.add(one, isCode || Kinds.isScript(one) ? "script" : "operand")
      }
    }
  }

  private script(line: string, depth: number): boolean {
    const { commands, problem } = parse(line)
    if (problem !== undefined) return false
    let known = true
    for (const { assigns, inputs, redirects, words } of commands) {
      for (const { name, value } of assigns) this.assigned(name, value.text)
      known = this.run(words.map(textOf), depth, inputs.map(textOf)) && known
      for (const { op, target } of redirects) if (op.startsWith("<")) this.add(target.text, "operand")
    }
    return known
  }

  private run(words: ReadonlyArray<string>, depth: number, inputs: ReadonlyArray<string>): boolean {
    const [first, ...rest] = words
    if (first === undefined) return true
    if (depth > maxDepth || isComputed(first)) return false
    const name = nameOf(first)
    if (first.includes("/")) this.add(first, shells.has(name) || isInterpreter(name) ? "file" : "script")
    if (name === "cd" || name === "pushd") return this.moved(rest[0])
    if (name === "." || name === "source") return this.sourced(rest)
    if (name === "eval" || name === "trap") {
      return this.script((name === "trap" ? rest.slice(0, 1) : rest).join(" "), depth + 1)
    }
    const runner = Runners.runnerOf(name, rest)
    if (runner !== undefined) this.runner(runner, rest)
    if (name === "cmd") return this.batch(rest, depth)
    if (shells.has(name)) return this.shell(rest, inputs, depth)
    if (isInterpreter(name)) return this.code(name, rest, inputs, depth)
    if (readsFile.test(name)) return this.reader(rest, depth)
    if (name === "git") { for (const word of rest) this.add(/^core\.hookspath=(.+)$/i.exec(word)?.[1] ?? "", "folder") }
    const option = optionsWithFile.find(([programs]) => programs.test(name))?.[1]
    if (option !== undefined) {
      rest.forEach((word, index) => option.test(rest[index - 1] ?? "") && this.add(word, "script"))
    }
    if (name === "find" || name === "fd") return this.searched(rest, depth)
    if (name === "run-parts") {
      for (const word of rest) if (!word.startsWith("-")) this.add(word, "folder")
      return true
    }
    if (runner !== undefined) return this.behind(rest, runner.wraps ?? /^(?:exec|x|dlx)$/, depth)
    return wrappers.has(name)
      ? this.wrapped(name === "flock" ? skipped(rest) : rest, depth)
      : this.operands(rest, depth)
  }

  private add(text: string, as: Named["as"]): void {
    if (text.length > 4_096 || text.includes("\0") || text.includes("://") || text === "-") return
    const parts = text.split("$")
    const computed = parts.length > 1
    const tail = parts.at(-1)!
    // If only the beginning of a path is computed, the rest is searched in this folder.
    if (!computed || tail.startsWith("/")) {
      const path = computed ? tail.slice(1) : tail
      const open = path.search(/[*?[{]/)
      if (open < 0) this.place(path, as)
      else this.place(folderOf(path.slice(0, open)) || (as === "script" ? "." : ""), "folder")
    }
    // If the end is computed, every script of the folder counts.
    if (computed) this.place(folderOf(parts[0]!), "folder")
  }

  private place(path: string, as: Named["as"]): void {
    if (path === "") return
    for (const base of this.bases) {
      const full = resolve(base, unplaced(path, this.where))
      if (!Kinds.isOfSystem(full, this.where.cwd)) this.found.push({ path: full, as })
    }
  }

  /** Adds every word if it is unknown which of them is run, except files that are only written. */
  private whole(line: string): void {
    const text = line.replaceAll(written, " ")
    const quoted = [...text.matchAll(/(["'])([\s\S]*?)\1/g)].map(([, , inside]) => inside!)
    const plain = text.replaceAll(/\$\{[^}]*\}|\$\w+/g, "$").replaceAll(/["'\\]/g, "")
    for (const one of new Set([...quoted, ...plain.split(/[\s;|&()<>`=,]+/)])) {
      if (!one.includes("\n") && (looksLikePath(one) || this.isFile(one))) this.add(one, "script")
    }
    for (const [, input] of plain.matchAll(/(?<!<)<\s*([^\s;|&()<>`$]+)/g)) this.add(input!, "script")
  }

  private moved(to: string | undefined): boolean {
    if (to === undefined) return true
    const path = unplaced(to.slice(to.lastIndexOf("$") + 1).replace(to.includes("$") ? /^\// : /^$/, ""), this.where)
    // `cd` may fail, so the rest is searched in both folders.
    this.bases = [...new Set([...this.bases.map((base) => resolve(base, path)), ...this.bases])].slice(0, 8)
    return true
  }

  private sourced([file, ...rest]: ReadonlyArray<string>): boolean {
    if (file === undefined || isComputed(file)) return false
    this.add(file, "script")
    return this.isFound(file) && this.operands(rest, maxDepth)
  }

  private runner(runner: Runners.Runner, rest: ReadonlyArray<string>): void {
    const { files, folders } = Runners.filesOf(runner, rest)
    const before = this.bases
    this.bases = [
      ...before,
      ...folders.flatMap((folder) => before.map((base) => resolve(base, unplaced(folder, this.where))))
    ]
    for (const file of files) this.add(file, "file")
    this.bases = before
  }

  private shell(rest: ReadonlyArray<string>, inputs: ReadonlyArray<string>, depth: number): boolean {
    for (const [index, word] of rest.entries()) {
      if (/^[-/][a-z]*c(?:ommand)?$/i.test(word)) {
        const code = rest.slice(index + 1).find((one) => !/^[-+]/.test(one))
        return code !== undefined && this.script(code, depth + 1) && this.operands(rest.slice(index + 2), depth)
      }
      if (word === "-s") break
      if (/^[-+]/.test(word)) {
        if (word.includes("=")) this.add(word.slice(word.indexOf("=") + 1), "script")
        continue
      }
      if (isComputed(word)) return false
      this.add(word, "script")
      if (/^--(?:rcfile|init-file)$/.test(rest[index - 1] ?? "")) continue
      if (this.isFound(word)) return this.operands(rest.slice(index + 1), depth)
    }
    return inputs.length > 0 && inputs.every((text) => this.script(text, depth + 1))
  }

  private code(name: string, rest: ReadonlyArray<string>, inputs: ReadonlyArray<string>, depth: number): boolean {
    const language = Inline.languageOf(name)
    for (let index = 0; index < rest.length; index++) {
      const [word, next] = [rest[index]!, rest[index + 1]]
      const searched = folderOption(name, word)
      if (searched !== undefined) {
        for (const one of (searched || next || "").split(/[:;]/)) this.add(one, isArchive(one) ? "file" : "folder")
        if (searched === "") index++
        continue
      }
      const after = (at: number) => this.operands(rest.slice(at), depth)
      const attached = Inline.codeOf(language, word)
      if (attached === "") return this.inline(next, language) && after(index + 2)
      if (attached !== undefined) return this.inline(attached, language) && after(index + 1)
      if (language === "python" && word === "-m") {
        if (next !== undefined) Inline.modules(next).forEach((path) => this.add(path, "script"))
        return after(index + 2)
      }
      if (word === "-" || word === "/dev/stdin") break
      if (word.startsWith("-")) {
        const [, value] = /^-[\w-]*=(.+)$/.exec(word) ?? []
        const own = value ?? (takesValue.test(word) ? next : undefined)
        if (own !== undefined && looksLikePath(own)) this.add(own, "script")
        if (value === undefined && own !== undefined) index++
        continue
      }
      if (
        index === 0 && /^(?:run|test|task|x|exec|script|serve)$/.test(word) &&
        /^(?:bun|deno|go|dotnet|swift|java)$/.test(name)
      ) continue
      if (isComputed(word)) return false
      this.add(word, "script")
      if (this.isFound(word)) return after(index + 1)
    }
    if (inputs.length > 0) return inputs.every((text) => this.inline(text, language))
    // The interpreter reads code from standard input, unless it prints its version or runs a file.
    return (rest.length > 0 && rest.every((word) => /^--?(?:v|V|h|version|help)$/.test(word))) ||
      Runners.runnerOf(name, rest) !== undefined
  }

  private inline(code: string | undefined, language: Inline.Language): boolean {
    if (code === undefined || /^\s*[$`]\S*\s*$/.test(code)) return false
    for (const { as, path } of Inline.named(code, language)) this.add(path, as)
    return true
  }

  /** The code of awk, sed and jq is in the line, or in a file that an option names. */
  private reader(rest: ReadonlyArray<string>, depth: number): boolean {
    rest.forEach((word, index) => {
      const [, value] = /^(?:--(?:file|from-file|include)=|-f(?=.))(.+)$/.exec(word) ?? []
      if (value !== undefined) this.add(value, "script")
      else if (/^(?:-\w*f|--file|--from-file|-L|--include|-i)$/.test(word) && rest[index + 1] !== undefined) {
        this.add(rest[index + 1]!, "script")
      }
    })
    return this.operands(rest, depth)
  }

  /** If `find` runs the files that it finds, every script of the folders that it searches counts. */
  private searched(rest: ReadonlyArray<string>, depth: number): boolean {
    const runs = /^--?(?:exec|ok|x)/i
    const at = rest.findIndex((word) => runs.test(word))
    const [program = "", script = "{}"] = rest.slice(at + 1).filter((word) => !/^[-+;]/.test(word))
    const runsFound = program === "{}" || (script === "{}" && (shells.has(nameOf(program)) || isInterpreter(program)))
    if (at >= 0 && runsFound) {
      const end = rest.findIndex((word) => /^[-(!]/.test(word))
      for (const root of end === 0 ? ["."] : rest.slice(0, end)) this.add(root, "folder")
    }
    return this.behind(rest, runs, depth)
  }

  /** `cmd /c x.bat`. */
  private batch(rest: ReadonlyArray<string>, depth: number): boolean {
    const [first, ...more] = rest.filter((word) => !/^\/[a-z](?::\w+)?$/i.test(word))
    // It reads commands from standard input.
    if (first === undefined) return false
    this.add(first.split(/\s/, 1)[0]!, "script")
    if (/\s/.test(first)) return this.script(first, depth + 1)
    return this.run([first, ...more], depth + 1, [])
  }

  /** The words after one of the arguments are a command. */
  private behind(rest: ReadonlyArray<string>, mark: RegExp, depth: number): boolean {
    const at = rest.findIndex((word) => mark.test(word))
    return at < 0
      ? this.operands(rest, depth)
      : this.operands(rest.slice(0, at), depth) && this.wrapped(rest.slice(at + 1), depth)
  }

  /** Returns the command inside the arguments of another command. */
  private wrapped(rest: ReadonlyArray<string>, depth: number): boolean {
    for (const [index, word] of rest.entries()) {
      const set = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word)
      if (set !== null) this.assigned(set[1]!, set[2]!)
      if (set !== null || /^[-+]/.test(word)) continue
      if (valued.test(rest[index - 1] ?? "") && !isKnown(word)) {
        // In some programs this option has no value, and the word is the command.
        if ((word.includes("/") || Kinds.isScript(word)) && !Kinds.isData(word)) this.add(word, "script")
        continue
      }
      if (/\s/.test(word)) return this.script(word, depth + 1)
      if (/^\d+(?:\.\d+)?[smhd]?$|^\{\}$/.test(word)) continue
      return isKnown(word) || word.includes("/") || !Kinds.isScript(word)
        ? this.run(rest.slice(index), depth + 1, [])
        : this.run([`./${word}`, ...rest.slice(index + 1)], depth + 1, [])
    }
    return true
  }

  /** Reads the arguments of a program: they are data, except code in an option, and a command inside the arguments. */
  private operands(rest: ReadonlyArray<string>, depth: number): boolean {
    for (const [index, word] of rest.entries()) {
      const [, name, value] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? []
      const [option, path] = [name ?? rest[index - 1] ?? "", value ?? word]
      if (looksLikePath(path)) this.add(path, loads.test(option) && Kinds.isScript(path) ? "file" : "operand")
      if (
        depth < maxDepth && index < 32 && (shells.has(nameOf(word)) || isInterpreter(nameOf(word)))
      ) {
        return this.run(rest.slice(index), depth + 1, [])
      }
    }
    return true
  }

  /** Whether an interpreter takes this word as its script, and not as the value of the option before it. */
  private isFound(text: string): boolean {
    return text.includes("/") || Kinds.isScript(text) || this.isFile(text)
  }

  private isFile(text: string): boolean {
    return /^[^-$\0][^$\0]{0,200}$/.test(text) && this.bases.some((base) => this.where.exists(resolve(base, text)))
  }
}

/**
 * Returns the folder in an option that says where an interpreter finds modules; `""` if it is the next word; undefined
 * for other options.
 */
const folderOption = (name: string, word: string): string | undefined => {
  if (/^(?:perl|j?ruby)/.test(name)) return /^-I(.*)$/.exec(word)?.[1]
  return /^(?:java|jshell|kotlin|groovy|scala)$/.test(name)
    ? /^(?:-cp|-classpath|--class-path|-p|--module-path)(?:$|=)(.*)$/.exec(word)?.[1]
    : undefined
}

const isArchive = (path: string): boolean => /\.jar$/i.test(path)

const textOf = ({ text }: Word): string => text

const folderOf = (path: string): string => path.replace(/[^/]*$/, "")

const nameOf = (text: string): string => basename(text).toLowerCase().replace(/\.exe$/, "")

/** Whether the shell computes the text, so that it contains no path. */
const isComputed = (text: string): boolean =>
  text.includes("$") && !/^\/[\w./@+-]*[\w-]$/.test(text.slice(text.lastIndexOf("$") + 1))

/** The arguments without the first one that is not an option. */
const skipped = (rest: ReadonlyArray<string>): ReadonlyArray<string> =>
  rest.slice(rest.findIndex((word) => !word.startsWith("-")) + 1)

const isInterpreter = (name: string): boolean => interpreters.has(name.replace(/[\d.]+$/, "")) || more.test(name)

const more = new RegExp(
  "^(?:tsx|ts-node(?:-esm)?|vite-node|swc-node|esno|jiti|zx|go|dotnet|swift|java|jbang|jruby|kotlin|" +
    "crystal|nim|zig|pyw|py|r|rscript)$"
)

const readsFile = /^(?:[gmn]?awk|g?sed|[jg]q|gojq|jaq|yq)$/

/** Options of other programs that name a file with code. */
const optionsWithFile: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [/^(?:[gn]?vim?|view|ex|emacs)$/, /^-(?:[Sus]|-script|l|-load)$/],
  [/^(?:psql|mysql|sqlite3|gdb|expect)$/, /^(?:-[fx]|--file|-init)$/]
]

const profiles = [".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshrc", ".zprofile"]

const isKnown = (word: string): boolean =>
  shells.has(nameOf(word)) || isInterpreter(nameOf(word)) || wrappers.has(nameOf(word)) || readsFile.test(nameOf(word))

/** Options of interpreters that take the next word as their value. */
const takesValue = new RegExp(
  "^(?:-r|-I|-W|-X|-C|-P|-M|-c|--require|--import|--loader|--experimental-loader|--preload|--config|" +
    "--import-map|--tsconfig|--project|--conditions|--cwd|--env-file|--directory)$"
)

/** The same for programs that run another program. */
const valued = new RegExp(
  "^(?:-[nuksgLPdaCIpEJ]|--(?:with|with-editable|with-requirements|python|from|package|p|signal|" +
    "kill-after|adjustment|chdir|unset|env-file|group|extra|index-url|directory|project|max-args|" +
    "max-procs|replace|user))$"
)

/** Options with code that a tool loads. */
const loads = new RegExp(
  String.raw`^--?(?:[cfr]|config|config-?file|conf|require|import|loader|plugins?|preload|preset|setup\w*|` +
    "rulesdir|reporter|formatter|resolver|init|rcfile|init-file)$",
  "i"
)

const looksLikePath = (text: string): boolean => /[/.]/.test(text) && !/^[\d.]+$/.test(text)

const written = new RegExp(
  String.raw`(?:\d?>>?|&>>?|\btee\s+(?:-a\s+)?|(?<![\w./-])(?:touch|mkdir|rm)\s+(?:-[\w-]+\s+)*|(?:\[\[?|` +
    String.raw`(?<![\w./-])test)\s+(?:!\s+)?-[defhLsrwx]\s)\s*(?![&-])(?:"[^"]*"|'[^']*'|[^\s;|&()<>"']+)`,
  "g"
)
