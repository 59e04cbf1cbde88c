/** Cuts texts to a number of tokens, never in the middle of a character. */
import type { Tokenizer } from "@belay/core/Tokenizer"

/** The assumed length of the longest token, in characters. With it, a huge text need not be counted as a whole. */
const longestToken = 32

/** The boundary between two characters at or before `index`. */
export const boundary = (text: string, index: number): number => {
  const at = Math.max(0, Math.min(index, text.length))
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at - 1 : at
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The longest beginning with at most this number of tokens. */
export const head = (text: string, tokens: number, tokenizer: Tokenizer): string =>
  longest(text.length, tokens, tokenizer, (length) => text.slice(0, boundary(text, length)))

/** The longest end with at most this number of tokens. */
export const tail = (text: string, tokens: number, tokenizer: Tokenizer): string =>
  longest(text.length, tokens, tokenizer, (length) => {
    const start = text.length - length
    const before = boundary(text, start)
    return text.slice(before === start ? start : start + 1)
  })

const longest = (length: number, tokens: number, { count }: Tokenizer, partOf: (length: number) => string): string => {
  let best = ""
  let low = 1
  let high = Math.min(length, tokens * longestToken)
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const candidate = partOf(middle)
    if (count(candidate) <= tokens) {
      best = candidate
      low = middle + 1
    } else {
      high = middle - 1
    }
  }
  return best
}
