/** Agents of Mastra inside the guard: their models, their tools, and the agents to which they delegate. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { ToolCall } from "@belay/core/Message"
import type { ToolResult } from "@belay/core/Tool"
import { GuardedModel } from "../aiSdk/model.ts"
import { type Checked, refusal } from "../answer.ts"
import { decide } from "../decide.ts"
import { jsonOf } from "../json.ts"
import type { Place } from "../place.ts"
import { TurnInput } from "../turnInput.ts"
import { type GuardedTools, mark } from "./tools.ts"
import { type AnyModel, faceOf, newestOf } from "./version.ts"

/** What a model of the program can be. */
type Given = AnyModel | string | ReadonlyArray<{ readonly model: Given }> | ((options: never) => unknown)

/** Models, and functions that return models, which a guard has wrapped. */
const guarded = new WeakSet<object>()

/** The tools that an agent has for its agents are named after them. */
const delegates = "agent-"

/** A class, because the models of a conversation share which calls have been seen. */
export class GuardedAgents {
  private readonly place: Place
  private readonly tools: GuardedTools
  private readonly input: TurnInput

  constructor(place: Place, tools: GuardedTools) {
    this.place = place
    this.tools = tools
    this.input = new TurnInput(place, (name, args, content) => this.answerOf(name, args, content))
  }

  /** Wraps a model, the alternatives in a list, or what a function chooses. */
  model<Model>(given: Model): Model {
    if (typeof given === "function") {
      const choose = given as (options: unknown) => unknown
      const made = async (options: unknown) => this.model(await choose(options))
      guarded.add(made)
      return made as Model
    }
    if (Array.isArray(given)) {
      const made = given.map((one: { readonly model: Given }) => ({ ...one, model: this.model(one.model) }))
      guarded.add(made)
      return made as Model
    }
    const model = checked(given)
    const made = faceOf(
      model,
      new GuardedModel(this.place, this.input, newestOf(model, unmarked), (answer, tools) => this.check(answer, tools))
    )
    guarded.add(made)
    return made as Model
  }

  /** Throws a `ConfigError` that names each agent which no guard has wrapped. */
  agents(given: unknown): unknown {
    if (typeof given === "function") {
      return async (options: unknown) => this.agents(await (given as (options: unknown) => unknown)(options))
    }
    for (const [name, agent] of Object.entries(Object(given))) {
      if (isGuarded(agent) || this.place.guard.allowUnguarded.includes(name)) continue
      throw new ConfigError({
        key: `agents.${name}`,
        message: `agents.${name}: it is not guarded. Make it with a conversation of its own, ` +
          `Mastra.make(guard, { agent: "${name}", parent: guarded.session }).config(...), ` +
          `or accept the gap: allowUnguarded: ["${name}"]`
      })
    }
    return given
  }

  /** Looks at an answer: calls of tools that the SDK runs itself are decided here, because nothing else sees them. */
  private async check(response: LlmResponse, tools: LanguageModelV4CallOptions["tools"] = []): Promise<Checked> {
    const refused = new Map<string, string>()
    const calls: Array<ToolCall> = []
    for (const call of response.toolCalls) {
      this.tools.seen.add(call.id)
      const { resumeData } = Object(call.args) as { readonly resumeData?: unknown }
      if (resumeData !== undefined && resumeData !== null) {
        refused.set(call.id, "not run: a model cannot answer for a person: leave out resumeData")
      }
      const tool = tools.find((one) => one.type === "function" && one.name === call.name)
      const isOwn = tool?.type !== "function" || tool.providerOptions?.[mark] !== undefined
      if (isOwn || refused.has(call.id)) {
        calls.push(call)
        continue
      }
      this.tools.describe(call.name, {
        description: tool.description ?? "",
        inputSchema: jsonOf(tool.inputSchema) as JsonObject
      })
      const decided = await this.decide(call)
      if (typeof decided === "string") refused.set(call.id, decided)
      else calls.push(decided)
    }
    return refused.size === 0 ? { ...response, toolCalls: calls } : refusal(response, refused)
  }

