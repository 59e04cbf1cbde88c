/** Tools that the sender of a message runs. They belong to the agent for one turn. */
import type { ClientTool } from "../../../data/Turn.ts"
import type { ResolvedAgent } from "./resolvedAgent.ts"

/** Returns the agent with the tools of a client. Hooks and rules see them like the tools of the agent. */
export const withClientTools = (agent: ResolvedAgent, given: ReadonlyArray<ClientTool>): ResolvedAgent => {
  const { dispatcher, shownTools, tools } = agent
  const names = new Set(given.map(({ name }) => name))
  return {
    ...agent,
    tools: new Map([...tools, ...given.map((tool) => [tool.name, tool] as const)]),
    shownTools: [...shownTools, ...given],
    clientTools: names,
    dispatcher: {
      ...dispatcher,
      tools: [...dispatcher.tools, ...given],
      // The client checks the arguments of its tools.
      decode: (tool, args) => names.has(tool.name) ? { ok: true, args } : dispatcher.decode(tool, args),
      dispatch: (call, grant, about) => dispatcher.dispatch(call, grant, about),
      exclusive: (name) => dispatcher.exclusive?.(name) === true
    }
  }
}
