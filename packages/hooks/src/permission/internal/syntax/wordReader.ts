/** Reads the words of a shell script: quotes, escapes, expansions and substitutions. */
import { ansiEscape, decodeAnsiEscape } from "./ansiEscape.ts"
import { arithmeticEnd, parameterParts } from "./expansionParts.ts"
import type { Piece, Simple, Word } from "./shellSyntax.ts"

/** How deeply substitutions may be nested. */
export const maxDepth = 24

export const nestedTooDeeply = "it is nested too deeply"

const variable = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/y
/** Characters without a special meaning. */
const plainCharacters = /[\w/.:=@%+-]+/y

/**
 * Reads words from a position in a text. A class: one mutable position is shared by a dozen small methods. Commands
 * inside of substitutions are read by the subclass.
 */
export abstract class WordReader {
  dynamic = false
  problem: string | undefined
  /** The parts of the word that is read now. */
  protected pieces: Array<Piece> = []
  protected at = 0
  protected readonly text: string
  protected readonly depth: number

  constructor(text: string, depth: number) {
    this.text = text
    this.depth = depth
  }

  /** Stops reading, because the script cannot be understood. The first problem is kept. */
  stop(problem: string): void {
    this.problem ??= problem
    this.at = this.text.length
  }

  /** Reads commands up to the end of the text, or up to the parenthesis that closes a substitution. */
  abstract script(end: ")" | undefined, level?: number): void

  /** Reads commands in another text: the inside of backticks, or the substitutions of a here-document. */
  protected abstract nested(text: string, level: number, isDocument?: boolean): void

