/**
 * Makes an agent a tool of another agent.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { checkKinds, checkOptions, invalidOption, oneOf, type OptionKinds } from "../data/option/OptionCheck.ts"
import type { AgentRuntime } from "./AgentRuntime.ts"
import type { Agent } from "./createAgent.ts"
import type { Tool } from "./defineTool.ts"

export { type Delegatable, delegationTarget } from "./internal/definition/delegationTarget.ts"

const Input = Schema.Struct({
  message: Schema.String.annotate({ description: "what the agent is asked to do, with everything it has to know" })
})

/** Options of `agentTool`. @category models @since 0.1.0 */
export interface AgentToolOptions<Name extends string = string> {
  readonly name: Name
  /** What the other agent can do, for the model. */
  readonly description: string
  readonly agent: Agent | AgentRuntime
  /**
   * `delegate`: the answer of the other agent is the result of the tool, and the model continues with it. `transfer`:
   * the other agent receives the conversation so far and answers the user in place of this agent; the next turn starts
   * with this agent again, unless the other one `stays`. Default `delegate`.
   */
  readonly type?: "delegate" | "transfer"
  /**
   * After a transfer, the other agent also answers the next messages of the session, in any process. It gets the tool
   * `hand_back`, with which this agent goes on, and the other tools of this agent whose agents stay. Only the lead
   * agent can transfer in this way; below it, it is a plain transfer. Default false.
   */
  readonly stays?: boolean
  /**
   * The tool starts the other agent and returns its id, and this agent goes on. It gets the answer before its turn
   * ends, or earlier with the tool `await_agent`; `message_agent` and `cancel_agent` are the other tools. In the turn
   * of a sub-agent, the tool waits for the answer. Default false.
   */
  readonly background?: boolean
}

const optionKinds: OptionKinds<AgentToolOptions> = {
  name: "text",
  description: "text",
  agent: "object",
  type: "text",
  stays: "flag",
  background: "flag"
}

/**
 * Makes a tool that delegates its message to another agent. Use it for sub-agents and for handoffs.
 *
 * The turn of the other agent is a part of the turn that calls the tool:
 * - The hooks of the delegating agent also run for the other agent, before its own hooks. `ctx.agent` tells which agent
 *   it is.
 * - Both policies must allow the tool calls of the other agent.
 * - Costs, questions to people and listeners are shared.
 * - Cancelling the turn cancels the other agent, and an Abort in it ends the whole turn.
 *
 * `preDelegation` hooks can change, answer or reject the delegation; `postDelegation` hooks can do the same with the
 * result. When the other agent waits for a person, at any depth, the whole run is suspended; `pending` then identifies
 * the call by its path. A copy or a wrapper of an agent also works if it has the agent's `delegationTarget` property.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { agentTool } from "@belay/core/agentTool"
 * import { textResponse } from "@belay/core/LlmCall"
 * import { fromPromise } from "@belay/core/LlmProvider"
 *
 * const provider = fromPromise({ name: "echo", complete: async () => textResponse("found it") })
 * const researcher = createAgent({ name: "researcher", provider })
 * const lead = createAgent({
 *   provider,
 *   tools: [agentTool({ name: "research", description: "Looks things up", agent: researcher })],
 *   hooks: [{ name: "watch", preDelegation: ({ agent, message }) => console.log(`${agent} is asked: ${message}`) }]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const agentTool = <const Name extends string>(
  options: AgentToolOptions<Name>
): Tool<Name, { readonly message: string }, { readonly message: string }> => {
  Result.getOrThrow(checkKinds("agentTool", options, optionKinds, ["name", "description", "agent"]))
  const { agent, background = false, description, name, stays = false, type = "delegate" } = options
  Result.getOrThrow(checkOptions("agentTool", oneOf("type", type, ["delegate", "transfer"])))
  if (stays && type !== "transfer") {
    Result.getOrThrow(invalidOption("agentTool.stays", "an agent stays only after `type: \"transfer\"`"))
  }
  if (background && type === "transfer") {
    Result.getOrThrow(invalidOption("agentTool.background", "an agent that takes the conversation over has to answer"))
  }
  return { name, description, input: Input, delegate: { agent, type, stays, background }, execute: () => undefined }
}
