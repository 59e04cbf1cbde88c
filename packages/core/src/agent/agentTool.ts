/**
 * An agent as a tool of another.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Delegation, DelegationResult } from "../data/Delegation.ts"
import type { Agent } from "./createAgent.ts"
import type { Tool } from "./defineTool.ts"

const Input = Schema.Struct({
  message: Schema.String.annotate({ description: "what the agent is asked to do, with everything it has to know" })
})

/**
 * Makes a tool that hands its message to another agent and answers with that agent's text. The delegating agent's `preDelegation` hooks may
 * change, answer or refuse what is handed over, its `postDelegation` hooks what comes back. Cancelling the turn cancels the other agent's.
 * An agent that is suspended, limited or aborted is an error the model reads.
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
  readonly agent: Pick<Agent, "session">
}): Tool<Name, { readonly message: string }> => ({
  name: options.name,
  description: options.description,
  input: Input,
  delegate: (delegation, signal) => handOver(options.agent, delegation, signal),
  execute: ({ message }, { signal }) =>
    handOver(options.agent, { agent: options.name, type: "delegate", message }, signal).then(({ text }) => text)
})

const handOver = async (agent: Pick<Agent, "session">, delegation: Delegation, signal: AbortSignal): Promise<DelegationResult> => {
  const { context, instructions, message } = delegation
  await using session = await agent.session(context === undefined ? {} : { messages: context })
  const result = await session.run(instructions === undefined ? message : `${instructions}\n\n${message}`, { signal })
  if (result.status === "completed") return { text: result.text }
  // oxlint-disable-next-line belay/no-throw -- a rejection is how an async function fails
  throw new Error(
    result.status === "suspended"
      ? `${delegation.agent} waits for a person's decision`
      : `${delegation.agent} was ${result.status}: ${result.text}`
  )
}
