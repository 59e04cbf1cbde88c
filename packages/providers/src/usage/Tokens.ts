/**
 * Estimates token counts before a vendor reports them, and can correct the estimate with reported counts.
 *
 * @since 0.1.0
 */
import type { LlmRequest, PostLlmCallEvent } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import type { Tokenizer } from "@belay/core/Tokenizer"
import { estimateTokenCount } from "tokenx"
import { compact } from "../openai/internal/request/guards.ts"

/**
 * Estimates tokens within a few per cent for prose, code, JSON and most scripts, without a vocabulary. For exact
 * counts, pass an object with `count`, such as `{ count: countTokens }` of the package `gpt-tokenizer`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const estimate: Tokenizer = { count: (text) => estimateTokenCount(text) }

/** A tokenizer that corrects itself. @category models @since 0.1.0 */
export interface Corrected extends Tokenizer {
  /** The factor of the correction: the last count of the vendor divided by the estimate, between 0.5 and 2. */
  readonly ratio: () => number
  /**
   * Updates the factor from an answered call. Ignores calls without usage, with files, with fewer than 100 tokens, or
   * answered by a hook.
   */
  readonly learn: (event: PostLlmCallEvent) => void
}

/**
 * Creates a tokenizer that is corrected by the last real usage.
 *
 * @example
 * ```ts
 * import type { AgentHook } from "@belay/core/AgentHook"
 * import * as Tokens from "@belay/providers/Tokens"
 *
 * const tokenizer = Tokens.corrected(Tokens.estimate)
 * const learning: AgentHook = { name: "tokens", kind: "observer", postLlmCall: tokenizer.learn }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const corrected = (tokenizer: Tokenizer): Corrected => {
  let ratio = 1
  const known = new WeakMap<Message, number>()
  const weigh = (message: Message): number => {
    const before = known.get(message)
    if (before !== undefined) return before
    const tokens = tokenizer.count(textOf(message))
    known.set(message, tokens)
    return tokens
  }
  return {
    count: (text) => Math.ceil(tokenizer.count(text) * ratio),
    ratio: () => ratio,
    learn: ({ executed, request, response }) => {
      const actual = response.usage?.inputTokens
      if (!executed || actual === undefined || actual < fewest || request.messages.some(hasFiles)) return
      const estimated = request.messages.reduce((sum, message) => sum + weigh(message), tokenizer.count(frame(request)))
      if (estimated > 0) ratio = Math.min(2, Math.max(0.5, actual / estimated))
    }
  }
}

const fewest = 100

const frame = ({ instructions = "", tools }: LlmRequest): string =>
  instructions +
  tools.map(({ description, inputSchema, name }) => `${name}${description}${compact(inputSchema)}`).join("")

const textOf = (message: Message): string => {
  const said = typeof message.content === "string" ? message.content : compact(message.content)
  if (message.role === "tool") return said + (message.note ?? "")
  return message.role === "assistant" && message.toolCalls !== undefined ? said + compact(message.toolCalls) : said
}

const hasFiles = ({ content }: Message): boolean =>
  Array.isArray(content) && content.some((part) => part?.type === "file")
