/**
 * Agents of the OpenAI Agents SDK inside the guard: their tools, their models and the agents to which they hand over.
 */
import { ConfigError } from "@belay/core/AgentError"
import type { LlmResponse } from "@belay/core/LlmCall"
import {
  Agent,
  type AgentConfiguration,
  Handoff,
  handoff,
  type Model,
  type ModelProvider,
  type ModelRequest,
  RunState
} from "@openai/agents"
import { answerOfTool, type Checked, refusal } from "../answer.ts"
import type { Place } from "../place.ts"
import { TurnInput } from "../turnInput.ts"
import { refuseUnguarded } from "../unguarded.ts"
import { GuardedModel } from "./model.ts"
import { GuardedTools, ofGuardedAgent } from "./tools.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- its context and its output are those of the program
type AnyAgent = Agent<any, any>
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type AnyHandoff = Handoff<any, any>

/** A class, because agents may hand over to each other in a circle. */
export class GuardedAgents {
  private readonly place: Place
  private readonly tools: GuardedTools
  private readonly input: TurnInput
  private readonly agents = new WeakMap<AnyAgent, AnyAgent>()
  private readonly own = new WeakSet<AnyAgent>()
  private readonly handoffs = new WeakSet<AnyHandoff>()
  /** The agents to which the conversation can go, by the names of the tools that hand it over. */
  private readonly targets = new Map<string, string>()

  constructor(place: Place, known: ConstructorParameters<typeof GuardedTools>[1]) {
    this.place = place
    this.input = new TurnInput(place)
    this.tools = new GuardedTools(place, known)
  }

  /** The ids of calls that wait for a person. */
  get asked(): ReadonlySet<string> {
    return this.tools.asked
  }

  /** Returns the agent inside the guard. The given one is not changed. */
  agent<A extends AnyAgent>(given: A): A {
    if (this.own.has(given)) return given
    const known = this.agents.get(given)
    // A copy has the same types as the agent from which it was made.
    if (known !== undefined) return known as A
    const { handoffs, model, toolUseBehavior, tools } = given
    const made = new GuardedAgent(this, {
      ...given,
      handoffs: [],
      toolUseBehavior: this.ending(toolUseBehavior),
      tools: this.tools.wrap(tools),
      model: typeof model === "string" ? model : this.model(model)
    })
    this.agents.set(given, made)
    this.own.add(made)
    this.guardHandoffs(made, handoffs)
    return made as AnyAgent as A
  }

  /** Guards the agents to which an agent hands over, also those that the program adds later. */
  private guardHandoffs(made: AnyAgent, given: AnyAgent["handoffs"]): void {
    const one = (next: unknown): unknown => {
      if (next instanceof Handoff) return this.handoff(next)
      return next instanceof Agent ? this.handoff(handoff(next as AnyAgent)) : next
    }
    const list = (all: AnyAgent["handoffs"]) =>
      new Proxy(all.map(one), {
        set: (target, key, value: unknown) => Reflect.set(target, key, one(value))
      })
    let handoffs = list(given)
    Object.defineProperty(made, "handoffs", {
      enumerable: true,
      get: () => handoffs,
      set: (all: AnyAgent["handoffs"]) => {
        handoffs = list(all)
      }
    })
  }

  /** The result of a tool may be the answer of the turn, which hooks have to accept. */
  private ending(given: Ending): Ending {
    if (given === "run_llm_again" || ended.has(Object(given) as object)) return given
    const made: Ending = async (context, results) => {
      const end = await endOf(given, context, results)
      if (!end.isFinalOutput) return end
      const finalOutput = await answerOfTool(this.place, end.finalOutput)
      this.input.end()
      return { ...end, finalOutput }
    }
    ended.add(made)
    return made
  }

  private handoff(given: AnyHandoff): AnyHandoff {
    if (this.handoffs.has(given)) return given
    const agent = this.agent(given.agent as AnyAgent)
    this.targets.set(given.toolName, given.agentName)
    const { onInvokeHandoff } = given
    const made = given.clone({
      onInvokeHandoff: async (context, args) => this.agent(await onInvokeHandoff.call(given, context, args) as AnyAgent)
    })
    made.agent = agent
    this.handoffs.add(made)
    return made
  }

  /** Returns the model inside the guard. */
  model(given: Model): Model {
    if (given instanceof GuardedModel) return given
    return new GuardedModel(
      this.place,
      this.input,
      given,
      (request, response) => this.check(request, response)
    )
  }

  /** Returns a source of models whose models are inside the guard. */
  provider(given: ModelProvider): ModelProvider {
    return { getModel: async (name) => this.model(await given.getModel(name)) }
  }

