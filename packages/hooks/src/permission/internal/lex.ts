/**
 * Reads a line of shell: the simple commands in it, wherever they hide. It never guesses: what it cannot read is a
 * `problem`.
 */
import { escaped, unescaped } from "./ansi.ts"
import type { Redirect, Script, Simple, Word } from "./script.ts"

/** Longest script that is read, in characters. */
const maxLength = 65_536

const maxDepth = 24

const redirection = /(\d+|\{\w+\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)/y
const assignment = /^([A-Za-z_]\w*)(?:\[[^\]\n]*\])?\+?=/
const variable = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/y
/** Characters that stand for themselves wherever they are. */
const literals = /[\w/.:=@%+-]+/y
const keywords: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "while",
  "until",
  "do",
  "done",
  "!",
  "{",
  "}",
  "esac",
  "coproc"
])

/** Reads a script. */
export const read = (text: string, depth = 0): Script => {
  if (text.length > maxLength) return { commands: [], dynamic: false, problem: "it is too long" }
  if (depth > maxDepth) return { commands: [], dynamic: false, problem: "it is nested too deeply" }
  if (text.includes("\0")) return { commands: [], dynamic: false, problem: "it has a NUL character" }
  const reader = new Reader(text, depth)
  reader.script(undefined)
  if (text.includes("<<") && text.includes("((")) reader.stop("arithmetic and a here-document are in it")
  return { commands: reader.commands, dynamic: reader.dynamic, problem: reader.problem }
}

interface Building {
  words: Array<Word>
  assigns: Array<{ name: string; value: Word }>
  redirects: Array<Redirect>
  inputs: Array<Word>
}

const building = (): Building => ({ words: [], assigns: [], redirects: [], inputs: [] })

/** A position in a text. A class: it is one mutable cursor under a dozen small functions. */
class Reader {
  readonly commands: Array<Simple> = []
  dynamic = false
  problem: string | undefined
  private at = 0
  private documents: Array<{ to: Array<Word>; delimiter: string; tabs: boolean; literal: boolean }> = []

  private readonly text: string
  private readonly depth: number

  constructor(text: string, depth: number) {
    this.text = text
    this.depth = depth
  }

  stop(problem: string): void {
    this.problem ??= problem
    this.at = this.text.length
  }

