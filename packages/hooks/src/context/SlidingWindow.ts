/**
 * Sends only the first and the last messages of a long conversation to the model.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Message } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { isPinned, taskIndex, tokensOf, type Unit, unitsOf } from "./internal/messageUnits.ts"

/** Options of `SlidingWindow.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** How many messages from the beginning are always sent. Default 0. */
  readonly first?: number
  /** How many messages from the end are sent. Default 40. */
  readonly last?: number
  /**
   * The most tokens of messages that are sent, unless the messages that are always sent have more. Default no limit.
   */
  readonly tokens?: number
  /** Counts tokens. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  first: "number",
  last: "number",
  tokens: "number",
  tokenizer: "object"
}

/**
 * Leaves out messages between the first and the last of a request; the conversation itself stays complete. Pinned
 * messages, the last message of a person and the last step are always sent. A tool call is sent with its result or not
 * at all. Throws a `ConfigError` for an invalid number.
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
  HookDefaults.checkKinds("sliding-window", options, optionKinds)
  const { first = 0, last = 40, name = "sliding-window", tokenizer = byLength, tokens } = options
  Result.getOrThrow(checkOptions(name, whole("first", first), whole("last", last, 1), whole("tokens", tokens, 1)))
  const settings = { first, last, tokenizer, tokens: tokens ?? Infinity }
  return HookDefaults.apply(options, {
    name,
    priority: 800,
    preLlmCall: (request) => {
      const { messages } = request
      const kept = selectMessages(messages, settings)
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

const selectMessages = (
  messages: ReadonlyArray<Message>,
  { first, last, tokenizer, tokens }: Settings
): ReadonlyArray<Message> => {
  if (messages.length === 0 || (messages.length <= first + last && tokens === Infinity)) return messages
  const units = unitsOf(messages)
  const task = messages[taskIndex(messages)]
  const kept = new Set<number>()
  let left = tokens
  const tokensOfUnit = (unit: Unit) => unit.reduce((sum, message) => sum + tokensOf(message, tokenizer), 0)
  const add = (index: number): void => {
    if (kept.has(index)) return
    kept.add(index)
    if (tokens !== Infinity) left -= tokensOfUnit(units[index]!)
  }
  let messagesBefore = 0
  for (const [index, unit] of units.entries()) {
    if (messagesBefore < first || unit.some(isPinned) || unit[0] === task) add(index)
    messagesBefore += unit.length
  }
  add(units.length - 1)
  let room = last - units.at(-1)!.length
  for (let index = units.length - 2; index >= 0; index--) {
    const unit = units[index]!
    room -= unit.length
    if (kept.has(index)) continue
    if (room < 0) break
    if (tokens !== Infinity && tokensOfUnit(unit) > left) break
    add(index)
  }
  return kept.size === units.length ? messages : units.filter((_, index) => kept.has(index)).flat()
}