  /** Wraps what an agent finds when it runs, such as the tools of MCP servers. */
  wrapTools(tools: Awaited<ReturnType<AnyAgent["getAllTools"]>>): Awaited<ReturnType<AnyAgent["getAllTools"]>> {
    return this.tools.wrap(tools)
  }

  /** Asks the guard before the conversation goes to another agent. */
  private async check({ handoffs, input, tools }: ModelRequest, response: LlmResponse): Promise<Checked> {
    // A refused call has a result, although its tool did not run.
    for (const item of typeof input === "string" ? [] : input) {
      if (item.type === "function_call_result") this.tools.asked.delete(item.callId)
    }
    for (const { id, name } of response.toolCalls) {
      this.tools.seen.add(id)
      if (tools.some((tool) => tool.type === "function" && tool.name === name) && !this.tools.has(name)) {
        refuseUnguarded(this.place, name, "run the agent that guarded.agent() returns")
      }
    }
    const calls = response.toolCalls.filter(({ name }) => handoffs.some(({ toolName }) => toolName === name))
    const refused = new Map<string, string>()
    for (const call of calls) {
      const message = typeof call.args === "string" ? call.args : JSON.stringify(call.args)
      const verdict = await this.place.session.delegation({
        agent: this.targets.get(call.name) ?? call.name,
        type: "transfer",
        message
      })
      if (verdict.type === "respond") refused.set(call.id, verdict.result.text)
      else if (verdict.type !== "allow") refused.set(call.id, verdict.reason)
      else if (JSON.stringify(verdict.delegation.message) !== JSON.stringify(message)) {
        refused.set(call.id, "a hook changed the task, which this SDK cannot pass on")
      }
    }
    if (refused.size > 0) return refusal(response, refused)
    if (calls.length > 0) this.input.handOver()
    return response
  }
}

type Ending = AnyAgent["toolUseBehavior"]
type Deciding = Extract<Ending, (...given: never) => unknown>

/** Which answers of tools hooks have to accept. */
const ended = new WeakSet<object>()

/** Decides as the SDK does whether the result of a tool ends the turn. */
const endOf = async (
  given: Ending,
  ...[context, results]: Parameters<Deciding>
): Promise<Awaited<ReturnType<Deciding>>> => {
  if (typeof given === "function") return await given(context, results)
  const found = typeof given === "object"
    ? results.find(({ tool }) => given.stopAtToolNames.includes(tool.name))
    : given === "stop_on_first_tool"
    ? results[0]
    : undefined
  if (found?.type !== "function_output") return { isFinalOutput: false, isInterrupted: undefined }
  const { output } = found
  const finalOutput = typeof output === "string" ? output : JSON.stringify(output) ?? String(output)
  return { isFinalOutput: true, isInterrupted: undefined, finalOutput }
}

/** Throws a `ConfigError` if a runner would run an agent without its guard. A state continues with its own agent. */
export const checkRun = (given: unknown, input: unknown, allowUnguarded: ReadonlyArray<string>): void => {
  const agent = input instanceof RunState ? input.currentAgent as unknown : given
  if (!(agent instanceof Agent) || agent instanceof GuardedAgent || allowUnguarded.includes(agent.name)) return
  throw new ConfigError({
    key: "agent",
    message: `agent ${agent.name}: it is not guarded: run the agent that guarded.agent() returns` +
      (input instanceof RunState ? ", and read the state with it: RunState.fromString(agent, text)" : "") +
      `, or accept the gap: allowUnguarded: ["${agent.name}"]`
  })
}

/** An agent whose tools are guarded, also those that it finds when it runs. Its copies are guarded too. */
class GuardedAgent extends Agent<unknown, "text"> {
  private readonly guarded: GuardedAgents

  constructor(guarded: GuardedAgents, config: AgentConfiguration<unknown, "text">) {
    super(config)
    this.guarded = guarded
    // It must not be copied as an option of the agent.
    Object.defineProperty(this, "guarded", { enumerable: false })
    const asTool = (options: never) => ofGuardedAgent(() => super.asTool(options), guarded.asked)
    Object.defineProperty(this, "asTool", { value: asTool })
  }

  override async getAllTools(...given: Parameters<Agent<unknown, "text">["getAllTools"]>) {
    return this.guarded.wrapTools(await super.getAllTools(...given))
  }

  override clone(config: Partial<AgentConfiguration<unknown, "text">>): Agent<unknown, "text"> {
    return this.guarded.agent(super.clone(config))
  }
}
