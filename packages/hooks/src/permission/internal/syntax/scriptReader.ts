/**
 * Reads a shell script: all simple commands in it, including those inside of substitutions. It never guesses: what it
 * cannot read is a `problem`.
 */
import { mayRunInArithmetic } from "./expansionParts.ts"
import type { Redirect, Script, Simple, Word } from "./shellSyntax.ts"
import { maxDepth, nestedTooDeeply, WordReader } from "./wordReader.ts"

/** The longest script that is read, in characters. */
const maxLength = 65_536

const redirection = /(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)/y
const assignment = /^([A-Za-z_]\w*)(?:\[[^\]\n]*\])?\+?=/
const keywords: ReadonlySet<string> = new Set(
  ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "esac", "coproc"]
)

/** Reads a script. `depth` counts the scripts that this one is nested in. */
export const readScript = (text: string, depth = 0): Script => {
  if (text.length > maxLength) return unreadable("it is too long")
  if (depth > maxDepth) return unreadable(nestedTooDeeply)
  if (text.includes("\0")) return unreadable("it contains a NUL character")
  const reader = new ScriptReader(text, depth)
  reader.script(undefined)
  if (text.includes("<<") && reader.withoutDocuments().includes("((")) {
    reader.stop("it contains arithmetic and a here-document")
  }
  if (mayRunInArithmetic(text)) reader.stop("it contains an array index that may run commands")
  return { commands: reader.commands, dynamic: reader.dynamic, problem: reader.problem }
}

const unreadable = (problem: string): Script => ({ commands: [], dynamic: false, problem })

/** A simple command while it is read. */
interface CommandBuilder {
  words: Array<Word>
  assigns: Array<{ name: string; value: Word }>
  redirects: Array<Redirect>
  inputs: Array<Word>
  pipe?: Simple | "unknown"
}

const newCommand = (): CommandBuilder => ({ words: [], assigns: [], redirects: [], inputs: [] })

/** The value of `NAME=value`, without the name. */
const valueOf = (word: Word): Word => {
  const text = word.text.slice(word.text.indexOf("=") + 1)
  const [first, ...rest] = word.pieces ?? []
  if (first?.type !== "text") return { text, dynamic: word.dynamic, fuzzy: word.fuzzy }
  const start = { ...first, text: first.text.slice(first.text.indexOf("=") + 1) }
  return { text, dynamic: word.dynamic, fuzzy: word.fuzzy, pieces: [start, ...rest] }
}

/** A value that is not all of the variable's value: `NAME+=x`, `NAME[0]=x`, `NAME=(…)`. */
const unreadValue: Pick<Word, "dynamic" | "pieces"> = {
  dynamic: true,
  pieces: [{ type: "variable", name: "", quoted: false }]
}

/** A here-document whose body begins on the next line. */
interface HereDocument {
  to: Array<Word>
  delimiter: string
  stripTabs: boolean
  isLiteral: boolean
}

class ScriptReader extends WordReader {
  readonly commands: Array<Simple> = []
  private documents: Array<HereDocument> = []
  /** Where the bodies of here-documents begin and end. */
  private readonly bodies: Array<readonly [from: number, to: number]> = []
  /** How many `case` commands are open. */
  private cases = 0

