/** Reads the words of a shell script: quotes, escapes, expansions and substitutions. */
import { ansiEscape, decodeAnsiEscape } from "./ansiEscape.ts"
import type { Word } from "./shellSyntax.ts"

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
    let out = ""
    let dynamic = false
    let fuzzy = false
    let brace = false
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
        this.script(")", level + 1)
      } else if (" \t\n;&|()<>".includes(c)) break
      else if (c === "\\") {
        const next = text[this.at + 1]
        if (next !== "\n") out += next ?? "\\"
        this.at += 2
      } else if (c === "'") {
        const end = text.indexOf("'", this.at + 1)
        if (end < 0) {
          this.stop("a quote is not closed")
          break
        }
        out += text.slice(this.at + 1, end)
        this.at = end + 1
      } else if (c === "\"") {
        this.at++
        const [inner, isDynamic] = this.quoted(level)
        out += inner
        dynamic ||= isDynamic
      } else if (c === "$" && text[this.at + 1] === "'") out += this.ansiQuoted()
      else if (c === "$" && text[this.at + 1] === "\"") this.at++
      else if (c === "$" || c === "`") {
        const isExpansion = this.expansion(level)
        if (isExpansion) {
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

  /**
   * Reads up to the closing double quote, or to the end of a here-document. Returns the text and whether it is dynamic.
   */
  protected quoted(level: number, isDocument = false): readonly [text: string, dynamic: boolean] {
    const { text } = this
    let out = ""
    let dynamic = false
    while (this.at < text.length) {
      const c = text[this.at]!
      if (c === "\"" && !isDocument) {
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
    if (!isDocument) this.stop("a quote is not closed")
    return [out, dynamic]
  }

  /**
   * Reads an expansion: `$NAME`, `${…}`, `$(…)` or backticks. The commands inside are collected. Returns false when the
   * dollar sign is a plain character.
   */
  private expansion(level: number): boolean {
    const { text } = this
    if (text[this.at] === "`") {
      let end = this.at + 1
      while (end < text.length && text[end] !== "`") end += text[end] === "\\" ? 2 : 1
      if (end >= text.length) {
        this.stop("a substitution is not closed")
        return true
      }
      const inner = text.slice(this.at + 1, end).replaceAll(/\\([\\`$])/g, "$1")
      this.at = end + 1
      this.dynamic = true
      this.nested(inner, level)
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
      this.parameter(level + 1)
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
      } else if ((c !== "$" && c !== "`") || !this.expansion(level)) this.at++
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