  /** Reads one word: up to a space or an operator that is not quoted. */
  protected word(level: number): Word {
    const { text } = this
    const outer = this.pieces
    const pieces: Array<Piece> = this.pieces = []
    let out = ""
    let dynamic = false
    let fuzzy = false
    let brace = false
    let from = 0
    /** Ends the plain text before a quote or an expansion. */
    const flush = (): void => {
      if (from < out.length) pieces.push({ type: "text", text: out.slice(from), quoted: false })
      from = out.length
    }
    /** Adds text whose characters have no meaning for the shell. */
    const literal = (more: string): void => {
      flush()
      out += more
      from = out.length
      pieces.push({ type: "text", text: more, quoted: true })
    }
    while (this.at < text.length) {
      if (!brace) {
        plainCharacters.lastIndex = this.at
        const found = plainCharacters.exec(text)
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
        flush()
        this.script(")", level + 1)
        pieces.push({ type: "file" })
      } else if (" \t\n;&|()<>".includes(c)) break
      else if (c === "\\") {
        const next = text[this.at + 1]
        if (next !== "\n") literal(next ?? "\\")
        this.at += 2
      } else if (c === "'") {
        const end = text.indexOf("'", this.at + 1)
        if (end < 0) {
          this.stop("a quote is not closed")
          break
        }
        literal(text.slice(this.at + 1, end))
        this.at = end + 1
      } else if (c === "\"") {
        this.at++
        flush()
        const [inner, isDynamic] = this.quoted(level)
        out += inner
        from = out.length
        dynamic ||= isDynamic
      } else if (c === "$" && text[this.at + 1] === "'") literal(this.ansiQuoted())
      else if (c === "$" && text[this.at + 1] === "\"") this.at++
      else if (c === "$" || c === "`") {
        flush()
        const isExpansion = this.expansion(level, false)
        if (isExpansion) {
          dynamic = true
          out += "$"
          from = out.length
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
    flush()
    this.pieces = outer
    fuzzy &&= !/^\[\[?$/.test(out)
    return { text: out, dynamic: dynamic || /^~[^/]/.test(out), fuzzy, ...(dynamic || fuzzy ? { pieces } : {}) }
  }

  /**
   * Reads up to the closing double quote, or to the end of a here-document. Returns the text and whether it is dynamic.
   */
  protected quoted(level: number, isDocument = false): readonly [text: string, dynamic: boolean] {
    const { pieces, text } = this
    let out = ""
    let dynamic = false
    let from = 0
    const flush = (): void => {
      pieces.push({ type: "text", text: out.slice(from), quoted: true })
      from = out.length
    }
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === "\"" && !isDocument) {
        this.at++
        flush()
        return [out, dynamic]
      }
      if (c === "\\" && "$`\"\\\n".includes(text[this.at + 1] ?? " ")) {
        if (text[this.at + 1] !== "\n") out += text[this.at + 1]
        this.at += 2
      } else if ((c === "$" || c === "`") && this.quotedExpansion(level, flush)) {
        dynamic = true
        out += "$"
        from = out.length
      } else {
        out += c
        this.at++
      }
    }
    flush()
    if (!isDocument) this.stop("a quote is not closed")
    return [out, dynamic]
  }

  private quotedExpansion(level: number, flush: () => void): boolean {
    flush()
    return this.expansion(level, true)
  }

  /**
   * Reads an expansion: `$NAME`, `${…}`, `$(…)`, `$((…))` or backticks, and adds it to the pieces of the word.
   * Collects the commands inside. Returns false when the dollar sign is a plain character.
   */
  private expansion(level: number, quoted: boolean): boolean {
    const { pieces, text } = this
    const next = text[this.at + 1]
    if (text[this.at] === "`") return this.backticks(level, quoted)
    if (next === "(") {
      this.dynamic = true
      if (this.arithmetic(this.at + 1)) {
        pieces.push({ type: "number" })
        return true
      }
      this.at += 2
      pieces.push({ type: "output", quoted, commands: this.inner(() => this.script(")", level + 1)) })
      return true
    }
    if (next === "{") {
      const from = this.at + 2
      this.at = from
      this.dynamic = true
      this.pieces = []
      this.parameter(level + 1)
      this.pieces = pieces
      pieces.push({ type: "variable", quoted, ...parameterParts(text.slice(from, this.at - 1)) })
      return true
    }
    if (next === "[") {
      this.at += 2
      this.dynamic = true
      pieces.push({ type: "variable", quoted, name: "" })
      return true
    }
    variable.lastIndex = this.at
    const found = variable.exec(text)
    if (found === null) return false
    this.at += found[0].length
    this.dynamic = true
    pieces.push({ type: "variable", quoted, name: found[0].slice(1) })
    return true
  }

  private backticks(level: number, quoted: boolean): true {
    const { pieces, text } = this
    let end = this.at + 1
    while (end < text.length && text[end] !== "`") end += text[end] === "\\" ? 2 : 1
    if (end >= text.length) {
      this.stop("a substitution is not closed")
      return true
    }
    const inner = text.slice(this.at + 1, end).replaceAll(/\\([\\`$])/g, "$1")
    this.at = end + 1
    this.dynamic = true
    pieces.push({ type: "output", quoted, commands: this.inner(() => this.nested(inner, level)) })
    return true
  }

  /** The commands that are collected while something is read. */
  protected abstract inner(read: () => void): ReadonlyArray<Simple>

  /** Skips `((…))` at a position, if it is arithmetic. */
  protected arithmetic(at: number): boolean {
    const end = arithmeticEnd(this.text, at)
    if (end !== undefined) this.at = end
    return end !== undefined
  }

  /** Reads up to the closing brace of `${`. */
  private parameter(level: number): void {
    if (this.depth + level > maxDepth) return this.stop(nestedTooDeeply)
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
        // Inside of double quotes a single quote is a plain character. Where the difference matters, reading stops.
        if (end >= 0 && /[$`"}\n]/.test(text.slice(this.at, end))) {
          return this.stop("a parameter contains a quote")
        }
        this.at = end < 0 ? this.at + 1 : end + 1
      } else if (c === "\"") {
        this.at++
        this.quoted(level)
      } else if ((c !== "$" && c !== "`") || !this.expansion(level, true)) this.at++
    }
    this.stop("a substitution is not closed")
  }

  /** Reads `$'…'`. */
  private ansiQuoted(): string {
    const { text } = this
    let out = ""
    this.at += 2
    while (this.at < text.length && text[this.at] !== "'") {
      if (text[this.at] !== "\\") {
        out += text[this.at++]
        continue
      }
      ansiEscape.lastIndex = this.at
      const found = ansiEscape.exec(text)
      if (found === null) {
        this.at++
        continue
      }
      this.at += found[0].length
      out += decodeAnsiEscape(found[1]!)
    }
    if (this.at >= text.length) this.stop("a quote is not closed")
    this.at++
    return out
  }
}
