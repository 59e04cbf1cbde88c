/** Reads awk programs: the files that they read and write, and the commands that they run. */
import type { CodeEffects } from "./effects.ts"

/** Options whose value is not a file or a program. */
const valueOptions = /^-[Fv]$|^--(?:field-separator|assign)$/

/** Options that name no file. */
const otherOptions = new RegExp(
  "^-(?:[Fv].+|[bcCghMnNOPrsStV]+|-(?:field-separator|assign)=.*|-(?:posix|traditional|csv|re-interval|" +
    "version|help|sandbox))$"
)

/** What the program of an awk command does. */
export const awkEffects = (args: ReadonlyArray<string>): CodeEffects => {
  let at = 0
  let inPlace = false
  for (; at < args.length && /^-./.test(args[at]!) && args[at] !== "--"; at++) {
    const text = args[at]!
    if (valueOptions.test(text)) at++
    else if (text === "-i" && args[at + 1] === "inplace") {
      inPlace = true
      at++
    } else if (
      !otherOptions.test(text)
    ) {
      return { problem: "an awk program is read from a file" }
    }
  }
  const program = args[args[at] === "--" ? at + 1 : at]
  return program === undefined ? {} : { ...programEffects(program), inPlace }
}

const token = /"(?:[^"\\\n]|\\[\s\S])*"|[A-Za-z_]\w*|#[^\n]*|>>|\|\||&&|[<>=!]=|\|&?|[\s\S]/gy

/** After these, a slash begins a regular expression. */
const beforeRegex = /^(?:[(,{};!~&|=?:\n]|&&|\|\||[<>=!]=|print|printf|return|in|)$/

const regex = /\/(?:[^/\\\n[]|\\.|\[\^?\]?(?:[^\]\\\n]|\\.)*\])*\//y

const tokensOf = (program: string): ReadonlyArray<string> => {
  const tokens: Array<string> = []
  for (let at = 0; at < program.length;) {
    if (program[at] === "/" && beforeRegex.test(tokens.at(-1) ?? "")) {
      regex.lastIndex = at
      const found = regex.exec(program)
      if (found !== null) {
        tokens.push("//")
        at += found[0].length
        continue
      }
    }
    token.lastIndex = at
    const [text] = token.exec(program)!
    at += text.length
    if (!/^[ \t\r]$|^#/.test(text)) tokens.push(text)
  }
  return tokens
}

const literal = (text: string | undefined): string | undefined => {
  const [, inner] = /^"([^"\\]*)"$/.exec(text ?? "") ?? []
  return inner
}

const ends = /^(?:[;}\n)]|)$/

const programEffects = (program: string): CodeEffects => {
  const tokens = tokensOf(program)
  const runs: Array<string> = []
  const reads: Array<string> = []
  const writes: Array<string> = []
  let printing: number | undefined
  let depth = 0
  for (const [index, text] of tokens.entries()) {
    const next = tokens[index + 1]
    const value = literal(next)
    /** The literal is the whole operand, so that nothing is joined to it. */
    const isWhole = ends.test(tokens[index + 2] ?? "")
    if (text === "(" || text === "[") depth++
    if (text === ")" || text === "]") depth--
    if (/^[;{}\n]$/.test(text)) printing = undefined
    if (text === "print" || text === "printf") printing = depth
    if (text === "@") return { problem: "an awk program loads code or calls a computed function" }
    if (text === "system") {
      const command = literal(tokens[index + 2])
      if (next !== "(" || command === undefined || tokens[index + 3] !== ")") {
        return { problem: "what an awk program runs is computed" }
      }
      runs.push(command)
    } else if (text === "|" || text === "|&") {
      const command = next === "getline" ? literal(tokens[index - 1]) : isWhole ? value : undefined
      if (command === undefined) return { problem: "what an awk program runs is computed" }
      runs.push(command)
    } else if (text === "getline" && tokens.slice(index + 1, index + 4).includes("<")) {
      const file = literal(tokens[tokens.indexOf("<", index) + 1])
      if (file === undefined) return { problem: "an awk program reads a computed file" }
      reads.push(file)
    } else if ((text === ">" || text === ">>") && printing === depth) {
      if (value === undefined || !isWhole) return { problem: "an awk program writes a computed file" }
      writes.push(value)
    } else if (text === "ARGV") return { problem: "an awk program changes its arguments" }
  }
  return { runs, reads, writes, pipes: tokens.includes("|") || tokens.includes("|&") }
}
