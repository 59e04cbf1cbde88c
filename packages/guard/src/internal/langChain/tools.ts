/** Tools of LangChain inside the guard. */
import { ConfigError } from "@belay/core/AgentError"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import { ToolWaits } from "@belay/core/ToolWaits"
import { ToolMessage } from "@langchain/core/messages"
import type { StructuredToolInterface } from "@langchain/core/tools"
import { toJsonSchema } from "@langchain/core/utils/json_schema"
import { type Command, isCommand, isGraphBubbleUp, isGraphInterrupt } from "@langchain/langgraph"
import * as Result from "effect/Result"
import type { createMiddleware } from "langchain"
import { answerOfTool } from "../answer.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Described, Place } from "../place.ts"
import { contentOf, resultOf } from "./messages.ts"
import { askPerson } from "./questions.ts"
import { ShownResult } from "./shown.ts"

type WrapToolCall = NonNullable<Parameters<typeof createMiddleware>[0]["wrapToolCall"]>

/** A class, because reading a schema takes much longer than a call. */
export class KnownTools {
  /** The ids of the calls in answers that the guard has seen. */
  readonly seen = new Set<string>()
  /** The names of the tools of a graph that are wrapped. */
  readonly guarded = new Set<string>()
  private readonly tools = new Map<string, Described>()
  private readonly read = new WeakSet<object>()

  /** Makes a tool known. Tools of the vendor have no name of their own, and nobody here can stop them. */
  add(tool: unknown): void {
    if (typeof tool !== "object" || tool === null || this.read.has(tool)) return
    const { description, name, schema } = tool as { readonly [key: string]: unknown }
    if (typeof name !== "string") return
    this.read.add(tool)
    const found = Result.try(() => jsonOf(toJsonSchema(schema as never)) as JsonObject)
    this.tools.set(name, {
      ...(typeof description === "string" ? { description } : {}),
      ...(Result.isSuccess(found) ? { inputSchema: found.success } : {})
    })
  }

  readonly describe = (name: string): Promise<Described> => Promise.resolve(this.tools.get(name) ?? {})

  /** Returns the tools as a request to the model has them. */
  described(tools: ReadonlyArray<unknown>): LlmRequest["tools"] {
    return tools.flatMap((tool) => {
      const name = (tool as { readonly name?: unknown }).name
      if (typeof name !== "string") return []
      const { description = "", inputSchema = { type: "object" } } = this.tools.get(name) ?? {}
      return [{ name, description, inputSchema }]
    })
  }
}

/** A call, and what runs it. */
interface Running {
  readonly id: string
  readonly name: string
  readonly args: Json
  readonly signal: AbortSignal | undefined
  /** Whether the result is the answer of the turn. */
  readonly isAnswer?: boolean
  readonly run: (args: Json, shown: ShownResult) => Promise<unknown>
}

/** Wraps the tool calls of an agent. */
export const wrapToolCall = (place: Place, known: KnownTools): WrapToolCall => async (request, handler) => {
  const { runtime, tool, toolCall } = request
  known.add(tool)
  return await runTool(place, {
    id: toolCall.id ?? crypto.randomUUID(),
    name: toolCall.name,
    args: jsonOf(toolCall.args),
    signal: runtime.signal,
    isAnswer: Object(tool).returnDirect === true,
    // The arguments of a tool are an object; the type of JSON is wider.
    run: async (args, shown) =>
      await handler({ ...request, tool: shown.tool(tool), toolCall: { ...toolCall, args: args as never } })
  })
}

/** Runs a tool if the guard allows it. What the model has to read instead is the result. */
const runTool = async (place: Place, running: Running): Promise<ToolMessage | Command> => {
  const shown = new ShownResult(place.acts("postToolCall", "wrapToolCall"))
  try {
    const given = await guardedResult(place, running, shown)
    const result = running.isAnswer && ToolMessage.isInstance(given) && given.status !== "error"
      ? await asAnswer(place, given)
      : given
    await shown.show(result)
    return result
  } catch (error) {
    await shown.show(error)
    throw error
  }
}

const asAnswer = async (place: Place, result: ToolMessage): Promise<ToolMessage> => {
  const text = await answerOfTool(place, result.text)
  return text === result.text ? result : resultOf(result.tool_call_id, result.name ?? "", text)
}

