/** Tools of the OpenAI Agents SDK inside the guard. */
import { ConfigError } from "@belay/core/AgentError"
import type { Json } from "@belay/core/Json"
import { ToolWaits } from "@belay/core/ToolWaits"
import type { FunctionTool, RunContext, Tool } from "@openai/agents"
import * as Result from "effect/Result"
import { jsonOf, sameJson } from "../json.ts"
import type { Described, Place } from "../place.ts"
import { notOpen } from "../questionText.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- its context and its parameters are those of the program
type AnyFunction = FunctionTool<any, any, any>
type Details = Parameters<AnyFunction["invoke"]>[2]

interface AgentTool {
  /** Makes the tool again. */
  readonly make: () => AnyFunction
  /** The calls of the agent that wait for a person. */
  readonly asked: ReadonlySet<string>
}

/** The tools behind which is a guarded agent. */
const agentTools = new WeakMap<object, AgentTool>()

/** Makes a tool of a guarded agent, and notes that the agent behind it is guarded. */
export const ofGuardedAgent = <Tool extends AnyFunction>(make: () => Tool, asked: ReadonlySet<string>): Tool => {
  const tool = make()
  agentTools.set(tool, { make, asked })
  return tool
}

/** Whether an agent is behind a tool. Only such tools have listeners for its events. */
const isAgentTool = (tool: object): boolean => "on" in tool && typeof tool.on === "function"

/** A class, because it keeps what was wrapped. */
export class GuardedTools {
  private readonly place: Place
  private readonly known: Map<string, Described>
  private readonly wrapped = new WeakSet<object>()
  /** The ids of the calls in answers that the guard has seen. */
  readonly seen = new Set<string>()
  /** The ids of calls that wait for a person. */
  readonly asked = new Set<string>()

  constructor(place: Place, known: Map<string, Described>) {
    this.place = place
    this.known = known
  }

  /** Wraps the functions. Tools that the SDK runs in another way are refused, unless the program accepts the gap. */
  wrap<Context>(tools: ReadonlyArray<Tool<Context>>): Array<Tool<Context>> {
    return tools.map((tool) => {
      if (tool.type === "function") {
        if (this.wrapped.has(tool)) return tool
        this.checkAgent(tool)
        return this.wrapFunction(tool)
      }
      if (tool.type === "hosted_tool" || this.place.guard.allowUnguarded.includes(tool.type)) return tool
      throw new ConfigError({
        key: `tools.${tool.name}`,
        message: `tools.${tool.name}: the guard cannot stop a tool of type ${tool.type}. Make it a function tool, ` +
          `or accept the gap: allowUnguarded: ["${tool.type}"]`
      })
    })
  }

  /** Whether a tool with this name is wrapped. */
  has(name: string): boolean {
    return this.known.has(name)
  }

  private checkAgent(tool: AnyFunction): void {
    const { name } = tool
    if (!isAgentTool(tool) || agentTools.has(tool) || this.place.guard.allowUnguarded.includes(name)) return
    throw new ConfigError({
      key: `tools.${name}`,
      message: `tools.${name}: the agent behind it is not guarded. Give it a conversation of its own, ` +
        "OpenAiAgents.make(guard, { parent: guarded.session }).agent(agent).asTool(...), " +
        `or accept the gap: allowUnguarded: ["${name}"]`
    })
  }

  private wrapFunction(tool: AnyFunction): AnyFunction {
    const { description, name, parameters } = tool
    this.known.set(name, { description, inputSchema: jsonOf(parameters) as never })
    // The SDK knows by its identity which agent is behind a tool, and finds that agent when a run is continued.
    const made: AnyFunction = Object.assign(agentTools.get(tool)?.make() ?? {}, tool, {
      needsApproval: async (context: RunContext, input: unknown, callId?: string) => {
        const isAsked = callId !== undefined && await this.asks(callId, name, input)
        const asks = isAsked || await tool.needsApproval(context, input, callId)
        if (asks && callId !== undefined) this.asked.add(callId)
        return asks
      },
      invoke: (context: RunContext, input: string, details?: Details) => this.invoke(tool, context, input, details)
    })
    this.wrapped.add(made)
    return made
  }

  /** Whether a person has to decide about a call. */
  private async asks(id: string, name: string, input: unknown): Promise<boolean> {
    const { place, place: { session } } = this
    const verdict = await session.toolCall({ id, name, args: argsOf(input), tool: await place.toolOf(name) })
    return verdict.type === "ask"
  }

  /** Runs a tool if the guard allows it. What the model has to read instead is the result. */
  private async invoke(
    tool: AnyFunction,
    context: RunContext,
    input: string,
    details: Details
  ): Promise<unknown> {
    const { place, place: { session } } = this
    const { name } = tool
    const id = details?.toolCall?.callId ?? crypto.randomUUID()
    this.asked.delete(id)
    const args = argsOf(input)
    const described = await place.toolOf(name)
    const approval = await this.takeApproval(id)
    if (approval !== "none" && approval !== "approved") return approval
    if (!this.isSeen(name, id, context, details)) {
      return "not run: the guard has not seen the model of this agent. Run the agent with guarded.runner()"
    }
    let output: unknown
    let waits = false
    const verdict = await session.callTool({ id, name, args, tool: described }, async (allowed) => {
      place.ran.add(id)
      // The turn may have been cancelled while the guard was deciding.
      details?.signal?.throwIfAborted()
      output = await tool.invoke(
        context,
        sameJson(allowed, args) ? input : JSON.stringify(allowed),
        details
      )
      // The SDK runs the agent again, when a person has answered what it has asked.
      waits = output === "" && (agentTools.get(tool)?.asked.size ?? 0) > 0
      if (waits) throw new ToolWaits()
      return jsonOf(output)
    })
    if (waits) {
      this.asked.add(id)
      return output
    }
    place.ran.add(id)
    switch (verdict.type) {
      case "allow": {
        const { result } = verdict
        if (!result.ok) return result.error
        // What no hook has changed goes on as the tool gave it, whatever its type is.
        return sameJson(jsonOf(output), result.output) ? output : result.output
      }
      case "ask":
        return `not run: ${notOpen(place, { id, name })}`
      default:
        return verdict.reason
    }
  }

  /** After a restart, the model has been asked in another process. The state of the run says that the call waited. */
  private isSeen(toolName: string, callId: string, context: RunContext, details: Details): boolean {
    return this.seen.has(callId) || details?.resumeState !== undefined ||
      context.isToolApproved({ toolName, callId }) === true
  }

  /** The SDK runs a call about which the guard has asked only after somebody has approved it. */
  private async takeApproval(id: string): Promise<"none" | "approved" | (string & {})> {
    const { by, session } = this.place
    if (!(await session.pending()).some(({ callId }) => callId === id)) return "none"
    try {
      const verdict = await session.decide(id, { type: "approve", ...by })
      return verdict.type === "ask" ? `not run: more people have to approve: ${verdict.question.reason}` : "approved"
    } catch (error) {
      if (error instanceof Error && "problem" in error) return `not run: ${error.message}`
      throw error
    }
  }
}

const argsOf = (input: unknown): Json => {
  if (typeof input !== "string") return jsonOf(input)
  const read = Result.try(() => JSON.parse(input === "" ? "{}" : input) as Json)
  return Result.isSuccess(read) ? read.success : input
}
