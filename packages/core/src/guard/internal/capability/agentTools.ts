/** The tools of an agent as hooks see them. */
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import type { AgentTool } from "../../../hook/HookContext.ts"

/**
 * Returns a tool as hooks see it. It is made once, so that hooks can remember what they know of it, and frozen, because
 * all hooks get the same one.
 */
export const agentToolOf = (tool: ToolMeta, delegates: boolean): AgentTool => {
  const known = made.get(tool)
  if (known?.delegates === delegates) return known
  const one = Object.freeze({ ...tool, delegates })
  made.set(tool, one)
  return one
}

const made = new WeakMap<ToolMeta, AgentTool>()
