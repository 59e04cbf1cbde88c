/**
 * The hook behind tool search. It knows which definitions an agent has read, turns calls through `call_tool` into calls
 * of the tools themselves, so that everything that guards tools sees them, and shows the model its calls as it wrote
 * them.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { Json, JsonObject } from "@belay/core/Json"
import type { AssistantMessage, Message, ToolCall } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import * as Schema from "effect/Schema"

export const searchTool = "search_tools"
export const callTool = "call_tool"
export const searchDescription = "Finds tools by what they do. Returns their definitions. Call them with call_tool."
export const callDescription = "Calls a tool that search_tools has found, with arguments that fit its definition."

/**
 * Whether a tool is one of the two. They return definitions and do nothing else: calls of other tools through
 * `call_tool` have the names of these tools.
 */
export const isSearch = ({ description, name }: ToolMeta): boolean =>
  (name === searchTool && description === searchDescription) ||
  (name === callTool && description === callDescription)

/** The tools whose definitions this agent has read, in the order in which it read them. */
const loaded = HookState.ownKey("loadedTools", Schema.Array(Schema.String), [])

/** More names do not fit into the state. Those that were read first are forgotten. */
const maxLoaded = 400

/** What the hook and the two tools share. */
export interface SearchSetup {
  /** The names of the tools that are found by search. */
  readonly deferred: ReadonlySet<string>
  /** Takes the definitions, which the runtime reads from the schemas of the tools. */
  readonly learn: (tools: () => ReadonlyArray<ToolMeta>) => void
}

/** Makes the hook with which the vendor of the model searches. */
export const vendorHook = (): AgentHook => ({
  name: "tool-search",
  tier: "agent",
  priority: 10_000,
  identity: { kind: "tool-search", options: "vendor" },
  preLlmCall: ({ parameters, ...request }) =>
    HookAction.transform({
      ...request,
      parameters: { ...parameters, hostedTools: [...(parameters.hostedTools ?? []), { type: "tool-search" }] }
    })
})

/** Makes the hook. Every agent has its own, because every agent reads for itself. */
export const searchHook = ({ deferred, learn }: SearchSetup): AgentHook => {
  const wrapped = new WeakMap<Message, Message>()
  const show = (message: Message): Message => {
    if (message.role !== "assistant" && message.role !== "tool") return message
    const known = wrapped.get(message)
    if (known !== undefined) return known
    const made = message.role === "assistant"
      ? showCalls(message, deferred)
      : deferred.has(message.toolName)
      ? { ...message, toolName: callTool }
      : message
    wrapped.set(message, made)
    return made
  }
  return {
    name: "tool-search",
    tier: "agent",
    // It is the last before the model, and the first after it.
    priority: 10_000,
    identity: { kind: "tool-search", options: [...deferred] },
    preLlmCall: (request) => {
      let isChanged = false
      const messages = request.messages.map((message) => {
        const shown = show(message)
        isChanged ||= shown !== message
        return shown
      })
      return isChanged ? HookAction.transform({ ...request, messages }) : undefined
    },
    postLlmCall: ({ response }, ctx) => {
      const { toolCalls } = response
      if (toolCalls.length === 0) return undefined
      const known = new Set(ctx.local.get(loaded(ctx.hook)))
      let isChanged = false
      const calls = toolCalls.map((call) => {
        const meant = meantBy(call, deferred, known, ctx)
        isChanged ||= meant !== call
        return meant
      })
      return isChanged ? HookAction.transform({ ...response, toolCalls: calls }) : undefined
    },
    preToolCall: ({ name }, ctx) => {
      if (name === searchTool || name === callTool) learn(() => ctx.tools)
    },
    postToolCall: ({ call: { args, name }, result }, ctx) => {
      const names = name === searchTool && result.ok
        ? namesIn(result.output, deferred)
        // The error of `call_tool` has the definition.
        : name === callTool
        ? [readCall(args).name ?? ""].filter((one) => deferred.has(one))
        : []
      if (names.length > 0) {
        ctx.local.update(
          loaded(ctx.hook),
          (all) => [...all.filter((one) => !names.includes(one)), ...names].slice(-maxLoaded)
        )
      }
    },
    // The definitions may have left the conversation.
    postCompaction: (_event, ctx) => {
      if (ctx.local.get(loaded(ctx.hook)).length > 0) ctx.local.set(loaded(ctx.hook), [])
    }
  }
}

/** The call that the model means: of the tool itself if it has read the definition, else of `call_tool`. */
const meantBy = (
  call: ToolCall,
  deferred: ReadonlySet<string>,
  known: ReadonlySet<string>,
  ctx: HookContext
): ToolCall => {
  if (deferred.has(call.name)) {
    return known.has(call.name) ? call : { ...call, name: callTool, args: { name: call.name, arguments: call.args } }
  }
  if (call.name !== callTool) return call
  const { args, name } = readCall(call.args)
  if (name === undefined || args === undefined || name === callTool) return call
  const isOther = !deferred.has(name) && ctx.tools.some((tool) => tool.name === name)
  return known.has(name) || isOther ? { ...call, name, args } : call
}

/** Reads the arguments of `call_tool`. Models also write the inner arguments as a text. */
export const readCall = (given: Json): { readonly name?: string; readonly args?: JsonObject } => {
  if (!isObject(given)) return {}
  const { arguments: inner = {}, name } = given
  const args = isObject(inner) ? inner : typeof inner === "string" ? parse(inner) : undefined
  return { ...(typeof name === "string" ? { name } : {}), ...(args === undefined ? {} : { args }) }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

const parse = (text: string): JsonObject | undefined => {
  const decoded = decodeObject(text)
  return decoded._tag === "Some" ? decoded.value as JsonObject : undefined
}

/** The calls of a message as the model wrote them. */
const showCalls = (message: AssistantMessage, deferred: ReadonlySet<string>): AssistantMessage => {
  const { toolCalls = [] } = message
  if (toolCalls.every(({ name }) => !deferred.has(name))) return message
  return {
    ...message,
    toolCalls: toolCalls.map((call) => {
      if (!deferred.has(call.name)) return call
      const wrap = (args: Json): Json => ({ name: call.name, arguments: args })
      const { changed } = call
      return {
        ...call,
        name: callTool,
        args: wrap(call.args),
        ...(changed?.asked === undefined ? {} : { changed: { ...changed, asked: wrap(changed.asked) } })
      }
    })
  }
}

/** The names of the definitions in a result of the search. */
const namesIn = (output: Json, deferred: ReadonlySet<string>): ReadonlyArray<string> => {
  const tools = isObject(output) ? output["tools"] : undefined
  return Array.isArray(tools)
    ? tools.flatMap((tool: Json) => {
      const name = isObject(tool) ? tool["name"] : undefined
      return typeof name === "string" && deferred.has(name) ? [name] : []
    })
    : []
}
