/** Finds phrases that a reader has to read twice, and table cells that are too long. See docs/words.md. */

/** A phrase that stays out of the text, and what to write instead. */
interface Rule {
  readonly pattern: RegExp
  readonly instead: string
}

const rules: ReadonlyArray<Rule> = [
  { pattern: /\bof one's own\b/i, instead: "its own X, your own X" },
  { pattern: /\bbesides\b/i, instead: "as well, in addition to" },
  { pattern: /\bin one look\b/i, instead: "at a glance" },
  { pattern: /\bgo(?:es|ing)? on with\b|\bwent on with\b/i, instead: "continue" },
  { pattern: /\bwhat [^.\n]{1,40} comes? to\b/i, instead: "say what happens, or what the result is" },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|other\b|such\b|need\b)/i,
    instead: "is not a X, there is no X"
  },
  { pattern: /\bso often and no more\b|\bso (?:long|deep|many) and no more\b/i, instead: "at most N times" },
  { pattern: /\blet(?:s|ting)? go\b/i, instead: "dispose, close, release" },
  { pattern: /\b(?:has|have|had) (?:its|their|his) say\b/i, instead: "decides, runs" },
  { pattern: /\b(?:lend|lends|lent|lending|borrow|borrows|borrowed|borrowing)\b/i, instead: "capability" },
  { pattern: /\bupstairs\b|\bknit(?:s|ted|ting)?\b/i, instead: "say what the code does" },
  {
    pattern: /\b(?:is|are|was|were|be|been|being) told\b|\btells? (?:of|about)\b/i,
    instead: "receives, is reported, an event says"
  },
  { pattern: /\bhears?\b|\bheard\b/i, instead: "receives, reads, listens to" },
  { pattern: /\badmit(?:s|ted|ting)?\b/i, instead: "accept" },
  { pattern: /\bone's\b/i, instead: "your, its" }
]

/** A sentence with a phrase that should go. */
export interface Finding {
  readonly line: number
  readonly text: string
  readonly instead: string
}

/** The phrases in a text that is all prose. Code between backticks and quoted titles of links are left out. */
export const phrasesIn = (prose: string, firstLine = 1): ReadonlyArray<Finding> =>
  prose.split("\n").flatMap((raw, index) => {
    const text = raw.replaceAll(/`[^`]*`/g, "`code`").replaceAll(/\]\([^)]*\)/g, "]")
    return rules.flatMap(({ instead, pattern }) =>
      pattern.test(text) ? [{ line: firstLine + index, text: text.trim(), instead }] : []
    )
  })

/** The prose of a Markdown page: everything outside of fences, line by line. */
export const proseOf = (markdown: string): string => {
  let isFenced = false
  return markdown.split("\n").map((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    if (isFence) isFenced = !isFenced
    return isFence || isFenced ? "" : line
  }).join("\n")
}

/** The comments of a TypeScript file, line by line; code, and examples in comments, become empty lines. */
export const commentsOf = (source: string): string => {
  let isDoc = false
  let isFenced = false
  return source.split("\n").map((line) => {
    const trimmed = line.trim()
    if (/^\/\*\*?/.test(trimmed)) isDoc = true
    const isComment = isDoc || trimmed.startsWith("//")
    if (isDoc && trimmed.startsWith("* ```")) {
      isFenced = !isFenced
      return ""
    }
    if (isDoc && trimmed.endsWith("*/")) isDoc = false
    return isComment && !isFenced ? line : ""
  }).join("\n")
}

/** The titles of tests, line by line. */
export const titlesOf = (source: string): string =>
  source.split("\n").map((line, index, lines) => {
    const isOpen = /\b(?:it|test|describe)\b[\w.]*\($/.test(lines[index - 1] ?? "")
    const title = isOpen
      ? /^\s*(["'`])(.*)\1,$/.exec(line)
      : /\b(?:it|test|describe)\b[\w.]*\(\s*(["'`])(.*?)\1,/.exec(line)
    return title?.[2] ?? ""
  }).join("\n")

/** Cells of Markdown tables with more than `limit` words. A link counts by its text, code between backticks as a word. */
export const longCells = (markdown: string, limit: number): ReadonlyArray<string> =>
  proseOf(markdown).split("\n").filter((line) => line.startsWith("|") && !/^\|[\s|:-]+$/.test(line)).flatMap((line) =>
    line
      .replaceAll(/`[^`]*`/g, "code")
      .replaceAll(/\]\([^)]*\)/g, "]")
      .split("|")
      .map((cell) => cell.trim())
      .filter((cell) => cell.split(/\s+/).length > limit)
  )
