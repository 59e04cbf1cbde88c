/**
 * Sends the model only the beginning and the end of a long conversation.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Message } from "@belay/core/Message"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { counts, isPinned, taskIndex, tokensOf, unitsOf } from "./internal/transcript.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Messages from the beginning that are always sent. Default 0. */
  readonly first?: number
  /** Messages from the end that are sent. Default 40. */
  readonly last?: number
  /** Most tokens of messages that are sent, as far as dropping can see to it. Default: no such limit. */
  readonly tokens?: number
  /** Counts tokens. Default: four characters are one. */
  readonly tokenizer?: Tokenizer
}

/**
 * Leaves messages between the first and the last out of what is sent; the conversation itself stays whole. Pinned
 * messages and what the
 * person said last are always sent, as is the last step; a call of a tool is sent with its result or not at all.
 * Throws a `ConfigError` for numbers that are no counts.
 *
 * @example
 * ```ts
 * import * as SlidingWindow from "@belay/hooks/SlidingWindow"
 *
 * const window = SlidingWindow.make({ first: 1, last: 30, tokens: 60_000 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "sliding-window"
  const settings = Result.getOrThrow(check(options, name))
  return HookDefaults.apply(options, {
    name,
    priority: 800,
    preLlmCall: (request) => {
      const { messages } = request
      const kept = keep(messages, settings)
      return kept.length === messages.length ? undefined : HookAction.transform({ ...request, messages: kept })
    }
  })
}

interface Settings {
  readonly first: number
  readonly last: number
  readonly tokens: number
  readonly tokenizer: Tokenizer
}

const keep = (
  messages: ReadonlyArray<Message>,
  { first, last, tokenizer, tokens }: Settings
): ReadonlyArray<Message> => {
  if (messages.length === 0 || (messages.length <= first + last && tokens === Infinity)) return messages
  const units = unitsOf(messages)
  const task = messages[taskIndex(messages)]
  const kept = new Set<number>()
  let left = tokens
  const take = (index: number): void => {
    if (kept.has(index)) return
    kept.add(index)
    if (tokens !== Infinity) left -= units[index]!.reduce((sum, message) => sum + tokensOf(message, tokenizer), 0)
  }
  let begun = 0
  for (const [index, unit] of units.entries()) {
    if (begun < first || unit.some(isPinned) || unit[0] === task) take(index)
    begun += unit.length
  }
  take(units.length - 1)
  let room = last - units.at(-1)!.length
  for (let index = units.length - 2; index >= 0; index--) {
    const unit = units[index]!
    room -= unit.length
    if (kept.has(index)) continue
    if (room < 0) break
    if (tokens !== Infinity && unit.reduce((sum, message) => sum + tokensOf(message, tokenizer), 0) > left) break
    take(index)
  }
  return kept.size === units.length ? messages : units.filter((_, index) => kept.has(index)).flat()
}

const check = (
  { first = 0, last = 40, tokenizer = byLength, tokens }: Options,
  name: string
): Result.Result<Settings, ConfigError> =>
  Result.map(
    Result.all([counts(name, { first }), counts(name, { last, tokens }, 1)]),
    () => ({ first, last, tokenizer, tokens: tokens ?? Infinity })
  )
