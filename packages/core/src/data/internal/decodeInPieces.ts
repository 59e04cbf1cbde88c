/** Decodes a long conversation in pieces. Other work of the process is done between them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isPlain, whyNot } from "../Json.ts"
import { Message } from "../Message.ts"

/** Messages that are decoded at a time, which takes a few milliseconds. */
const pieceSize = 500

const decodePiece = Schema.decodeUnknownEffect(Schema.Array(Message))

/** A value without its long list of messages, and the decoded messages. */
export interface Decoded {
  readonly rest: object
  readonly messages: ReadonlyArray<Message>
}

/**
 * Decodes the messages of a value that has many. `slack` levels may be around each message. Returns nothing for a value
 * that has few messages or a wrong one: such a value is decoded as a whole.
 */
export const decodeInPieces = Effect.fnUntraced(function*(
  value: unknown,
  slack: number
): Effect.fn.Return<Decoded | undefined> {
  if (typeof value !== "object" || value === null || !isPlain(value)) return undefined
  // A getter could return another list each time.
  const given: unknown = Object.getOwnPropertyDescriptor(value, "messages")?.value
  if (!Array.isArray(given) || given.length <= pieceSize) return undefined
  const list: ReadonlyArray<unknown> = given
  const messages: Array<Message> = []
  for (let at = 0; at < list.length; at += pieceSize) {
    const piece = list.slice(at, at + pieceSize)
    if (whyNot(piece, "$", 1 - slack) !== undefined) return undefined
    const decoded = yield* Effect.orElseSucceed(decodePiece(piece), () => undefined)
    if (decoded === undefined) return undefined
    for (const message of decoded) messages.push(message)
    yield* Effect.yieldNow
  }
  return { rest: { ...value, messages: [] }, messages }
})
