/** Keeps the parts of an answer as the vendor sent them, so that the metadata of each part can be sent back. */
import { digest, type JsonObject } from "@belay/core/Json"
import type { AssistantMessage } from "@belay/core/Message"
import { countOf, isObject } from "../../openai/internal/request/guards.ts"
import { ownMetadata } from "../../openai/internal/request/message.ts"

/** A part of text or reasoning. The text itself is in the message; a part is its next `length` characters. */
export interface Piece {
  readonly type: "text" | "reasoning"
  readonly length: number
  readonly extra?: JsonObject
}

/** A part with its text. */
export interface Part {
  readonly type: "text" | "reasoning"
  readonly text: string
  readonly extra: JsonObject | undefined
}

interface Said {
  readonly text: string
  readonly reasoning: string
}

/** Returns the metadata to store on a message, if something must be sent back with it. */
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

/** Returns the parts of a message. It includes reasoning only if this provider wrote it and nobody has changed it. */
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
    // Only this provider stores this metadata.
    return { type, text, extra: isObject(piece.extra) ? piece.extra as JsonObject : undefined }
  })
}