const guardedResult = async (
  place: Place,
  { args, id, name, run, signal }: Running,
  shown: ShownResult
): Promise<ToolMessage | Command> => {
  const call = { id, name, args, tool: await place.toolOf(name) }
  const refused = await askPerson(place, call)
  place.denied.delete(id)
  if (refused !== undefined) {
    place.answered.delete(id)
    place.denied.add(id)
    return resultOf(id, name, refused, true)
  }
  let given: unknown
  let json: Json | undefined
  let waits: Error | undefined
  const verdict = await place.session.callTool(call, async (allowed) => {
    place.ran.add(id)
    // The turn may have been cancelled while the guard was deciding.
    signal?.throwIfAborted()
    try {
      given = await run(sameJson(allowed, args) ? args : allowed, shown)
    } catch (error) {
      // A graph inside the tool waits for a person.
      waits = isGraphBubbleUp(error) ? error : undefined
      throw isGraphInterrupt(error) ? new ToolWaits() : error
    }
    if (ToolMessage.isInstance(given) && given.status === "error") throw new Error(given.text)
    json = ToolMessage.isInstance(given) ? contentOf(given) : jsonOf(given)
    return json
  })
  if (waits !== undefined) {
    place.answered.set(id, place.answered.get(id) ?? false)
    throw waits
  }
  place.answered.delete(id)
  signal?.throwIfAborted()
  place.ran.add(id)
  if (verdict.type === "ask") return resultOf(id, name, `not run yet: ${verdict.question.reason}`, true)
  if (verdict.type !== "allow") return resultOf(id, name, verdict.reason, true)
  const { result } = verdict
  if (!result.ok) return resultOf(id, name, result.error, true)
  // What no hook has changed goes on as the tool gave it.
  const isSame = json !== undefined && sameJson(json, result.output)
  return isSame && (ToolMessage.isInstance(given) || isCommand(given))
    ? given
    : resultOf(id, name, result.output)
}

const guarded = new WeakSet<object>()

/** Throws a `ConfigError` if one of the tools is wrapped already. */
export const checkPlain = (tools: unknown): void => {
  for (const tool of Array.isArray(tools) ? tools as ReadonlyArray<unknown> : []) {
    if (typeof tool === "object" && tool !== null && guarded.has(tool)) throw twice(String(Object(tool).name))
  }
}

const twice = (name: string): ConfigError =>
  new ConfigError({ key: `tools.${name}`, message: `tools.${name}: it is guarded already: wrap each tool once` })

/** Returns tools for graphs that run them themselves. Each stays an instance of its class, with another `invoke`. */
export const guardTool = <T extends StructuredToolInterface>(place: Place, known: KnownTools, tool: T): T => {
  if (typeof Object(tool).invoke !== "function") {
    throw new ConfigError({ key: "tools", message: "tools: expected tools of LangChain, which have a function" })
  }
  const { name } = tool
  if (guarded.has(tool)) throw twice(name)
  known.add(tool)
  known.guarded.add(name)
  const invoke = async (input: unknown, config?: { readonly signal?: AbortSignal }): Promise<unknown> => {
    const call = callOf(input)
    const id = call?.id ?? crypto.randomUUID()
    if (call === undefined || !(await isSeen(place, known, id))) {
      return resultOf(
        id,
        name,
        "not run: the guard has not seen the model of this graph. Use guarded.model(model)",
        true
      )
    }
    return await runTool(place, {
      id,
      name,
      args: jsonOf(call.args),
      signal: config?.signal,
      run: async (args, shown) => await tool.invoke({ ...call, args: args as never }, shown.inside(config) as never)
    })
  }
  const made = Object.create(tool, { invoke: { value: invoke }, call: { value: invoke } }) as T
  guarded.add(made)
  return made
}

interface Call {
  readonly id?: string
  readonly args: unknown
  readonly type: "tool_call"
  readonly name: string
}

const callOf = (input: unknown): Call | undefined =>
  typeof input === "object" && input !== null && "type" in input && input.type === "tool_call"
    ? input as unknown as Call
    : undefined

/** After a restart, the model has been asked in another process. A question that is open there says so. */
const isSeen = async ({ session }: Place, { seen }: KnownTools, id: string): Promise<boolean> =>
  seen.has(id) || (await session.pending()).length > 0