  /** Returns a call as it may run, or why it must not. */
  private async decide(call: ToolCall): Promise<ToolCall | string> {
    const { guard, session } = this.place
    const { args, id, name } = call
    const isAgent = name.startsWith(delegates)
    // As in Belay, nothing confidential is revealed to another agent. Its answer is checked at `postDelegation`.
    const isElsewhere = ({ confidential, postDelegation }: AgentHook<never>) =>
      isAgent && confidential === true && postDelegation !== undefined
    if (guard.chain.hooks.some((hook) => hook.wrapToolCall !== undefined && !isElsewhere(hook))) {
      return `not run: a hook wraps calls, and the SDK runs ${name} itself`
    }
    if (isAgent) {
      const refused = await this.delegation(name.slice(delegates.length), args)
      if (refused !== undefined) return refused
    }
    const verdict = await session.toolCall({ id, name, args, tool: await this.place.toolOf(name) })
    switch (verdict.type) {
      case "allow":
        return { ...call, args: verdict.args }
      case "ask": {
        const reason = `the SDK runs ${name} itself, and nobody can be asked: ${verdict.question.reason}`
        await decide(session, id, { type: "deny", reason })
        return `not run: ${reason}`
      }
      case "respond":
        return `not run, and this is its result: ${JSON.stringify(verdict.result)}`
      default:
        return verdict.reason
    }
  }

  /** Returns what another agent has answered, as hooks leave it. */
  private async answerOf(name: string, args: Json, content: Json): Promise<ToolResult> {
    if (!name.startsWith(delegates)) return { ok: true, output: content }
    const text = answerText(content)
    const delegation = { agent: name.slice(delegates.length), type: "delegate" as const, message: taskOf(args) }
    const verdict = await this.place.session.delegationResult({ delegation, result: { text }, executed: true })
    if (verdict.type !== "allow") return { ok: false, error: verdict.reason }
    return { ok: true, output: verdict.text === text ? content : verdict.text }
  }

  private async delegation(agent: string, args: unknown): Promise<string | undefined> {
    const message = taskOf(args)
    const verdict = await this.place.session.delegation({ agent, type: "delegate", message })
    if (verdict.type === "respond") return verdict.result.text
    if (verdict.type !== "allow") return verdict.reason
    return verdict.delegation.message === message
      ? undefined
      : "a hook changed the task: change the arguments of the tool in preToolCall instead"
  }
}

/** Returns the text in what another agent has answered. */
const answerText = (content: Json): string => {
  const { text } = Object(content) as { readonly text?: unknown }
  return typeof text === "string" ? text : typeof content === "string" ? content : JSON.stringify(content)
}

/** Returns what another agent has to do. */
const taskOf = (args: unknown): string => {
  const { prompt } = Object(args) as { readonly prompt?: unknown }
  return typeof prompt === "string" ? prompt : JSON.stringify(args)
}

const isGuarded = (agent: unknown): boolean => {
  const { model } = Object(agent) as { readonly model?: unknown }
  if (Array.isArray(model)) return model.every((one: unknown) => isGuarded(one))
  return (typeof model === "object" || typeof model === "function") && model !== null && guarded.has(model)
}

/** Removes the mark from the tools before the vendor gets them. */
const unmarked = (params: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
  ...params,
  ...(params.tools === undefined ? {} : {
    tools: params.tools.map((tool) => {
      if (tool.type !== "function" || tool.providerOptions?.[mark] === undefined) return tool
      const { providerOptions: { [mark]: _mark, ...providerOptions }, ...rest } = tool
      return Object.keys(providerOptions).length === 0 ? rest : { ...rest, providerOptions }
    })
  })
})

/** Throws a `ConfigError` if this is not a model that can be wrapped. */
const checked = (model: unknown): AnyModel => {
  if (typeof model === "object" && model !== null) {
    if (guarded.has(model)) {
      throw new ConfigError({ key: "model", message: "model: it is guarded already: wrap each model once" })
    }
    const { specificationVersion: version } = model as { readonly specificationVersion?: unknown }
    if (version === "v2" || version === "v3" || version === "v4") return model as AnyModel
  }
  const found = typeof model === "string" ? `the name "${model}"` : "something else"
  throw new ConfigError({
    key: "model",
    message: `model: expected a model object (specification v2, v3 or v4), found ${found}: ` +
      "pass new ModelRouterLanguageModel(\"vendor/model\") of @mastra/core/llm, or the model of an AI SDK provider"
  })
}
