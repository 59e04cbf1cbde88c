/**
 * Agents of the OpenAI Agents SDK inside the guard: their tools, their models and the agents to which they hand over.
 */
import type { LlmResponse } from "@belay/core/LlmCall"
import {
  Agent,
  type AgentConfiguration,
  Handoff,
  handoff,
  type Model,
  type ModelProvider,
  type ModelRequest
} from "@openai/agents"
import { type Checked, refusal } from "../answer.ts"
import type { Place } from "../place.ts"
import { TurnInput } from "../turnInput.ts"
import { GuardedModel } from "./model.ts"
import { GuardedTools, ofGuardedAgent } from "./tools.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- the context and the output of an agent are those of the program
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
  /** The agents to which the conversation can go, by the names of the tools that hand it over. */
  private readonly targets = new Map<string, string>()

  constructor(place: Place, known: ConstructorParameters<typeof GuardedTools>[1]) {
    this.place = place
    this.input = new TurnInput(place)
    this.tools = new GuardedTools(place, known)
  }

  /** Returns the agent inside the guard. The given one is not changed. */
  agent<A extends AnyAgent>(given: A): A {
    if (this.own.has(given)) return given
    const known = this.agents.get(given)
    // A copy has the same types as the agent from which it was made.
    if (known !== undefined) return known as A
    const { handoffs, model, tools } = given
    const made = new GuardedAgent(this, {
      ...given,
      tools: this.tools.wrap(tools),
      model: typeof model === "string" ? model : this.model(model)
    })
    this.agents.set(given, made)
    this.own.add(made)
    made.handoffs = handoffs.map((one) => this.handoff(one instanceof Handoff ? one : handoff(one as AnyAgent)))
    return made as AnyAgent as A
  }

  private handoff(given: AnyHandoff): AnyHandoff {
    const agent = this.agent(given.agent as AnyAgent)
    this.targets.set(given.toolName, given.agentName)
    const { onInvokeHandoff } = given
    const made = given.clone({
      onInvokeHandoff: async (context, args) => this.agent(await onInvokeHandoff.call(given, context, args) as AnyAgent)
    })
    made.agent = agent
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
  private async check({ handoffs }: ModelRequest, response: LlmResponse): Promise<Checked> {
    for (const { id } of response.toolCalls) this.tools.seen.add(id)
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
    return refused.size === 0 ? response : refusal(response, refused)
  }
}

/** An agent whose tools are guarded, also those that it finds when it runs. Its copies are guarded too. */
class GuardedAgent extends Agent<unknown, "text"> {
  private readonly guarded: GuardedAgents

  constructor(guarded: GuardedAgents, config: AgentConfiguration<unknown, "text">) {
    super(config)
    this.guarded = guarded
    // It must not be copied as an option of the agent.
    Object.defineProperty(this, "guarded", { enumerable: false })
    const asTool = (options: never) => ofGuardedAgent(super.asTool(options))
    Object.defineProperty(this, "asTool", { value: asTool })
  }

  override async getAllTools(...given: Parameters<Agent<unknown, "text">["getAllTools"]>) {
    return this.guarded.wrapTools(await super.getAllTools(...given))
  }

  override clone(config: Partial<AgentConfiguration<unknown, "text">>): Agent<unknown, "text"> {
    return this.guarded.agent(super.clone(config))
  }
}
