/**
 * Separates reasoning from text. `<think>` at the very start of an answer begins reasoning; elsewhere it is text.
 * Google writes `<thought>`.
 */

const open = "<think>"
const unopened = "</think>"
const tags: ReadonlyArray<readonly [open: string, close: string]> = [
  [open, unopened],
  ["<thought>", "</thought>"]
]

/** A part of an answer, either reasoning or text. */
interface Split {
  readonly text: string
  readonly reasoning: string
}

/** Separates reasoning from text in a stream. */
export interface ThinkSplitter {
  /** Whether only text can follow. */
  readonly isText: () => boolean
  readonly push: (piece: string) => Split
  /** Returns the buffered rest. */
  readonly end: () => Split
}

const nothing: Split = { text: "", reasoning: "" }

/** Creates a splitter for one answer. */
export const make = (): ThinkSplitter => {
  let state: "start" | "inside" | "after" | "text" = "start"
  let held = ""
  let quiet = true
  let close = unopened

  const reason = (piece: string): string => {
    const shown = quiet ? piece.trimStart() : piece
    if (shown !== "") quiet = false
    return shown
  }
  const inside = (): Split => {
    const at = held.indexOf(close)
    if (at >= 0) {
      const reasoning = reason(held.slice(0, at))
      const rest = held.slice(at + close.length)
      held = ""
      state = "after"
      return { text: after(rest), reasoning }
    }
    const keep = overlap(held, close)
    const reasoning = reason(held.slice(0, held.length - keep))
    held = held.slice(held.length - keep)
    return { text: "", reasoning }
  }
  const after = (piece: string): string => {
    const shown = piece.trimStart()
    if (shown !== "") state = "text"
    return shown
  }
  return {
    isText: () => state === "text",
    push: (piece) => {
      if (state === "text") return { text: piece, reasoning: "" }
      if (state === "after") return { text: after(piece), reasoning: "" }
      held += piece
      if (state === "inside") return inside()
      const seen = held.trimStart()
      const begun = tags.find(([begin]) => seen.startsWith(begin))
      if (begun !== undefined) {
        const [begin, end] = begun
        close = end
        state = "inside"
        held = seen.slice(begin.length)
        return inside()
      }
      if (seen.startsWith(unopened)) {
        const rest = seen.slice(unopened.length)
        held = ""
        state = "after"
        return { text: after(rest), reasoning: "" }
      }
      if (tags.some(([begin]) => begin.startsWith(seen)) || unopened.startsWith(seen)) return nothing
      const text = held
      state = "text"
      held = ""
      return { text, reasoning: "" }
    },
    end: () => {
      const rest = held
      held = ""
      if (state === "inside") return { text: "", reasoning: reason(rest) }
      return { text: rest, reasoning: "" }
    }
  }
}

/**
 * Separates a text whose reasoning has no begin, because the template of the server had written `<think>` already. The
 * tag that ends it is a line of its own, or the end of a paragraph. A tag with nothing behind it ends no reasoning.
 * Returns nothing for other texts.
 */
export const splitUnopened = (text: string): Split | undefined => {
  const found = /(?:^|\n)[ \t]*<\/think>[ \t]*(?=\n|$)|<\/think>[ \t]*(?=\n\n|\s*$)/.exec(text)
  if (found === null) return undefined
  const reasoning = text.slice(0, found.index)
  const isQuoted = reasoning.includes(open) || reasoning.split("```").length % 2 === 0
  if (isQuoted) return undefined
  const rest = text.slice(found.index + found[0].length).trim()
  return rest === "" ? { reasoning: "", text: reasoning.trim() } : { reasoning: reasoning.trim(), text: rest }
}

/** Returns how many characters at the end of `text` could be the start of `mark`. */
const overlap = (text: string, mark: string): number => {
  for (let size = Math.min(text.length, mark.length - 1); size > 0; size--) {
    if (mark.startsWith(text.slice(text.length - size))) return size
  }
  return 0
}
