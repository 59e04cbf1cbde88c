/** Globs over commands, held against a line of shell. */
import { matcher } from "@belay/core/NamePattern"
import { type Command, decompose, type Word } from "./shell.ts"
import type { Verdict } from "./touched.ts"

/** A glob over commands. */
export interface CommandGlob {
  /** Whether the text of one command fits. */
  readonly fits: (text: string) => boolean
  /** The words up to the first that has a star. */
  readonly start: ReadonlyArray<string>
  /** The program, where it is written out. */
  readonly program: string | undefined
  /** More than the name of a program, so that what a variable holds can make the difference. */
  readonly long: boolean
  readonly exact: boolean
}

/** Compiles a glob: `*` stands for any characters; ` *` or `:*` at the end for any further words, or none. */
export const compile = (spec: string): CommandGlob => {
  const text = spec.trim().replaceAll(/\s+/g, " ")
  const open = /(?: |:)\*$/.exec(text)
  const stem = open === null ? text : text.slice(0, open.index)
  const written = open === null ? [text] : [stem, `${stem} *`]
  const bare = written.map((one) => one.replaceAll(/["']/g, ""))
  const start: Array<string> = []
  const words = stem.replaceAll(/["']/g, "").split(" ")
  for (const word of words) {
    if (word.includes("*")) break
    start.push(word)
  }
  const named = stem.replace(/\*$/, "")
  return {
    fits: matcher([...new Set([...written, ...bare])]),
    start,
    program: /["']/.test(stem) ? undefined : start[0],
    long: named.includes(" ") || named.includes("*") || (open === null && named === ""),
    exact: !text.includes("*")
  }
}

/** Whether any command of a line fits. */
export const runs = (line: string, glob: CommandGlob): Verdict => {
  const taken = decompose(line)
  if (glob.fits(line.trim())) return "match"
  let verdict: Verdict = taken.unknown !== undefined || (taken.dynamic && glob.long) ? "unknown" : "no-match"
  for (const command of taken.commands) {
    const found = judge(command, glob)
    if (found === "match" && command.via !== "guess") return "match"
    if (found !== "no-match") verdict = "unknown"
  }
  return verdict
}

const judge = (command: Command, { fits, program, start }: CommandGlob): Verdict => {
  const { name, words } = command
  const [first] = words
  if (first === undefined) return "no-match"
  if (program !== undefined && program !== first.text && program !== name && !first.dynamic && !first.fuzzy) {
    return "no-match"
  }
  let verdict: Verdict = "no-match"
  for (const form of forms(command)) {
    if (fits(form.map(({ text }) => text).join(" "))) return "match"
    if (form.some(({ dynamic, fuzzy }) => dynamic || fuzzy) && couldBe(form, start)) verdict = "unknown"
  }
  return verdict
}

/** Whether words whose value is open may turn out to be those that a glob starts with. */
const couldBe = (words: ReadonlyArray<Word>, start: ReadonlyArray<string>): boolean => {
  for (const [index, wanted] of start.entries()) {
    const word = words[index]
    if (word === undefined) return false
    // One open word may become several.
    if (word.dynamic || word.fuzzy) return true
    if (word.text !== wanted) return false
  }
  return words.slice(start.length).some(({ dynamic, fuzzy }) => dynamic || fuzzy)
}

/**
 * The spellings of one command: with and without the folder of its program, its letter case, and options before its
 * first operand.
 */
const forms = ({ name, words }: Command): ReadonlyArray<ReadonlyArray<Word>> => {
  const [first, ...rest] = words as readonly [Word, ...Array<Word>]
  const names = first.text === name ? [first] : [first, { ...first, text: name }]
  const rests: Array<ReadonlyArray<Word>> = [rest]
  for (let at = 0; at < rest.length && at < 24 && rest[at]!.text.startsWith("-"); at++) {
    rests.push(rest.slice(at + 1))
    const value = rest[at + 1]
    if (value !== undefined && !value.text.startsWith("-") && !rest[at]!.text.includes("=")) {
      at++
      rests.push(rest.slice(at + 1))
    }
  }
  return names.flatMap((one) => rests.map((args) => [one, ...args]))
}

/**
 * Whether every command of a line fits one of the globs, and nothing else may happen. `writable` says where it may
 * redirect to.
 */
export const onlyRuns = (
  line: string,
  globs: ReadonlyArray<CommandGlob>,
  writable: (path: string) => boolean
): boolean => {
  const { commands, dynamic, unknown } = decompose(line)
  if (unknown !== undefined || dynamic || commands.length === 0) return false
  return commands.every(({ assigns, redirects, via, words, wraps }) => {
    if (via === "guess") return true
    if (assigns || words.length === 0) return false
    if (redirects.some(({ op, target }) => op !== "<" && (target.dynamic || target.fuzzy || !writable(target.text)))) {
      return false
    }
    const text = words.map((word) => word.text).join(" ")
    return globs.some((glob) => glob.fits(text) && (glob.exact || !wraps))
  })
}
