/**
 * Finds what a shell line runs: programs, scripts of interpreters, sourced files, and files that task runners read.
 * When in doubt it finds more.
 */
import { parse, shells, wrappers } from "@belay/hooks/Shell"
import { resolve } from "node:path"
import * as Inline from "./inline.ts"
import * as Kinds from "./kinds.ts"
import type { Named } from "./kinds.ts"
import * as Words from "./lineWords.ts"
import { filled, unplaced } from "./places.ts"
import * as Runners from "./runners.ts"

const maxDepth = 8

/**
 * Collects what was found. It is a class because its methods share one list. Each method returns whether everything
 * that runs is known.
 */
export class Line {
  readonly found: Array<Named> = []
  private bases: ReadonlyArray<string>
  private readonly where: Words.Where

  constructor(where: Words.Where) {
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
    if (name === "HOME") { for (const file of Words.profiles) this.add(`${value}/${file}`, "script") }
    const isCode = /^(?:BASH_)?ENV$|OPTIONS$|OPTS?$|PRELOAD|STARTUP|COMMAND|PAGER|EDITOR|ASKPASS/.test(name)
    const isFolder = /PATH|LIB/.test(name) && !isCode
    for (const one of value.split(/[:\s=,]+/)) {
      if (isFolder) this.add(one, "folder")
      if (Words.looksLikePath(one) && (isCode || !Kinds.isData(one))) {
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
      known = this.run(words.map(Words.textOf), depth, inputs.map(Words.textOf)) && known
      for (const { op, target } of redirects) if (op.startsWith("<")) this.add(target.text, "operand")
    }
    return known
  }

  private run(words: ReadonlyArray<string>, depth: number, inputs: ReadonlyArray<string>): boolean {
    const [first, ...rest] = words
    if (first === undefined) return true
    if (depth > maxDepth || Words.isComputed(first)) return false
    const name = Words.nameOf(first)
    if (first.includes("/")) this.add(first, shells.has(name) || Words.isInterpreter(name) ? "file" : "script")
    if (name === "cd" || name === "pushd") return this.moved(rest[0])
    if (name === "." || name === "source") return this.sourced(rest)
    if (name === "eval" || name === "trap") {
      return this.script((name === "trap" ? rest.slice(0, 1) : rest).join(" "), depth + 1)
    }
    const runner = Runners.runnerOf(name, rest)
    if (runner !== undefined) this.runner(runner, rest)
    if (name === "cmd") return this.batch(rest, depth)
    if (shells.has(name)) return this.shell(rest, inputs, depth)
    if (Words.isInterpreter(name)) return this.code(name, rest, inputs, depth)
    if (Words.readsFile.test(name)) return this.reader(rest, depth)
    if (name === "git") { for (const word of rest) this.add(/^core\.hookspath=(.+)$/i.exec(word)?.[1] ?? "", "folder") }
    const option = Words.optionsWithFile.find(([programs]) => programs.test(name))?.[1]
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
      ? this.wrapped(name === "flock" ? Words.skipped(rest) : rest, depth)
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
      else this.place(Words.folderOf(path.slice(0, open)) || (as === "script" ? "." : ""), "folder")
    }
    // If the end is computed, every script of the folder counts.
    if (computed) this.place(Words.folderOf(parts[0]!), "folder")
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
    const text = line.replaceAll(Words.written, " ")
    const quoted = [...text.matchAll(/(["'])([\s\S]*?)\1/g)].map(([, , inside]) => inside!)
    const plain = text.replaceAll(/\$\{[^}]*\}|\$\w+/g, "$").replaceAll(/["'\\]/g, "")
    for (const one of new Set([...quoted, ...plain.split(/[\s;|&()<>`=,]+/)])) {
      if (!one.includes("\n") && (Words.looksLikePath(one) || this.isFile(one))) this.add(one, "script")
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
    if (file === undefined || Words.isComputed(file)) return false
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
      if (Words.isComputed(word)) return false
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
      const searched = Words.folderOption(name, word)
      if (searched !== undefined) {
        for (const one of (searched || next || "").split(/[:;]/)) {
          this.add(one, Words.isArchive(one) ? "file" : "folder")
        }
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
        const own = value ?? (Words.takesValue.test(word) ? next : undefined)
        if (own !== undefined && Words.looksLikePath(own)) this.add(own, "script")
        if (value === undefined && own !== undefined) index++
        continue
      }
      if (
        index === 0 && /^(?:run|test|task|x|exec|script|serve)$/.test(word) &&
        /^(?:bun|deno|go|dotnet|swift|java)$/.test(name)
      ) continue
      if (Words.isComputed(word)) return false
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
    for (const file of Words.filesOfReader(rest)) this.add(file, "script")
    return this.operands(rest, depth)
  }

  /** If `find` runs the files that it finds, every script of the folders that it searches counts. */
  private searched(rest: ReadonlyArray<string>, depth: number): boolean {
    for (const folder of Words.foldersOfFind(rest)) this.add(folder, "folder")
    return this.behind(rest, Words.runsFound, depth)
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
      if (Words.valued.test(rest[index - 1] ?? "") && !Words.isKnown(word)) {
        // In some programs this option has no value, and the word is the command.
        if ((word.includes("/") || Kinds.isScript(word)) && !Kinds.isData(word)) this.add(word, "script")
        continue
      }
      if (/\s/.test(word)) return this.script(word, depth + 1)
      if (/^\d+(?:\.\d+)?[smhd]?$|^\{\}$/.test(word)) continue
      return Words.isKnown(word) || word.includes("/") || !Kinds.isScript(word)
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
      if (Words.looksLikePath(path)) {
        this.add(path, Words.loads.test(option) && Kinds.isScript(path) ? "file" : "operand")
      }
      if (
        depth < maxDepth && index < 32 && (shells.has(Words.nameOf(word)) || Words.isInterpreter(Words.nameOf(word)))
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