  script(end: ")" | undefined, level = 0): void {
    if (this.depth + level > maxDepth) return this.stop(nestedTooDeeply)
    if (end !== undefined && this.documents.length > 0) {
      return this.stop("a substitution and a here-document begin on one line")
    }
    const { text } = this
    let parens = 0
    let command = newCommand()
    /** The command that was read last, when nothing but a pipe stands after it. */
    let before: Simple | undefined
    const finish = () => {
      before = undefined
      if (command.words.length + command.assigns.length + command.redirects.length + command.inputs.length > 0) {
        this.commands.push(command)
        before = command
      }
      const { pipe } = command
      command = newCommand()
      // A keyword or a parenthesis: what is piped into a loop or a group is the input of the commands in it.
      if (before === undefined && pipe !== undefined) command.pipe = pipe
    }
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === " " || c === "\t") this.at++
      else if (c === "\\" && text[this.at + 1] === "\n") this.at += 2
      else if (c === "\n") {
        finish()
        this.at++
        this.hereDocuments(level)
      } else if (c === "#") this.skipComment()
      else if (
        c === "(" && command.words.length === 1 && command.words[0]!.text === "for" && this.arithmetic(this.at)
      ) {
        this.dynamic = true
      } else if (c === "(") {
        const [first, last] = [command.words[0]?.text, command.words.at(-1)?.text]
        this.at++
        if (/^\s*\)/.test(text.slice(this.at, this.at + 64)) && command.words.length === 1) {
          this.at = text.indexOf(")", this.at) + 1
          this.dynamic = true
          command = newCommand()
          continue
        }
        if (last !== undefined && first !== "[[" && first !== "case" && text[this.at - 2] !== " ") {
          this.stop("it contains a glob group")
        }
        parens++
        finish()
      } else if (c === ")") {
        if (parens === 0 && end === ")") {
          finish()
          this.at++
          if (this.documents.length > 0) this.stop("a here-document is not closed")
          return
        }
        // What stands before a parenthesis that was not opened is a pattern of `case`.
        if (parens === 0 && this.cases > 0) command = command.words[0]?.text === "case" ? command : newCommand()
        parens = Math.max(0, parens - 1)
        finish()
        this.at++
      } else if (this.redirect(command, level)) continue
      else if (c === ";" || c === "&" || c === "|") {
        finish()
        this.at++
        if (c === "|" && text[this.at] !== "|" && text[this.at - 2] !== "|") command.pipe = before ?? "unknown"
      } else this.addWord(command, end, level)
    }
    finish()
    if (end !== undefined || parens > 0) this.stop("a parenthesis is not closed")
    if (this.documents.length > 0) this.stop("a here-document is not closed")
  }

  /** The script without the bodies of its here-documents. */
  withoutDocuments(): string {
    const starts = [0, ...this.bodies.map(([, to]) => to)]
    return starts.map((start, index) => this.text.slice(start, this.bodies[index]?.[0])).join("\n")
  }

  private skipComment(): void {
    const end = this.text.indexOf("\n", this.at)
    this.at = end < 0 ? this.text.length : end
  }

  /** Reads a word into the command: as a keyword, an assignment or an argument. */
  private addWord(command: CommandBuilder, end: ")" | undefined, level: number): void {
    const from = this.at
    const word = this.word(level)
    const raw = this.text.slice(from, this.at)
    if (command.words.length === 0) {
      if (raw === "case") this.cases++
      if (raw === "esac") this.cases = Math.max(0, this.cases - 1)
      if (keywords.has(raw)) return
      if (raw === "function") {
        this.dynamic = true
        while (this.text[this.at] === " ") this.at++
        this.word(level)
        return
      }
      // The patterns of `case` have closing parentheses without opening ones.
      if (raw === "case" && end === ")") return this.stop("a substitution contains `case`")
      const name = assignment.exec(raw)
      if (name !== null) {
        const isWhole = name[0] === `${name[1]!}=` && this.text[this.at] !== "("
        command.assigns.push({ name: name[1]!, value: isWhole ? valueOf(word) : { ...valueOf(word), ...unreadValue } })
        return
      }
    }
    command.words.push(word)
  }

  /** Reads a redirection into the command. Returns false when there is none here. */
  private redirect(command: CommandBuilder, level: number): boolean {
    if (!"<>&{0123456789".includes(this.text[this.at]!)) return false
    redirection.lastIndex = this.at
    const found = redirection.exec(this.text)
    if (found === null) return false
    const op = found[2]!
    if (found[1] === undefined && (op === "<" || op === ">") && this.text[this.at + 1] === "(") return false
    this.at += found[0].length
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at++
    const from = this.at
    const target = this.word(level)
    const raw = this.text.slice(from, this.at)
    if (raw === "") this.stop("a redirection has no target")
    else if (op === "<<" || op === "<<-") {
      if (/[$`\n]/.test(raw)) this.stop("the delimiter of a here-document is dynamic")
      this.documents.push({
        to: command.inputs,
        delimiter: target.text,
        stripTabs: op === "<<-",
        isLiteral: /['"\\]/.test(raw)
      })
    } else if (op === "<<<") command.inputs.push(target)
    else if (!((op === ">&" || op === "<&") && /^(\d+-?|-)$/.test(target.text) && !target.dynamic)) {
      command.redirects.push({ op, target })
    }
    return true
  }

  /** Reads the bodies of the here-documents whose operators were on the line before. */
  private hereDocuments(level: number): void {
    const open = this.documents
    this.documents = []
    for (const { delimiter, isLiteral, stripTabs, to } of open) {
      const lines: Array<string> = []
      const from = this.at
      while (true) {
        if (this.at >= this.text.length) return this.stop("a here-document is not closed")
        const end = this.text.indexOf("\n", this.at)
        const line = this.text.slice(this.at, end < 0 ? this.text.length : end)
        this.at = end < 0 ? this.text.length : end + 1
        if ((stripTabs ? line.replace(/^\t+/, "") : line) === delimiter) break
        lines.push(line)
      }
      this.bodies.push([from, this.at])
      const body = lines.join("\n")
      const dynamic = !isLiteral && /[$`]/.test(body)
      if (dynamic) this.nested(body, level, true)
      to.push({ text: body, dynamic, fuzzy: false })
    }
  }

  protected inner(read: () => void): ReadonlyArray<Simple> {
    const from = this.commands.length
    read()
    return this.commands.slice(from)
  }

  protected nested(text: string, level: number, isDocument = false): void {
    if (this.depth + level + 1 > maxDepth) return this.stop(nestedTooDeeply)
    const other = new ScriptReader(text, this.depth + level + 1)
    if (isDocument) other.quoted(0, true)
    else other.script(undefined)
    for (const command of other.commands) this.commands.push(command)
    this.dynamic ||= other.dynamic
    if (other.problem !== undefined) this.stop(other.problem)
  }
}
