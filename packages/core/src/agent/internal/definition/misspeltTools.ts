/** Warns about hooks for a tool that no agent of the tree has, if a tool has nearly that name: they guard nothing. */
import { nearest } from "../../../data/text/NamePattern.ts"
import { targetOf } from "./delegationTarget.ts"
import type { ResolvedAgent } from "./resolvedAgent.ts"

/** Returns a warning for each misspelt name. Patterns with `*`, and tools that are objects, cannot be misspelt. */
export const misspeltTools = (agent: ResolvedAgent): ReadonlyArray<string> => {
  const known = toolsOf(agent, new Set())
  return agent.chain.hooks.flatMap(({ name: hook, tools = [] }) =>
    [tools].flat().flatMap((tool) => {
      const wanted = typeof tool === "string" ? tool.replace(/^!/, "") : ""
      const meant = wanted === "" || wanted.includes("*") || known.has(wanted) ? undefined : nearest(wanted, known)
      return meant === undefined
        ? []
        : [`hook ${hook} is for the tool "${wanted}", which ${agent.info.name} does not have; did you mean "${meant}"?`]
    })
  )
}

/** The names of the tools of an agent and of all agents that it can delegate to. */
const toolsOf = (agent: ResolvedAgent, seen: Set<ResolvedAgent>): ReadonlySet<string> => {
  if (seen.has(agent)) return new Set()
  seen.add(agent)
  const below = [...agent.delegates.values()].flatMap((delegate) => {
    const target = targetOf(delegate.agent)
    return target === undefined ? [] : [...toolsOf(target.agent, seen)]
  })
  return new Set([...agent.tools.keys(), ...below])
}
