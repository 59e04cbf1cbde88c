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
  const cached = counts.get(tokenizer) ?? new WeakMap<object, number>()
  counts.set(tokenizer, cached)
  let sum = instructions === undefined ? 0 : countTokens(tokenizer, instructions)
  const add = (part: object, textOf: () => string) => {
    let tokens = cached.get(part)
    if (tokens === undefined) cached.set(part, tokens = countTokens(tokenizer, textOf()))
    sum += tokens
  }
  for (const message of messages) add(message, () => messageText(message))
  for (const tool of tools) add(tool, () => JSON.stringify([tool.name, tool.description, tool.inputSchema]))
  return sum
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
