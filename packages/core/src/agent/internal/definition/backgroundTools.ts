/** The tools with which an agent deals with the agents that it has started in the background. */
import { type AnyTool, defineTool } from "../../defineTool.ts"

/** The names of the tools. The runtime runs them. */
export const awaitName = "await_agent"
export const messageName = "message_agent"
export const cancelName = "cancel_agent"

const id = { type: "string", description: "the id that the tool returned when the agent was started" }
const tool = (name: string, description: string, more: { readonly [name: string]: object } = {}): AnyTool =>
  defineTool({
    name,
    description,
    input: {
      type: "object",
      properties: { id, ...more },
      required: ["id", ...Object.keys(more)],
      additionalProperties: false
    } as never,
    execute: () => undefined
  })

const companions: ReadonlyArray<AnyTool> = [
  tool(awaitName, "Waits until an agent in the background has finished, and returns its answer"),
  tool(messageName, "Sends a message to an agent that works in the background", {
    message: { type: "string", description: "what the agent should know" }
  }),
  tool(cancelName, "Stops an agent in the background. Its work is lost")
]

/** Adds them, if one of the tools starts an agent in the background. */
export const withBackgroundTools = (tools: ReadonlyArray<AnyTool>): ReadonlyArray<AnyTool> =>
  tools.some(({ delegate }) => delegate?.background === true) ? [...tools, ...companions] : tools

const names: ReadonlySet<string> = new Set(companions.map(({ name }) => name))

/** Whether the runtime runs a tool of this name itself, in an agent that can have others in the background. */
export const isBackgroundTool = (agent: { readonly runsBackground?: boolean }, name: string): boolean =>
  agent.runsBackground === true && names.has(name)
