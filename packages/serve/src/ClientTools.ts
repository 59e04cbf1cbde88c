/**
 * Lets a client bring its own tools: the model sees them beside those of the agent, and a call of one suspends the turn
 * until the client sends the result.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookState from "@belay/core/HookState"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message, ToolCall } from "@belay/core/Message"
import type { Plugin } from "@belay/core/Plugin"
import type { ToolMeta } from "@belay/core/Tool"
import * as Schema from "effect/Schema"

/** A tool that the client runs. @category models @since 0.1.0 */
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
}

/**
 * The name of the tool that stands for all tools of clients, in hooks, in questions and in the stored conversation. Its
 * arguments are `{ name, args }`. The model sees the names that the client gave.
 *
 * @category constants
 * @since 0.1.0
 */
export const toolName = "client_tool"

/** The key of the tools in the metadata of a turn's input. @category constants @since 0.1.0 */
export const metadataKey = "belay.clientTools"

/** The name of the plugin and of its hook. @category constants @since 0.1.0 */
export const hookName = "client-tools"

/** A call of a client's tool. @category models @since 0.1.0 */
export interface ClientCall {
  readonly name: string
  readonly args: Json
}

/** Reads the arguments of `client_tool`, or returns nothing for other values. @category reading @since 0.1.0 */
export const callOf = (args: Json): ClientCall | undefined =>
  typeof args === "object" && args !== null && "name" in args && typeof args.name === "string"
    ? { name: args.name, args: args["args"] ?? {} }
    : undefined

const Tools = Schema.Array(Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  inputSchema: Schema.Record(Schema.String, Schema.Json)
}))
const isTools = Schema.is(Tools)

const known = HookState.ownKey("tools", Tools, [])

/**
 * Makes the plugin. Add it to the `plugins` of an agent whose host is served with `clientTools: true`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Plugin => ({ name: hookName, tools: [tool], hooks: [hook] })

const tool = defineTool({
  name: toolName,
  description: "Runs a tool of the client.",
  input: { type: "object", properties: { name: { type: "string" }, args: {} }, required: ["name"] },
  execute: () => "the tool was not run, because only the client can run it"
})

const hook: AgentHook = {
  name: hookName,
  kind: "policy",
  tools: toolName,
  preTurn: ({ metadata, steer }, { hook, local, tools }) => {
    if (steer === true) return undefined
    // The value is checked in the next line.
    const given = metadata?.[metadataKey] as unknown ?? []
    if (!isTools(given)) return HookAction.reject("the tools of the client are not valid")
    const taken = given.find(({ name }) => tools.some((tool) => tool.name === name))
    if (taken !== undefined) {
      return HookAction.reject(`the agent has a tool named "${taken.name}": give the tool of the client another name`)
    }
    // A turn without tools, the usual case, writes nothing.
    if (given.length > 0 || local.get(known(hook)).length > 0) local.set(known(hook), given)
    return undefined
  },
  preLlmCall: (request, { hook, local }) => HookAction.transform(shownTo(request, local.get(known(hook)))),
  postLlmCall: ({ response }, { hook, local }) => {
    const mine = local.get(known(hook))
    const isMine = ({ name }: ToolCall) => mine.some((tool) => tool.name === name)
    if (!response.toolCalls.some(isMine)) return undefined
    const toolCalls = response.toolCalls.map((call) => isMine(call) ? wrapped(call) : call)
    return HookAction.transform({ ...response, toolCalls })
  },
  preToolCall: ({ args }, { hook, local }) => {
    const call = callOf(args)
    return call !== undefined && local.get(known(hook)).some(({ name }) => name === call.name)
      ? HookAction.ask(`the client runs ${call.name}`, null, { allowed: ["respond", "deny"], standing: "none" })
      : HookAction.reject(`unknown tool "${call?.name ?? ""}"`)
  }
}

const wrapped = ({ args, id, metadata, name }: ToolCall): ToolCall => ({
  id,
  name: toolName,
  args: { name, args },
  ...(metadata === undefined ? {} : { metadata })
})

/** Shows the tools of the client in place of `client_tool`. */
const shownTo = (request: LlmRequest, tools: ReadonlyArray<ToolMeta>): LlmRequest => ({
  ...request,
  tools: [...request.tools.filter(({ name }) => name !== toolName), ...tools],
  messages: namesOfClient(request.messages)
})

/** Returns the messages with the names that the client gave. */
const namesOfClient = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const names = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === "assistant" && message.toolCalls?.some(({ name }) => name === toolName) === true) {
      const toolCalls = message.toolCalls.map((call) => {
        const real = call.name === toolName ? callOf(call.args) : undefined
        if (real === undefined) return call
        names.set(call.id, real.name)
        return { ...call, ...real }
      })
      return { ...message, toolCalls }
    }
    const name = message.role === "tool" ? names.get(message.toolCallId) : undefined
    return message.role === "tool" && name !== undefined ? { ...message, toolName: name } : message
  })
}
