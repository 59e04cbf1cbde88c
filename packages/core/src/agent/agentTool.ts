/**
 * An agent as a tool of another.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { AgentRuntime } from "./AgentRuntime.ts"
import type { Agent } from "./createAgent.ts"
import type { Tool } from "./defineTool.ts"

export { type Delegatable, delegationTarget } from "./internal/subagent/delegationTarget.ts"

const Input = Schema.Struct({
  message: Schema.String.annotate({ description: "what the agent is asked to do, with everything it has to know" })
})

/**
 * Makes a tool that hands its message to another agent. The other agent works as a part of the turn: the hooks of the
 * delegating agent run around
 * everything it does, before its own (`ctx.agent` says for whom); both policies count; what it spends, its questions to
 * people and its listeners are
 * shared; cancelling the turn cancels it; an Abort inside ends the whole turn. `preDelegation` hooks may change, answer
 * or refuse what is handed over,
 * `postDelegation` hooks what comes back. Where it waits for a person the whole run is suspended, at any depth:
 * `pending` names the call by its path.
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
export const agentTool = <const Name extends string>(options: {
  readonly name: Name
  readonly description: string
  readonly agent: Agent | AgentRuntime
  /**
   * `delegate`: the answer is the tool's result, and the model goes on with it. `transfer`: the other agent reads the
   * conversation so far and takes over;
   * its answer is the turn's, and the next turn begins with the first agent again. Default `delegate`.
   */
  readonly type?: "delegate" | "transfer"
}): Tool<Name, { readonly message: string }> => ({
  name: options.name,
  description: options.description,
  input: Input,
  delegate: { agent: options.agent, type: options.type ?? "delegate" },
  execute: () => undefined
})
