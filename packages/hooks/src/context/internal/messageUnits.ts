/** Conversations as units of messages that belong together, and their lengths. */
import type { Message } from "@belay/core/Message"
import { text } from "@belay/core/Message"
import type { Tokenizer } from "@belay/core/Tokenizer"

/** A message, or a message with tool calls together with the results of these calls. */
export type Unit = ReadonlyArray<Message>

/** Splits a conversation into units. */
export const unitsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Unit> => {
  const units: Array<Array<Message>> = []
  for (const message of messages) {
    const last = units.at(-1)
    if (message.role === "tool" && last !== undefined) last.push(message)
    else units.push([message])
  }
  return units
}

/** The tokens of a message, with the arguments of its tool calls. */
export const tokensOf = (message: Message, tokenizer: Tokenizer): number =>
  tokenizer.count(
    message.role === "assistant"
      ? text(message) + (message.reasoning ?? "") +
        (message.toolCalls === undefined ? "" : JSON.stringify(message.toolCalls))
      : text(message)
  )

/** Whether a message is never dropped. */
export const isPinned = (message: Message): boolean => message.role === "user" && message.pinned === true

/** The index of the last message that a person wrote, which is the task of the model. */
export const taskIndex = (messages: ReadonlyArray<Message>): number =>
  messages.findLastIndex((message) => message.role === "user" && message.source === undefined)

/** Cuts a text to a number of tokens, with a mark at its end. */
export const truncate = (value: string, maxTokens: number, tokenizer: Tokenizer, mark = "… [cut]"): string => {
  if (tokenizer.count(value) <= maxTokens) return value
  let [low, high] = [0, value.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (tokenizer.count(value.slice(0, middle) + mark) <= maxTokens) low = middle
    else high = middle - 1
  }
  const start = value.slice(0, low)
  // Half of a surrogate pair is not a character.
  return (/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start) + mark
}
