/** Cutting texts: to a number of tokens, and never in the middle of a character. */
import type { Tokenizer } from "@belay/core/Tokenizer"

/** No token is taken to be longer, so that huge texts are not counted whole to be cut. */
const longestToken = 32

/** The boundary at or before `index` that lies between two characters. */
export const boundary = (text: string, index: number): number => {
  const at = Math.max(0, Math.min(index, text.length))
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at - 1 : at
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The longest beginning that has at most so many tokens. */
export const head = (text: string, tokens: number, tokenizer: Tokenizer): string =>
  longest(text.length, tokens, tokenizer, (length) => text.slice(0, boundary(text, length)))

/** The longest end that has at most so many tokens. */
export const tail = (text: string, tokens: number, tokenizer: Tokenizer): string =>
  longest(text.length, tokens, tokenizer, (length) => {
    const start = text.length - length
    const before = boundary(text, start)
    return text.slice(before === start ? start : start + 1)
  })

const longest = (length: number, tokens: number, { count }: Tokenizer, piece: (length: number) => string): string => {
  let fits = ""
  let low = 1
  let high = Math.min(length, tokens * longestToken)
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const candidate = piece(middle)
    if (count(candidate) <= tokens) {
      fits = candidate
      low = middle + 1
    } else {
      high = middle - 1
    }
  }
  return fits
}
