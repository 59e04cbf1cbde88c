/** Conversations in the pieces that must stay together, and how long they are. */
import type { ConfigError } from "@belay/core/AgentError"
import type { Message } from "@belay/core/Message"
import { text } from "@belay/core/Message"
import type { Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import { refuse } from "./refuse.ts"

/** A message, or a message that calls tools together with their results. */
export type Unit = ReadonlyArray<Message>

/** The pieces of a conversation. */
export const unitsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Unit> => {
  const units: Array<Array<Message>> = []
  for (const message of messages) {
    const last = units.at(-1)
    if (message.role === "tool" && last !== undefined) last.push(message)
    else units.push([message])
  }
  return units
}

/** The tokens of a message, the arguments of its calls included. */
export const tokensOf = (message: Message, tokenizer: Tokenizer): number =>
  tokenizer.count(
    message.role === "assistant"
      ? text(message) + (message.reasoning ?? "") +
        (message.toolCalls === undefined ? "" : JSON.stringify(message.toolCalls))
      : text(message)
  )

/** Whether a message survives whatever is dropped. */
export const isPinned = (message: Message): boolean => message.role === "user" && message.pinned === true

/** What a person said last: what the model is working on. */
export const taskIndex = (messages: ReadonlyArray<Message>): number =>
  messages.findLastIndex((message) => message.role === "user" && message.source === undefined)

/** Cuts a text to a number of tokens. */
export const cut = (whole: string, most: number, tokenizer: Tokenizer, mark = "… [cut]"): string => {
  if (tokenizer.count(whole) <= most) return whole
  let [low, high] = [0, whole.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (tokenizer.count(whole.slice(0, middle) + mark) <= most) low = middle
    else high = middle - 1
  }
  const kept = whole.slice(0, low)
  // Half of a surrogate pair is no character.
  return (/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept) + mark
}

/** Refuses numbers that are no counts, naming the option. */
export const counts = (
  hook: string,
  numbers: { readonly [option: string]: number | undefined },
  least = 0
): Result.Result<void, ConfigError> => {
  const odd = Object.entries(numbers).find(([, value]) =>
    value !== undefined && !(Number.isInteger(value) && value >= least)
  )
  return odd === undefined
    ? Result.succeed(undefined)
    : refuse(`${hook}.${odd[0]}`, `a whole number from ${least}`, odd[1])
}
