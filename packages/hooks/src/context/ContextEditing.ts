/**
 * Clears old tool results and old reasoning in the requests to the model.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Message } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { taskIndex, tokensOf } from "./internal/messageUnits.ts"

/** Options of `ContextEditing.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** A request with more tokens than this is edited. Default 100,000. */
  readonly trigger?: number
  /** How many of the latest results stay. Default 3. */
  readonly keep?: number
  /** Tools whose results stay; `*` stands for any characters. Default none. */
  readonly excludeTools?: string | ReadonlyArray<string>
  /** The text that replaces a result. Default `[cleared]`. */
  readonly placeholder?: string
  /** Whether the arguments of these calls are cleared too. Default false. */
  readonly clearToolInputs?: boolean
  /** Whether the reasoning of earlier turns is removed too. Default true. */
  readonly clearReasoning?: boolean
  /** Counts tokens. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  trigger: "number",
  keep: "number",
  excludeTools: "texts",
  placeholder: "text",
  clearToolInputs: "flag",
  clearReasoning: "flag",
  tokenizer: "object"
}

/**
 * Clears the results of old tool calls when a request is long. The calls themselves stay, so that the model knows what
 * it did and can repeat it; the conversation itself stays complete. Throws a `ConfigError` for an invalid number.
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
  HookDefaults.checkKinds("context-editing", options, optionKinds)
  const { clearReasoning = true, clearToolInputs = false, placeholder = "[cleared]", tokenizer = byLength } = options
  const { keep = 3, name = "context-editing", trigger = 100_000 } = options
  Result.getOrThrow(checkOptions(name, whole("keep", keep), whole("trigger", trigger)))
  const isExcluded = matcher(options.excludeTools ?? [])
  return HookDefaults.apply(options, {
    name,
    priority: 810,
    preLlmCall: (request) => {
      const { messages } = request
      let tokens = tokenizer.count(request.instructions ?? "")
      for (const message of messages) tokens += tokensOf(message, tokenizer)
      if (tokens <= trigger) return undefined
      const results = messages.flatMap((message) =>
        message.role === "tool" && !isExcluded(message.toolName) ? [message.toolCallId] : []
      )
      const cleared = new Set(results.slice(0, Math.max(0, results.length - keep)))
      const turn = taskIndex(messages)
      const edited = messages.map((message, index): Message => {
        if (message.role === "tool") {
          const isCleared = cleared.has(message.toolCallId) && message.content !== placeholder
          return isCleared ? { ...message, content: placeholder } : message
        }
        if (message.role !== "assistant") return message
        const withInputs = clearToolInputs ? withoutInputs(message, cleared) : message
        return clearReasoning && index < turn ? withoutReasoning(withInputs) : withInputs
      })
      const isSame = edited.every((message, index) => message === messages[index])
      return isSame ? undefined : HookAction.transform({ ...request, messages: edited })
    }
  })
}

type Assistant = Extract<Message, { readonly role: "assistant" }>

const withoutInputs = (message: Assistant, cleared: ReadonlySet<string>): Assistant => {
  if (!message.toolCalls?.some(({ id }) => cleared.has(id))) return message
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => {
      if (!cleared.has(call.id)) return call
      const { malformed: _malformed, ...rest } = call
      return { ...rest, args: {} }
    })
  }
}

const withoutReasoning = (message: Assistant): Assistant => {
  if (message.reasoning === undefined) return message
  const { reasoning: _reasoning, ...rest } = message
  return rest
}
