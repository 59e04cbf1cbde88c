/**
 * Clears old results of tools, and old reasoning, from what a model is sent.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Message } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { counts, taskIndex, tokensOf } from "./internal/transcript.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Tokens of a request from which on it is edited. Default 100,000. */
  readonly trigger?: number
  /** Most recent results that stay. Default 3. */
  readonly keep?: number
  /** Tools whose results stay: `*` stands for any characters. Default none. */
  readonly excludeTools?: string | ReadonlyArray<string>
  /** What stands in place of a result. Default `[cleared]`. */
  readonly placeholder?: string
  /** Clears the arguments of the calls as well. Default false. */
  readonly clearToolInputs?: boolean
  /** Drops the reasoning of earlier turns as well. Default true. */
  readonly clearReasoning?: boolean
  /** Counts tokens. Default: four characters are one. */
  readonly tokenizer?: Tokenizer
}

/**
 * Clears, once a request is long, the results of all but the latest calls of tools. The calls stay, so that the model
 * knows what it did
 * and may do it again; the conversation itself stays whole. Throws a `ConfigError` for numbers that are no counts.
 *
 * @example
 * ```ts
 * import * as ContextEditing from "@belay/hooks/ContextEditing"
 *
 * const editing = ContextEditing.make({ trigger: 60_000, keep: 5, excludeTools: "memory_*" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "context-editing"
  const { clearReasoning = true, clearToolInputs = false, placeholder = "[cleared]", tokenizer = byLength } = options
  const { keep, trigger } = Result.getOrThrow(check(options, name))
  const stays = matcher(options.excludeTools ?? [])
  return HookDefaults.apply(options, {
    name,
    priority: 810,
    preLlmCall: (request) => {
      const { messages } = request
      let tokens = tokenizer.count(request.instructions ?? "")
      for (const message of messages) tokens += tokensOf(message, tokenizer)
      if (tokens <= trigger) return undefined
      const results = messages.flatMap((message) =>
        message.role === "tool" && !stays(message.toolName) ? [message.toolCallId] : []
      )
      const cleared = new Set(results.slice(0, Math.max(0, results.length - keep)))
      const turn = taskIndex(messages)
      let changed = false
      const edited = messages.map((message, index): Message => {
        const made = message.role === "tool" && cleared.has(message.toolCallId)
          ? message.content === placeholder ? message : { ...message, content: placeholder }
          : message.role === "assistant"
          ? withoutReasoning(
            withoutInputs(message, clearToolInputs ? cleared : undefined),
            clearReasoning && index < turn
          )
          : message
        changed ||= made !== message
        return made
      })
      return changed ? HookAction.transform({ ...request, messages: edited }) : undefined
    }
  })
}

type Assistant = Extract<Message, { readonly role: "assistant" }>

const withoutInputs = (message: Assistant, cleared: ReadonlySet<string> | undefined): Assistant => {
  if (cleared === undefined || !message.toolCalls?.some(({ id }) => cleared.has(id))) return message
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => {
      if (!cleared.has(call.id)) return call
      const { malformed: _malformed, ...rest } = call
      return { ...rest, args: {} }
    })
  }
}

const withoutReasoning = (message: Assistant, drop: boolean): Assistant => {
  if (!drop || message.reasoning === undefined) return message
  const { reasoning: _reasoning, ...rest } = message
  return rest
}

const check = (
  { keep = 3, trigger = 100_000 }: Options,
  name: string
): Result.Result<{ readonly keep: number; readonly trigger: number }, ConfigError> =>
  Result.map(counts(name, { keep, trigger }), () => ({ keep, trigger }))