  /** Commands up to the end, or to the parenthesis that closes a substitution. */
  script(end: ")" | undefined, level = 0): void {
    if (this.depth + level > maxDepth) return this.stop("it is nested too deeply")
    if (end !== undefined && this.documents.length > 0) return this.stop("a substitution stands beside a here-document")
    const { text } = this
    let parens = 0
    let now = building()
    const close = () => {
      if (now.words.length + now.assigns.length + now.redirects.length + now.inputs.length > 0) this.commands.push(now)
      now = building()
    }
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === " " || c === "\t") this.at++
      else if (c === "\\" && text[this.at + 1] === "\n") this.at += 2
      else if (c === "\n") {
        close()
        this.at++
        this.bodies(level)
      } else if (c === "#") this.comment()
      else if (c === "(") {
        const [first, last] = [now.words[0]?.text, now.words.at(-1)?.text]
        this.at++
        if (/^\s*\)/.test(text.slice(this.at, this.at + 64)) && now.words.length === 1) {
          this.at = text.indexOf(")", this.at) + 1
          this.dynamic = true
          now = building()
          continue
        }
        if (last !== undefined && first !== "[[" && first !== "case" && text[this.at - 2] !== " ") {
          this.stop("a glob group is in it")
        }
        parens++
        close()
      } else if (c === ")") {
        if (parens === 0 && end === ")") {
          close()
          this.at++
          if (this.documents.length > 0) this.stop("a here-document has no end")
          return
        }
        parens = Math.max(0, parens - 1)
        close()
        this.at++
      } else if (this.redirected(now, level)) continue
      else if (c === ";" || c === "&" || c === "|") {
        close()
        this.at++
      } else this.placed(now, end, level)
    }
    close()
    if (end !== undefined || parens > 0) this.stop("a parenthesis is not closed")
    if (this.documents.length > 0) this.stop("a here-document has no end")
  }

  private comment(): void {
    const end = this.text.indexOf("\n", this.at)
    this.at = end < 0 ? this.text.length : end
  }

  /** A word where it belongs: keyword, assignment, or word of the command. */
  private placed(now: Building, end: ")" | undefined, level: number): void {
    const from = this.at
    const word = this.word(level)
    const raw = this.text.slice(from, this.at)
    if (now.words.length === 0) {
      if (keywords.has(raw)) return
      if (raw === "function") {
        this.dynamic = true
        while (this.text[this.at] === " ") this.at++
        this.word(level)
        return
      }
      // The patterns of `case` have parentheses without partners.
      if (raw === "case" && end === ")") return this.stop("`case` stands inside a substitution")
      const name = assignment.exec(raw)
      if (name !== null) {
        now.assigns.push({ name: name[1]!, value: { ...word, text: word.text.slice(word.text.indexOf("=") + 1) } })
        return
      }
    }
    now.words.push(word)
  }

  private redirected(now: Building, level: number): boolean {
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
    if (raw === "") this.stop("a redirection leads nowhere")
    else if (op === "<<" || op === "<<-") {
      if (/[$`\n]/.test(raw)) this.stop("the end of a here-document is computed")
      this.documents.push({ to: now.inputs, delimiter: target.text, tabs: op === "<<-", literal: /['"\\]/.test(raw) })
    } else if (op === "<<<") now.inputs.push(target)
    else if (!((op === ">&" || op === "<&") && /^(\d+-?|-)$/.test(target.text) && !target.dynamic)) {
      now.redirects.push({ op, target })
    }
    return true
  }

  /** The here-documents that begin after this line. */
  private bodies(level: number): void {
    const open = this.documents
    this.documents = []
    for (const { delimiter, literal, tabs, to } of open) {
      const lines: Array<string> = []
      while (true) {
        if (this.at >= this.text.length) return this.stop("a here-document has no end")
        const end = this.text.indexOf("\n", this.at)
        const line = this.text.slice(this.at, end < 0 ? this.text.length : end)
        this.at = end < 0 ? this.text.length : end + 1
        if ((tabs ? line.replace(/^\t+/, "") : line) === delimiter) break
        lines.push(line)
      }
      const body = lines.join("\n")
      const dynamic = !literal && /[$`]/.test(body)
      if (dynamic) this.inside(body, level, true)
      to.push({ text: body, dynamic, fuzzy: false })
    }
  }

  /** Commands in another text: the inside of backticks, or the substitutions of a here-document. */
  private inside(text: string, level: number, document = false): void {
    if (this.depth + level + 1 > maxDepth) return this.stop("it is nested too deeply")
    const other = new Reader(text, this.depth + level + 1)
    if (document) other.quoted(0, true)
    else other.script(undefined)
    for (const command of other.commands) this.commands.push(command)
    this.dynamic ||= other.dynamic
    if (other.problem !== undefined) this.stop(other.problem)
  }

  private word(level: number): Word {
    const { text } = this
    let out = ""
    let dynamic = false
    let fuzzy = false
    let brace = false
    while (this.at < text.length) {
      if (!brace) {
        literals.lastIndex = this.at
        const found = literals.exec(text)
        if (found !== null) {
          out += found[0]
          this.at += found[0].length
          continue
        }
      }
      const c = text[this.at]!
      if ((c === "<" || c === ">") && text[this.at + 1] === "(") {
        this.at += 2
        dynamic = true
        this.dynamic = true
        this.script(")", level + 1)
      } else if (" \t\n;&|()<>".includes(c)) break
      else if (c === "\\") {
        const next = text[this.at + 1]
        if (next !== "\n") out += next ?? "\\"
        this.at += 2
      } else if (c === "'") {
        const end = text.indexOf("'", this.at + 1)
        if (end < 0) {
          this.stop("a quotation does not end")
          break
        }
        out += text.slice(this.at + 1, end)
        this.at = end + 1
      } else if (c === "\"") {
        this.at++
        const [inner, some] = this.quoted(level)
        out += inner
        dynamic ||= some
      } else if (c === "$" && text[this.at + 1] === "'") out += this.ansi()
      else if (c === "$" && text[this.at + 1] === "\"") this.at++
      else if (c === "$" || c === "`") {
        const some = this.expansion(level)
        if (some) {
          dynamic = true
          out += "$"
        } else {
          out += c
          this.at++
        }
      } else {
        if (c === "*" || c === "?" || c === "[") fuzzy = true
        if (c === "{") brace = true
        if (brace && (c === "," || (c === "." && text[this.at + 1] === "."))) fuzzy = true
        out += c
        this.at++
      }
    }
    return { text: out, dynamic: dynamic || /^~[^/]/.test(out), fuzzy: fuzzy && !/^\[\[?$/.test(out) }
  }

  /** Up to the closing double quote, or the end of a here-document: the text, and whether it is computed. */
  private quoted(level: number, document = false): readonly [string, boolean] {
    const { text } = this
    let out = ""
    let dynamic = false
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === "\"" && !document) {
        this.at++
        return [out, dynamic]
      }
      if (c === "\\" && "$`\"\\\n".includes(text[this.at + 1] ?? " ")) {
        if (text[this.at + 1] !== "\n") out += text[this.at + 1]
        this.at += 2
      } else if ((c === "$" || c === "`") && this.expansion(level)) {
        dynamic = true
        out += "$"
      } else {
        out += c
        this.at++
      }
    }
    if (!document) this.stop("a quotation does not end")
    return [out, dynamic]
  }

  /** Reads over `$…` or backticks, and keeps the commands inside; false when it is only a dollar. */
  private expansion(level: number): boolean {
    const { text } = this
    if (text[this.at] === "`") {
      let end = this.at + 1
      while (end < text.length && text[end] !== "`") end += text[end] === "\\" ? 2 : 1
      if (end >= text.length) {
        this.stop("a substitution does not end")
        return true
      }
      const inner = text.slice(this.at + 1, end).replaceAll(/\\([\\`$])/g, "$1")
      this.at = end + 1
      this.dynamic = true
      this.inside(inner, level)
      return true
    }
    const next = text[this.at + 1]
    if (next === "(") {
      this.at += 2
      this.dynamic = true
      this.script(")", level + 1)
      return true
    }
    if (next === "{") {
      this.at += 2
      this.dynamic = true
      this.braces(level + 1)
      return true
    }
    if (next === "[") {
      this.at += 2
      this.dynamic = true
      return true
    }
    variable.lastIndex = this.at
    const found = variable.exec(text)
    if (found === null) return false
    this.at += found[0].length
    this.dynamic = true
    return true
  }

  /** Up to the closing brace of `${`. */
  private braces(level: number): void {
    if (this.depth + level > maxDepth) return this.stop("it is nested too deeply")
    const { text } = this
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === "}") {
        this.at++
        return
      }
      if (c === "\\") this.at += 2
      else if (c === "'") {
        const end = text.indexOf("'", this.at + 1)
        // Inside double quotes a single quote is a character of its own: where that makes a difference, it is not read.
        if (end >= 0 && /[$`"}\n]/.test(text.slice(this.at, end))) {
          return this.stop("a quotation stands inside a parameter")
        }
        this.at = end < 0 ? this.at + 1 : end + 1
      } else if (c === "\"") {
        this.at++
        this.quoted(level)
      } else if ((c !== "$" && c !== "`") || !this.expansion(level)) this.at++
    }
    this.stop("a substitution does not end")
  }

  /** `$'…'`. */
  private ansi(): string {
    const { text } = this
    let out = ""
    this.at += 2
    while (this.at < text.length && text[this.at] !== "'") {
      if (text[this.at] !== "\\") {
        out += text[this.at++]
        continue
      }
      escaped.lastIndex = this.at
      const found = escaped.exec(text)
      if (found === null) {
        this.at++
        continue
      }
      this.at += found[0].length
      out += unescaped(found[1]!)
    }
    if (this.at >= text.length) this.stop("a quotation does not end")
    this.at++
    return out
  }
}
