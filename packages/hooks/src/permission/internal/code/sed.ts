/** Reads sed scripts: the files that they read and write, and the commands that they run. */
import type { CodeEffects } from "./effects.ts"

/** The scripts of a sed command, and whether it changes its files. */
export const sedEffects = (args: ReadonlyArray<string>): CodeEffects => {
  const scripts: Array<string> = []
  const operands: Array<string> = []
  let inPlace = false
  for (let at = 0; at < args.length; at++) {
    const text = args[at]!
    const [, name, value] = /^--([a-z-]+)(?:=([\s\S]*))?$/.exec(text) ?? []
    if (name !== undefined && name !== "") {
      if ("expression".startsWith(name)) scripts.push(value ?? args[++at] ?? "")
      else if ("file".startsWith(name)) return { problem: "a sed script is read from a file" }
      else if ("in-place".startsWith(name)) inPlace = true
      continue
    }
    const [, letters = ""] = /^-([^-][\s\S]*)$/.exec(text) ?? []
    if (letters === "") {
      if (text !== "--") operands.push(text)
      continue
    }
    for (let index = 0; index < letters.length; index++) {
      const letter = letters[index]!
      const rest = letters.slice(index + 1)
      if (letter === "i" || letter === "I") inPlace = true
      else if (letter === "e") scripts.push(rest || (args[++at] ?? ""))
      else if (letter === "f") return { problem: "a sed script is read from a file" }
      if (/[ieIlf]/.test(letter)) break
    }
  }
  // `-i ''` of other systems: the script comes after an empty suffix.
  const written = operands.find((text) => text !== "")
  if (scripts.length === 0 && written !== undefined) scripts.push(written)
  const reader = new SedReader(scripts.join("\n"))
  reader.read()
  return { ...reader.effects, inPlace }
}

/** A class: one position is shared by the steps. */
class SedReader {
  private readonly runs: Array<string> = []
  private readonly reads: Array<string> = []
  private readonly writes: Array<string> = []
  private problem: string | undefined
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  get effects(): CodeEffects {
    const { problem, reads, runs, writes } = this
    return { runs, reads, writes, ...(problem === undefined ? {} : { problem }) }
  }

  read(): void {
    while (this.at < this.text.length && this.problem === undefined) {
      this.skip(/[\s;]*/y)
      this.address()
      this.skip(/[\s!]*/y)
      if (this.at < this.text.length) this.command(this.text[this.at++]!)
    }
  }

  private skip(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ""] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }

  private address(): void {
    for (let count = 0; count < 2; count++) {
      const c = this.text[this.at]
      if (c === "/" || c === "\\") {
        this.at += c === "\\" ? 2 : 1
        this.delimited(c === "\\" ? this.text[this.at - 1]! : "/")
        this.skip(/[IM]*/y)
      } else this.skip(/\$|[+~]?\d+(?:~\d+)?/y)
      this.skip(/[ \t]*/y)
      if (this.text[this.at] !== ",") return
      this.at++
      this.skip(/[ \t]*/y)
    }
  }

  /** Skips to the delimiter that is not escaped and not inside of a class. */
  private delimited(delimiter: string, isPattern = true): void {
    for (; this.at < this.text.length; this.at++) {
      const c = this.text[this.at]!
      if (c === "\\") this.at++
      else if (c === delimiter) {
        this.at++
        return
      } else if (isPattern && c === "[") this.skip(/\[\^?\]?(?:\[[:.=][^\]]{0,64}\]|[^\]\n]){0,256}(?=\])/y)
    }
    this.problem = "a sed script cannot be read"
  }

  private line(): string {
    return this.skip(/[^\n]*/y).trim()
  }

  private command(c: string): void {
    if (c === "s" || c === "y") {
      const delimiter = this.text[this.at++]
      if (delimiter === undefined) return
      this.delimited(delimiter)
      this.delimited(delimiter, false)
      const flags = this.skip(/[gpiImMe\d]*/y)
      if (flags.includes("e")) this.problem = "a sed script runs what it reads"
      if (this.text[this.at] === "w") {
        this.at++
        this.writes.push(this.line())
      }
    } else if (c === "w" || c === "W") this.writes.push(this.line())
    else if (c === "r" || c === "R") this.reads.push(this.line())
    else if (c === "e") {
      const command = this.line()
      if (command === "") this.problem = "a sed script runs what it reads"
      else this.runs.push(command)
    } else if (c === "a" || c === "i" || c === "c") {
      while (this.skip(/[^\n]*/y).endsWith("\\") && this.at < this.text.length) this.at++
    } else if (/[:btTv]/.test(c)) this.skip(/[^\n;}]*/y)
    else if (c === "#") this.line()
    else if (!/[{}=dDgGhHlnNpPqQxzF\d]/.test(c)) this.problem = "a sed script cannot be read"
  }
}
