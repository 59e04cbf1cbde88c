/** The capabilities that hooks use through `ctx` in a turn of the runtime. */
import type { Json } from "../../../data/Json.ts"
import { agentToolOf } from "../../../guard/internal/capability/agentTools.ts"
import { GuardCapabilities } from "../../../guard/internal/capability/guardCapabilities.ts"
import type { AgentTool, Capabilities, SideRequest } from "../../../hook/HookContext.ts"
import { isBackgroundTool } from "../definition/backgroundTools.ts"
import type { Turn } from "../running/turn.ts"
import { callTool } from "./callTool.ts"
import { askModel } from "./llm.ts"
import { requestRotation } from "./rotate.ts"

/** The capabilities of a turn. */
export const capabilitiesOf = (turn: Turn): Capabilities => new TurnCapabilities(turn)

class TurnCapabilities extends GuardCapabilities {
  private readonly turn: Turn
  private toolCalls = 0

  constructor(turn: Turn) {
    super(turn)
    this.turn = turn
  }

  get tools(): ReadonlyArray<AgentTool> {
    const { agent } = this.turn
    const tools: Array<AgentTool> = []
    for (const tool of agent.tools.values()) {
      tools.push(agentToolOf(tool, agent.delegates.has(tool.name) || isBackgroundTool(agent, tool.name)))
    }
    return tools
  }
  get llm() {
    return (request: SideRequest, hook: string) => askModel(this.turn, request, hook)
  }
  callTool(name: string, args: Json, hook: string) {
    const id = `${hook}/${this.turn.state.stepNumber}.${++this.toolCalls}`
    return callTool(this.turn, { id, name, args }, hook)
  }
  rotate(hook: string) {
    requestRotation(this.turn, hook)
  }
}
