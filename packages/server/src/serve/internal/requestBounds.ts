/** Refuses a body that would take long to read, while it arrives and before it is parsed. */
import { invalid, Refusal } from "./refusal.ts"

/** How many objects and lists of a body may be inside each other. */
const maxBodyDepth = 100

/** Bytes that are read between two looks at the number of values. */
const sliceBytes = 65_536

const encoder = new TextEncoder()

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Counts the values of JSON text by its brackets and commas. Its bytes may come in any pieces: none of the bytes that
 * it looks for is part of another character in UTF-8. A class, because it is a state.
 */
export class RequestBounds {
  private readonly maxValues: number
  private readonly maxDepth: number
  /** What has too much, for people. */
  private readonly what: string
  private values = 0
  private depth = 0
  private isText = false
  private isEscaped = false

  constructor(maxValues: number, maxDepth = maxBodyDepth, what = "the body has") {
    this.maxValues = maxValues
    this.maxDepth = maxDepth
    this.what = what
  }

  /** Reads the next bytes. Throws a `Refusal` for too many values, or too many inside each other. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += sliceBytes) this.addSlice(bytes.subarray(at, at + sliceBytes))
  }

  /** Reads a whole text, which may not be JSON. Its values count with those before, and its depth does not. */
  addText(text: string): void {
    this.depth = 0
    this.isText = false
    this.isEscaped = false
    this.add(encoder.encode(text))
  }

  private addSlice(bytes: Uint8Array): void {
    const { maxDepth, what } = this
    let { depth, isEscaped, isText, values } = this
    for (const byte of bytes) {
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isText = false
      } else if (byte === quote) isText = true
      else if (byte === comma) values++
      else if (byte === openObject || byte === openList) {
        values++
        if (++depth > maxDepth) throw invalid(`${what} more than ${maxDepth} lists and objects inside each other`)
      } else if (byte === closeObject || byte === closeList) depth--
    }
    if (values > this.maxValues) {
      throw new Refusal("too-large", `${what} more than ${this.maxValues} values: send fewer messages or parts`)
    }
    this.depth = depth
    this.isEscaped = isEscaped
    this.isText = isText
    this.values = values
  }
}
