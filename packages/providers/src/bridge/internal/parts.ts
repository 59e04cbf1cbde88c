/** Texts of an answer in the pieces a vendor gave them, so that what was left on each can go back with it. */
import { digest, type JsonObject } from "@belay/core/Json"
import type { AssistantMessage } from "@belay/core/Message"
import { countOf, isObject } from "../../openai/internal/request/guards.ts"
import { ownMetadata } from "../../openai/internal/request/message.ts"

/** A piece of text or reasoning. The text itself stands in the message; a piece is its next `length` letters. */
export interface Piece {
  readonly type: "text" | "reasoning"
  readonly length: number
  readonly extra?: JsonObject
}

/** A piece with its text. */
export interface Part {
  readonly type: "text" | "reasoning"
  readonly text: string
  readonly extra: JsonObject | undefined
}

interface Said {
  readonly text: string
  readonly reasoning: string
}

/** What to leave on a message, if anything must go back with it. */
export const remember = (
  provider: string,
  pieces: ReadonlyArray<Piece>,
  said: Said
): { readonly metadata?: { readonly [name: string]: JsonObject } } =>
  pieces.some((piece) => piece.extra !== undefined || piece.type === "reasoning")
    ? {
      metadata: {
        [provider]: { pieces: pieces.map((piece) => ({ ...piece })), digest: digest([said.text, said.reasoning]) }
      }
    }
    : {}

/**
 * The texts of a message. Reasoning is in it only when this provider wrote it and nobody has changed a letter since.
 */
export const recall = (provider: string, message: AssistantMessage): ReadonlyArray<Part> => {
  const own = ownMetadata(message.metadata, provider)
  const rest = { text: message.content, reasoning: message.reasoning ?? "" }
  if (!Array.isArray(own.pieces) || own.digest !== digest([rest.text, rest.reasoning])) {
    return message.content === "" ? [] : [{ type: "text", text: message.content, extra: undefined }]
  }
  return own.pieces.filter(isObject).map((piece) => {
    const type = piece.type === "reasoning" ? "reasoning" : "text"
    const text = rest[type].slice(0, countOf(piece.length) ?? 0)
    rest[type] = rest[type].slice(text.length)
    return { type, text, extra: isObject(piece.extra) ? piece.extra as JsonObject : undefined }
  })
}
