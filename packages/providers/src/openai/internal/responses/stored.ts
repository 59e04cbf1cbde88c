/** Continues responses that the vendor stores, so that a request contains only what is new. */
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { AssistantMessage, Message } from "@belay/core/Message"
import { ownMetadata } from "../request/message.ts"

/** The part of a conversation that the vendor has. */
export interface Stored {
  readonly responseId: string
  /** The number of messages that the vendor has. */
  readonly count: number
}

/** Returns what to keep on a response, so that the next request can continue it. */
export const continuation = (
  messages: ReadonlyArray<Message>,
  { id, text, toolCalls }: Pick<LlmResponse, "id" | "text" | "toolCalls">
): JsonObject => id === undefined ? {} : { responseId: id, upTo: fingerprint(messages, text, toolCalls) }

/** Finds the last response that the vendor has stored. A conversation that was changed since then is not continued. */
export const lastStored = (messages: ReadonlyArray<Message>, provider: string): Stored | undefined => {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message?.role !== "assistant") continue
    const { responseId, upTo } = ownMetadata(message.metadata, provider)
    if (typeof responseId !== "string") return undefined
    const isSame = upTo === fingerprint(messages.slice(0, at), message.content, message.toolCalls ?? [])
    return isSame ? { responseId, count: at + 1 } : undefined
  }
  return undefined
}

const fingerprint = (
  messages: ReadonlyArray<Message>,
  text: string,
  calls: NonNullable<AssistantMessage["toolCalls"]>
): string =>
  // Messages are JSON.
  digest([messages as unknown as Json, text, calls.map(({ args, id, name }) => [id, name, args])])
