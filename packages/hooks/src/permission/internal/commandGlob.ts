/** Globs over commands, such as `git push *`, and the shell lines that they match. */
import { matcher } from "@belay/core/NamePattern"
import type { Verdict } from "./fileAccess.ts"
import type { ScriptText } from "./pathSpellings.ts"
import { type Command, decompose, type Decomposed, type Word } from "./shell/decompose.ts"

/** A glob over commands. */
export interface CommandGlob {
  /** Whether the text of one command matches. */
  readonly matches: (text: string) => boolean
  /** The words before the first one that contains a star. */
  readonly start: ReadonlyArray<string>
  /** What the word after these begins with. Empty if any word may follow. */
  readonly next: string
  /** The name of the program, when the glob spells it out. */
  readonly program: string | undefined
  /**
   * Whether the glob has more words than the name of a program. Then the value of a variable can decide whether it
   * matches.
   */
  readonly hasArguments: boolean
  /** Whether the glob has no star. */
  readonly exact: boolean
}

/** Compiles a glob: `*` stands for any characters; ` *` or `:*` at the end stands for any number of words, or none. */
export const compileCommandGlob = (spec: string): CommandGlob => {
  const text = spec.trim().replaceAll(/\s+/g, " ")
  const openEnd = /(?: |:)\*$/.exec(text)
  const stem = openEnd === null ? text : text.slice(0, openEnd.index)
  const written = openEnd === null ? [text] : [stem, `${stem} *`]
  const unquoted = written.map((one) => one.replaceAll(/["']/g, ""))
  const start: Array<string> = []
  const words = stem.replaceAll(/["']/g, "").split(" ")
  for (const word of words) {
    if (word.includes("*")) break
    start.push(word)
  }
  const next = words[start.length]?.replace(/\*.*$/, "") ?? ""
  const withoutStar = stem.replace(/\*$/, "")
  return {
    matches: matcher([...new Set([...written, ...unquoted])]),
    start,
    next,
    program: /["']/.test(stem) ? undefined : start[0],
    hasArguments: withoutStar.includes(" ") || withoutStar.includes("*") || (openEnd === null && withoutStar === ""),
    exact: !text.includes("*")
  }
}

/**
 * Whether a line runs a command that the glob matches. For advice, a glob with arguments may match every line with a
 * variable or a substitution, as in Claude Code.
 */
export const runsCommand = (
  line: string,
  glob: CommandGlob,
  use: "guard" | "advice" = "advice",
  scriptsOf: (line: Decomposed) => ReadonlyArray<ScriptText> = unreadScripts,
  depth = 0
): Verdict => {
  const decomposed = decompose(line)
  if (glob.matches(line.trim())) return "match"
  const isHidden = use === "advice" ? decomposed.dynamic && glob.hasArguments : hidesArguments(decomposed, glob)
  let verdict: Verdict = decomposed.unknown === undefined && !isHidden ? "no-match" : "unknown"
  for (const { isCertain, text } of scriptsOf(decomposed)) {
    const found = text === undefined || depth >= maxScripts
      ? "unknown"
      : runsCommand(text, glob, use, scriptsOf, depth + 1)
    if (found === "match") return "match"
    if (found === "unknown" && isCertain) verdict = "unknown"
  }
  for (const command of decomposed.commands) {
    // An unknown program that runs a value of the line would be a guess about a guess.
    if (command.via === "guess" && (command.words[0]?.dynamic === true || command.words[0]?.fuzzy === true)) continue
    const found = matchCommand(command, glob)
    if (found === "match" && command.via !== "guess") return "match"
    if (found !== "no-match") verdict = "unknown"
  }
  return verdict
}

/** How deeply scripts that run scripts are read. */
const maxScripts = 3

const unreadScripts = ({ scripts }: Decomposed): ReadonlyArray<ScriptText> =>
  scripts.flatMap(({ type }) => type === "shell" ? [{ isCertain: true, text: undefined }] : [])

/**
 * Whether a command of the line may be the one of the glob, with arguments that are not in the line, as `xargs` gives.
 */
const hidesArguments = ({ commands, dynamic }: Decomposed, glob: CommandGlob): boolean => {
  const { hasArguments, program } = glob
  if (!dynamic || !hasArguments) return false
  const replaces = commands.some(({ name, words }) => name === "xargs" && words.some(({ text }) => replaced.test(text)))
  return commands.some((command) => {
    const { filesFrom, name, words } = command
    if (program === undefined) return true
    if (name !== program && words[0]?.text !== program) return false
    if (filesFrom === undefined || filesFrom === "$") return false
    return replaces || spellingsOf(command).some((form) => agree(form, glob))
  })
}

/** Options of `xargs` that name a word which it replaces. */
const replaced = /^-(?:\w*[IJi]|-replace)/

/** Whether words and the first words of a glob are the same as far as both go. */
const agree = (words: ReadonlyArray<Word>, { next, start }: CommandGlob): boolean =>
  [...start, next].every((expected, index) => {
    const word = words[index]
    if (word === undefined || word.dynamic || word.fuzzy || word.text.includes("{}")) return true
    return index < start.length ? word.text === expected : word.text.startsWith(next)
  })

const matchCommand = (command: Command, glob: CommandGlob): Verdict => {
  const { matches, program } = glob
  const { name, words } = command
  const [first] = words
  if (first === undefined) return "no-match"
  if (program !== undefined && program !== first.text && program !== name && !first.dynamic && !first.fuzzy) {
    return "no-match"
  }
  let verdict: Verdict = "no-match"
  for (const form of spellingsOf(command)) {
    if (matches(form.map(({ text }) => text).join(" "))) return "match"
    if (form.some(({ dynamic, fuzzy }) => dynamic || fuzzy) && couldStartWith(form, glob)) verdict = "unknown"
  }
  return verdict
}

/** Whether words may equal the first words of a glob, when the shell has replaced dynamic words by their values. */
const couldStartWith = (words: ReadonlyArray<Word>, { next, start }: CommandGlob): boolean => {
  for (const [index, expected] of start.entries()) {
    const word = words[index]
    if (word === undefined) return false
    // One dynamic word may become several words.
    if (word.dynamic) return true
    if (word.fuzzy) return mayExpandTo(word.text, expected)
    if (word.text !== expected) return false
  }
  const after = words[start.length]
  if (after !== undefined && !after.dynamic && !after.fuzzy && !after.text.startsWith(next)) return false
  return words.slice(start.length).some(({ dynamic, fuzzy }) => dynamic || fuzzy)
}

/** Whether the shell may replace a glob by a name: it begins and ends as the glob does. */
const mayExpandTo = (glob: string, name: string): boolean =>
  /[{@+!]/.test(glob) ||
  (name.startsWith(/^[^*?[]*/.exec(glob)![0]) && name.endsWith(/[^*?\]]*$/.exec(glob)![0]))

/**
 * The spellings of one command: with the program as written and as its plain name in lower case; with and without the
 * options before its first operand.
 */
const spellingsOf = ({ name, words }: Command): ReadonlyArray<ReadonlyArray<Word>> => {
  const [first, ...rest] = words as readonly [Word, ...Array<Word>]
  const names = first.text === name ? [first] : [first, { ...first, text: name }]
  const rests: Array<ReadonlyArray<Word>> = [rest]
  for (let at = 0; at < rest.length && at < 24 && rest[at]!.text.startsWith("-"); at++) {
    const value = rest[at + 1]
    const takesNext = name === "git" && gitOptionsWithValue.has(rest[at]!.text) &&
      (value?.dynamic !== true || value.splits === false)
    if (!takesNext) rests.push(rest.slice(at + 1))
    if (value !== undefined && !value.text.startsWith("-") && !rest[at]!.text.includes("=")) {
      at++
      rests.push(rest.slice(at + 1))
    }
  }
  return names.flatMap((program) => rests.map((args) => [program, ...args]))
}

/** Options of `git` whose value is the next word. */
const gitOptionsWithValue = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"])

/**
 * Whether every command of a line matches one of the globs, and the line does nothing else. `writable` says which files
 * its redirections may write.
 */
export const runsOnlyCommands = (
  line: string,
  globs: ReadonlyArray<CommandGlob>,
  writable: (path: string) => boolean
): boolean => {
  const { commands, dynamic, unknown } = decompose(line)
  if (unknown !== undefined || dynamic || commands.length === 0) return false
  return commands.every(({ assigns, effects, redirects, standard, via, words, wraps }) => {
    if (via === "guess") return true
    if (assigns || words.length === 0) return false
    if (!standard && !words[0]!.text.includes("/")) return false
    if ((effects?.reads?.length ?? 0) > 0 || effects?.writes?.some((path) => !writable(path)) === true) return false
    if (redirects.some(({ op, target }) => op !== "<" && (target.dynamic || target.fuzzy || !writable(target.text)))) {
      return false
    }
    const text = words.map((word) => word.text).join(" ")
    return globs.some((glob) => glob.matches(text) && (glob.exact || !wraps))
  })
}
