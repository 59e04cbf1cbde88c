/** Reads some lines of a file, without loading the whole file. */
import * as Effect from "effect/Effect"
import { ToolError } from "../ToolError.ts"
import { openFile } from "./openFile.ts"
import { type Place, systemError } from "./resolvePath.ts"

const chunkBytes = 65_536

/** Returns the lines, and a note if there are more. */
export const readLines = (
  place: Place,
  from: number,
  count: number,
  maxCharacters: number
): Effect.Effect<string, ToolError> =>
  Effect.scoped(Effect.gen(function*() {
    const { handle } = yield* openFile("Read", place)
    const window = new LineWindow(from, count, maxCharacters)
    const decoder = new TextDecoder()
    const buffer = Buffer.alloc(chunkBytes)
    while (!window.isFull) {
      const { bytesRead } = yield* Effect.tryPromise({
        try: () => handle.read(buffer, 0, chunkBytes),
        catch: (error) => systemError("Read", place.shown, error)
      })
      if (bytesRead === 0) break
      const chunk = buffer.subarray(0, bytesRead)
      if (chunk.includes(0)) {
        return yield* Effect.fail(
          new ToolError({ tool: "Read", reason: "content", message: `${place.shown} is a binary file, not a text` })
        )
      }
      window.take(decoder.decode(chunk, { stream: true }))
    }
    window.take(decoder.decode())
    return window.show()
  }))

/** Keeps the wanted lines. A class: what it keeps changes with every chunk. */
class LineWindow {
  /** There is more text than may be kept. */
  isFull = false
  private line = 1
  private kept = ""
  private hasText = false
  private isCut = false
  private readonly from: number
  private readonly end: number
  private readonly maxCharacters: number

  constructor(from: number, count: number, maxCharacters: number) {
    this.from = from
    this.end = from + count
    this.maxCharacters = maxCharacters
  }

  take(text: string): void {
    if (text !== "") this.hasText = true
    for (let start = 0; start < text.length && !this.isFull;) {
      if (this.line >= this.end) {
        this.isFull = true
        return
      }
      const newline = text.indexOf("\n", start)
      const end = newline === -1 ? text.length : newline + 1
      if (this.line >= this.from) this.keep(text.slice(start, end))
      if (newline !== -1 && !this.isFull) this.line++
      start = end
    }
  }

  private keep(part: string): void {
    const room = this.maxCharacters - this.kept.length
    this.kept += part.length > room ? part.slice(0, room) : part
    this.isFull = this.isCut = part.length > room
  }

  show(): string {
    if (!this.hasText) return "[the file is empty]"
    if (this.isCut) return `${this.kept}\n${this.cutNote()}`
    if (this.isFull) return `${this.kept}[there are more lines: read on with offset ${this.line}]`
    return this.line < this.from ? `[the file has only ${this.line} lines]` : this.kept
  }

  private cutNote(): string {
    const isLong = `[cut after ${this.maxCharacters} characters, in line ${this.line}`
    return this.line === this.from
      ? `${isLong}. The line is too long to read: find the part with Grep]`
      : `${isLong}: read on with offset ${this.line}]`
  }
}
