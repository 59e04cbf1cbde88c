/** How many tokens a request has. A message is counted once, so that a step costs only what it adds. */
import type { LlmRequest } from "@belay/core/LlmCall"
import { type Message, text } from "@belay/core/Message"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"

/** Module state: weak, by tokenizer and by message or tool. Messages and tools never change. */
const counts = new WeakMap<Tokenizer, WeakMap<object, number>>()

/** Counts the tokens of the instructions, the messages and the tools of a request, without files. */
export const requestTokens = (
  { instructions, messages, tools }: LlmRequest,
  tokenizer: Tokenizer = byLength
): number => {
  let cached = counts.get(tokenizer)
  if (cached === undefined) counts.set(tokenizer, cached = new WeakMap())
  let sum = instructions === undefined ? 0 : countTokens(tokenizer, instructions)
  for (const message of messages) {
    sum += cached.get(message) ?? remember(cached, tokenizer, message, messageText(message))
  }
  for (const tool of tools) {
    sum += cached.get(tool) ??
      remember(cached, tokenizer, tool, JSON.stringify([tool.name, tool.description, tool.inputSchema]))
  }
  return sum
}

const remember = (cached: WeakMap<object, number>, tokenizer: Tokenizer, part: object, text: string): number => {
  const tokens = countTokens(tokenizer, text)
  cached.set(part, tokens)
  return tokens
}

/** Counts the tokens of a text. Throws if the tokenizer returns something else than a number of tokens. */
export const countTokens = (tokenizer: Tokenizer, text: string): number => {
  const count: unknown = tokenizer.count(text)
  return typeof count === "number" && count >= 0 && count <= Number.MAX_SAFE_INTEGER
    ? count
    : Result.getOrThrow(
      Result.fail(new TypeError(`the tokenizer counted ${String(count)}: a number from 0 is expected`))
    )
}

const messageText = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)
