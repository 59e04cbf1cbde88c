/** How many tokens a request has. A message is counted once, so that a step costs only what it adds. */
import type { LlmRequest } from "@belay/core/LlmCall"
import { type Message, text } from "@belay/core/Message"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"

/** Module state: weak, by tokenizer and by message or tool. Messages and tools never change. */
const counts = new WeakMap<Tokenizer, WeakMap<object, number>>()

/** Counts the tokens of the instructions, the messages and the tools of a request, without files. */
export const requestTokens = (
  { instructions, messages, tools }: LlmRequest,
  tokenizer: Tokenizer = byLength
): number => {
  const cached = counts.get(tokenizer) ?? new WeakMap<object, number>()
  counts.set(tokenizer, cached)
  let sum = instructions === undefined ? 0 : tokenizer.count(instructions)
  const add = (part: object, textOf: () => string) => {
    let tokens = cached.get(part)
    if (tokens === undefined) cached.set(part, tokens = tokenizer.count(textOf()))
    sum += tokens
  }
  for (const message of messages) add(message, () => messageText(message))
  for (const tool of tools) add(tool, () => JSON.stringify([tool.name, tool.description, tool.inputSchema]))
  return sum
}

const messageText = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)
