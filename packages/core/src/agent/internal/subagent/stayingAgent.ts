/**
 * The agent that takes a conversation over, with the tools that pass it on: `hand_back`, and the tools with which the
 * lead agent gives it to others.
 */
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import { targetOf } from "../definition/delegationTarget.ts"
import { makeAgent, type ResolvedAgent } from "../definition/resolvedAgent.ts"

/** The tool that gives the conversation back to the lead agent. */
export const handBack: ToolMeta = Object.freeze({
  name: "hand_back",
  description: "Gives the conversation back to the agent that handed it over, which answers in your place. Use it " +
    "when your part is done, or when the user wants something else",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string", description: "what the other agent has to know" } },
    required: ["message"],
    additionalProperties: false
  }
})

/** Each pair of agents has one. */
const known = new WeakMap<ResolvedAgent, ResolvedAgent>()

/** Returns the sub-agent with the tools that pass the conversation on. Its own tools win over those. */
export const stayingAgent = (agent: ResolvedAgent, child: ResolvedAgent, lead: ResolvedAgent): ResolvedAgent => {
  const found = known.get(agent)
  if (found !== undefined) return found
  const { delegates, dispatcher, shownTools, tools } = agent
  const others = [...lead.delegates].filter(([name, to]) =>
    to.stays === true && targetOf(to.agent)?.agent !== child && !tools.has(name)
  )
  const names = new Set(others.map(([name]) => name))
  const isBack = !tools.has(handBack.name) && !names.has(handBack.name)
  const added = [
    ...others.flatMap(([name]) => lead.tools.get(name) ?? []),
    ...isBack ? [handBack] : []
  ]
  const made = makeAgent({
    ...agent,
    tools: new Map([...tools, ...added.map((tool) => [tool.name, tool] as const)]),
    shownTools: [...shownTools, ...added],
    delegates: new Map([...delegates, ...others]),
    handsBack: isBack,
    dispatcher: {
      ...dispatcher,
      tools: [...dispatcher.tools, ...added],
      decode: (tool, args) => {
        if (names.has(tool.name)) return lead.dispatcher.decode(tool, args)
        if (!isBack || tool.name !== handBack.name) return dispatcher.decode(tool, args)
        const isText = typeof args === "object" && args !== null && "message" in args &&
          typeof args.message === "string"
        return isText ? { ok: true, args } : { ok: false, why: "expected { message } with a text" }
      },
      dispatch: (call, grant, about) => dispatcher.dispatch(call, grant, about),
      exclusive: (name) => dispatcher.exclusive?.(name) === true
    }
  })
  known.set(agent, made)
  return made
}
