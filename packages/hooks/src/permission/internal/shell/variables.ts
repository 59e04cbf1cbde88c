/**
 * Replaces the variables, substitutions and braces in the words of a script by what the script itself says they are.
 */
import { braceExpand } from "minimatch"
import type { Piece, Simple, Word } from "../syntax/shellSyntax.ts"
import { type Produced, producedBy } from "./producedText.ts"

const maxAlternatives = 24
const maxValues = 64
const maxDepth = 6
const maxWords = 512

/** Commands that give variables values which are not written in the script. */
const readers = /^(?:read|mapfile|readarray|getopts|let|printf|unset|select|wait)$/

/** Commands that set variables for the rest of the script. */
export const declarations = /^(?:export|declare|local|readonly|typeset)$/

/** Variables of every shell that are known well enough. */
const standard: { readonly [name: string]: string } = { HOME: "~", PWD: ".", TMPDIR: "/tmp" }
const plainNames = /^(?:USER|LOGNAME|HOSTNAME|RANDOM|UID|EUID|PPID|SECONDS|LINENO|SHLVL|[#?$!])$/

/** A possible binding of names to values. */
type Binding = ReadonlyMap<string, Word>

/**
 * A part of a word after expansion. `unknown`: its text is not known. `plain`: neither is this text, but it cannot be a
 * path or an option.
 */
interface Segment {
  readonly text: string
  readonly quoted: boolean
  readonly kind: "text" | "glob" | "plain" | "unknown"
}

/** The variables of a script. A class: what was collected is used by methods that call each other. */
export class Variables {
  /** The values that a variable may have; `undefined` when it may have others too. */
  private readonly values = new Map<string, Array<Word> | undefined>()

  /** Values are split at other characters than spaces. */
  private readonly hasOwnSeparator: boolean

  constructor(commands: ReadonlyArray<Simple>, outer?: Variables) {
    for (const [name, values] of outer?.values ?? []) this.values.set(name, values)
    for (const command of commands) this.collect(command)
    this.hasOwnSeparator = this.values.has("IFS")
  }

  /** The words that a command may have: one list for each combination of values. */
  expand(words: ReadonlyArray<Word>): ReadonlyArray<ReadonlyArray<Word>> {
    if (words.every(({ pieces }) => pieces === undefined)) return [words]
    return this.bindings(words).map((binding) => {
      const expanded = words.flatMap((word) => this.word(word, binding, 0))
      return expanded.length > maxWords ? words : expanded
    })
  }

  /** The word that another one becomes, when it is exactly one. */
  one(word: Word): Word {
    if (word.pieces === undefined) return word
    const [first, ...more] = this.word(word, new Map(), 0)
    return first === undefined || more.length > 0 ? word : first
  }

  private collect({ assigns, words }: Simple): void {
    for (const { name, value } of assigns) {
      if (name !== "IFS" || words.length === 0) this.add(name, value)
    }
    const name = words[0]?.text ?? ""
    const args = words.slice(1)
    if (name === "for" && args[1]?.text === "in") {
      for (const value of args.slice(2)) this.add(args[0]!.text, value)
    } else if (readers.test(name) || name === "for") {
      for (const { text } of args) if (/^\w+$/.test(text)) this.values.set(text, undefined)
    } else if (declarations.test(name)) {
      for (const { dynamic, fuzzy, text } of args) {
        const [, key, value] = /^(\w+)=([\s\S]*)$/.exec(text) ?? []
        if (key !== undefined) this.add(key, { text: value!, dynamic, fuzzy })
      }
    }
  }

  private add(name: string, value: Word): void {
    const known = this.values.get(name)
    if (known === undefined && this.values.has(name)) return
    this.values.set(name, known === undefined ? [value] : known.length < maxValues ? [...known, value] : undefined)
  }

  private bindings(words: ReadonlyArray<Word>): ReadonlyArray<Binding> {
    let found: ReadonlyArray<Binding> = [new Map()]
    for (const name of this.namesIn(words, new Set(), 0)) {
      const values = this.values.get(name)
      if (values === undefined || values.length < 2 || values.length * found.length > maxAlternatives) continue
      found = found.flatMap((binding) => values.map((value) => new Map([...binding, [name, value]])))
    }
    return found
  }

  private namesIn(words: ReadonlyArray<Word>, names: Set<string>, depth: number): ReadonlySet<string> {
    for (const piece of words.flatMap(({ pieces = [] }) => pieces)) {
      if (piece.type !== "variable" || names.has(piece.name) || depth > maxDepth) continue
      names.add(piece.name)
      this.namesIn(this.values.get(piece.name) ?? [], names, depth + 1)
    }
    return names
  }

  private word(word: Word, binding: Binding, depth: number): ReadonlyArray<Word> {
    const { pieces } = word
    if (pieces === undefined) return [word]
    const segments = pieces.flatMap((piece) => this.segments(piece, binding, depth))
    return split(segments).flatMap(withoutBraces).map(wordOf)
  }

  private segments(piece: Piece, binding: Binding, depth: number): ReadonlyArray<Segment> {
    if (piece.type === "text") return [{ text: piece.text, quoted: piece.quoted, kind: "text" }]
    if (piece.type === "number") return [{ text: "$", quoted: true, kind: "plain" }]
    if (piece.type === "file") return [{ text: "/dev/fd/63", quoted: true, kind: "text" }]
    // All parameters may be several words, also in quotes.
    const splits = piece.type === "variable" && /^[@*]$/.test(piece.name)
    const unknown: Segment = { text: "$", quoted: piece.quoted && !splits, kind: "unknown" }
    if (depth > maxDepth) return [unknown]
    return (piece.type === "output" ? this.output(piece.commands, depth) : this.variable(piece, binding, depth))
      ?.map((segment) => ({ ...segment, quoted: piece.quoted })) ?? [unknown]
  }

  private output(commands: ReadonlyArray<Simple>, depth: number): ReadonlyArray<Segment> | undefined {
    const [command, ...more] = commands
    if (
      command === undefined || more.length > 0 || command.assigns.length > 0 ||
      command.redirects.some(({ op }) => op !== "<")
    ) {
      return undefined
    }
    const produced = producedBy(command.words.flatMap((word) => this.word(word, new Map(), depth + 1)))
    return produced === undefined ? undefined : segmentsOf(produced)
  }

  private variable(
    { fallback, name, quoted, trim }: Extract<Piece, { readonly type: "variable" }>,
    binding: Binding,
    depth: number
  ): ReadonlyArray<Segment> | undefined {
    const values = this.values.get(name)
    const value = binding.get(name) ?? (values?.length === 1 ? values[0] : undefined)
    if (value !== undefined && !(this.hasOwnSeparator && !quoted)) {
      const words = this.word(value, binding, depth + 1)
      return words.flatMap((one, index): ReadonlyArray<Segment> => [
        ...(index > 0 ? [{ text: " ", quoted, kind: "text" } as const] : []),
        one.dynamic
          ? { text: one.glob ?? "$", quoted, kind: one.glob === undefined ? "unknown" : "glob" }
          : { text: one.text, quoted, kind: one.fuzzy ? "glob" : "text" }
      ]).map((segment) =>
        trim === undefined || segment.kind === "unknown" ? segment : { ...segment, text: trimmed(segment.text, trim) }
      )
    }
    if (this.values.has(name)) return undefined
    if (plainNames.test(name)) return [{ text: "$", quoted, kind: "plain" }]
    if (Object.hasOwn(standard, name)) return [{ text: standard[name]!, quoted, kind: "text" }]
    return fallback === undefined ? undefined : [{ text: fallback, quoted, kind: "text" }]
  }
}

/** Applies `%suffix` or `#prefix`, which take text away, the last part of a path, or its folder. */
const trimmed = (text: string, trim: string): string => {
  if (trim === "##*/") return text.slice(text.lastIndexOf("/") + 1)
  if (trim === "%/*") return text.includes("/") ? text.slice(0, text.lastIndexOf("/")) : text
  const [, operator = "", part = ""] = /^(%%?|##?)([\s\S]*)$/.exec(trim) ?? []
  if (operator.startsWith("%")) return text.endsWith(part) ? text.slice(0, text.length - part.length) : text
  return text.startsWith(part) ? text.slice(part.length) : text
}

const segmentsOf = (produced: Produced): ReadonlyArray<Segment> => {
  if (produced.type === "plain") return [{ text: "$", quoted: false, kind: "plain" }]
  if (produced.type === "text") return [{ text: produced.text, quoted: false, kind: "text" }]
  return produced.globs.flatMap((text, index): ReadonlyArray<Segment> => [
    ...(index > 0 ? [{ text: " ", quoted: false, kind: "text" } as const] : []),
    { text, quoted: false, kind: "glob" }
  ])
}

/** Splits expanded text that is not quoted at its spaces. Text that is written with spaces is always quoted. */
const split = (segments: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  const words: Array<Array<Segment>> = [[]]
  for (const segment of segments) {
    if (segment.quoted || !/\s/.test(segment.text)) {
      words.at(-1)!.push(segment)
      continue
    }
    for (const [index, text] of segment.text.split(/\s+/).entries()) {
      if (index > 0) words.push([])
      if (text !== "") words.at(-1)!.push({ ...segment, text })
    }
  }
  return words.filter((word) => word.length > 0)
}

const withoutBraces = (word: ReadonlyArray<Segment>): ReadonlyArray<ReadonlyArray<Segment>> => {
  if (!word.some(({ quoted, text }) => !quoted && text.includes("{"))) return [word]
  // Segments stand in the pattern as one character each, so that braces around them are expanded as well.
  const kept: Array<Segment> = []
  const pattern = word.map((segment) => {
    if (segment.kind === "text" && !segment.quoted) return segment.text
    return String.fromCodePoint(0xf0000 + kept.push(segment) - 1)
  }).join("")
  return braceExpand(pattern, { braceExpandMax: 256 }).map((text) =>
    text.split(/([\u{f0000}-\u{fffff}])/u).filter((part) => part !== "").map((part) =>
      kept[(part.codePointAt(0) ?? 0) - 0xf0000] ?? { text: part, quoted: false, kind: "text" }
    )
  )
}

const wordOf = (segments: ReadonlyArray<Segment>): Word => {
  const text = segments.map((segment) => segment.text).join("")
  const hasUnknown = segments.some(({ kind }) => kind === "unknown")
  const dynamic = hasUnknown || segments.some(({ kind }) => kind === "plain")
  const fuzzy = segments.some(({ kind, quoted, text: part }) => kind === "glob" || (!quoted && /[*?[]/.test(part)))
  if (!dynamic) return { text, dynamic: /^~[^/]/.test(text), fuzzy: fuzzy && !/^\[\[?$/.test(text) }
  const splits = segments.some(({ kind, quoted }) => kind === "unknown" && !quoted)
  const glob = hasUnknown
    ? {}
    : { glob: segments.map(({ kind, text: part }) => kind === "plain" ? "*" : part).join("") }
  return { text, dynamic, fuzzy, splits, ...glob }
}
