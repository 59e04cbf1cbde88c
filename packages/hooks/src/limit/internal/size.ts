/** How long a request is, in tokens. Messages are counted once: a step costs as much as what is new in it. */
import type { LlmRequest } from "@belay/core/LlmCall"
import { type Message, text } from "@belay/core/Message"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"

const known = new WeakMap<Tokenizer, WeakMap<object, number>>()

/** Counts a request. */
export const sizes = ({ instructions, messages, tools }: LlmRequest, tokenizer: Tokenizer = byLength): number => {
  const counted = known.get(tokenizer) ?? new WeakMap<object, number>()
  known.set(tokenizer, counted)
  let sum = instructions === undefined ? 0 : tokenizer.count(instructions)
  const add = (one: object, weight: () => string) => {
    let size = counted.get(one)
    if (size === undefined) counted.set(one, size = tokenizer.count(weight()))
    sum += size
  }
  for (const message of messages) add(message, () => weightOf(message))
  for (const tool of tools) add(tool, () => JSON.stringify([tool.name, tool.description, tool.inputSchema]))
  return sum
}

const weightOf = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)
