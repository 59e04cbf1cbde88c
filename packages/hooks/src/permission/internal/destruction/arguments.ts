/** The arguments of a command, with methods that search them. */
import type { Command } from "../shell/decompose.ts"

/** A kind of destruction. @category models @since 0.1.0 */
export type Destruction =
  | "delete-recursively"
  | "git-force-push"
  | "git-discard"
  | "git-rewrite"
  | "disk"
  | "sql-drop"
  | "open-permissions"
  | "run-download"
  | "fork-bomb"
  | "shutdown"
  | "infrastructure"
  | "accounts"

/** A check: what a command destroys, and whether it does so. */
export type Check = readonly [Destruction, (args: Arguments, command: Command) => boolean]

/** The arguments of a command. */
export interface Arguments {
  readonly name: string
  readonly texts: ReadonlyArray<string>
  /** The arguments that are not options. */
  readonly operands: ReadonlyArray<string>
  /** Whether an argument is dynamic, and may become an option. */
  readonly isDynamic: boolean
  /** Whether one of the arguments matches the pattern. */
  readonly some: (pattern: RegExp) => boolean
  /** Whether all of these words are among the arguments. */
  readonly has: (...words: ReadonlyArray<string>) => boolean
  /** Whether one of these letters is among the short options, as in `-rf`. */
  readonly flag: (letters: string) => boolean
  /** Whether a long option is one of these, or is shortened to its beginning: `--recurs` is `recursive`. */
  readonly long: (...names: ReadonlyArray<string>) => boolean
}

/** Reads the arguments of a command. */
export const argumentsOf = ({ name, words }: Command): Arguments => {
  const args = words.slice(1)
  const texts = args.map(({ text }) => text)
  const end = texts.indexOf("--")
  const options = end < 0 ? texts : texts.slice(0, end)
  const long = options.flatMap((text) => /^--([a-z][\w-]*)/i.exec(text)?.[1]?.toLowerCase() ?? [])
  const letters = options.flatMap((text) => /^-([a-zA-Z]+)/.exec(text)?.[1] ?? []).join("")
  return {
    name,
    texts,
    operands: [...options.filter((text) => !/^-./.test(text)), ...(end < 0 ? [] : texts.slice(end + 1))],
    isDynamic: mayBecomeOptions(args),
    some: (pattern) => texts.some((text) => pattern.test(text)),
    has: (...all) => all.every((word) => texts.includes(word)),
    flag: (wanted) => [...wanted].some((letter) => letters.includes(letter)),
    long: (...names) => long.some((given) => names.some((one) => one.startsWith(given)))
  }
}

/**
 * Whether dynamic words may become an option and something for it to act on. A word in quotes stays one word, so one
 * of them alone cannot be both.
 */
const mayBecomeOptions = (args: ReadonlyArray<Command["words"][number]>): boolean => {
  // A word with a glob is the name of a branch, a number or the like.
  const optional = args.filter(({ dynamic, glob, text }) => dynamic && glob === undefined && /^\$[\w-]*\$?$/.test(text))
  if (optional.length === 0) return false
  const others = args.filter(({ text }) => !text.startsWith("-")).length
  return others > 1 || optional.some(({ splits }) => splits !== false)
}
