/**
 * The capabilities that hooks use through `ctx` in one turn. Each capability has its own file; this one combines them.
 */
import type * as Effect from "effect/Effect"
import type { BudgetLevel } from "../../../data/Compaction.ts"
import type { HttpRequest } from "../../../data/Http.ts"
import type { Json } from "../../../data/Json.ts"
import { artifactsFor } from "../../../guard/internal/capability/artifacts.ts"
import { durableState } from "../../../guard/internal/capability/durableState.ts"
import { sendHttp } from "../../../guard/internal/capability/http.ts"
import { mcpFor } from "../../../guard/internal/capability/mcp.ts"
import { reportBudget } from "../../../guard/internal/capability/reportBudget.ts"
import { runPromise } from "../../../guard/internal/capability/runPromise.ts"
import type { AgentTool, Capabilities, SideRequest } from "../../../hook/HookContext.ts"
import type { Turn } from "../running/turn.ts"
import { callTool } from "./callTool.ts"
import { askModel } from "./llm.ts"
import { requestRotation } from "./rotate.ts"

/** The capabilities of a turn. */
export const capabilitiesOf = (turn: Turn): Capabilities => new TurnCapabilities(turn)

/** A class, because each turn may have one, and a capability is built only when a hook uses it. */
class TurnCapabilities implements Capabilities {
  private readonly turn: Turn
  private toolCalls = 0

  constructor(turn: Turn) {
    this.turn = turn
  }

  get root() {
    const { io: { signal }, session, state: { turnNumber } } = this.turn.root
    return { sessionId: session.id, turnNumber, signal }
  }
  get durable() {
    return durableState(this.turn)
  }
  get tools(): ReadonlyArray<AgentTool> {
    const { delegates, tools } = this.turn.agent
    return [...tools.values()].map((tool) => ({ ...tool, delegates: delegates.has(tool.name) }))
  }
  artifacts(hook: string) {
    return artifactsFor(this.turn, hook)
  }
  get llm() {
    return (request: SideRequest, hook: string) => askModel(this.turn, request, hook)
  }
  callTool(name: string, args: Json, hook: string) {
    const id = `${hook}/${this.turn.state.stepNumber}.${++this.toolCalls}`
    return callTool(this.turn, { id, name, args }, hook)
  }
  http(request: HttpRequest, hook: string) {
    return sendHttp(this.turn, request, hook)
  }
  mcp(hook: string) {
    return mcpFor(this.turn, hook)
  }
  reportBudget(level: BudgetLevel) {
    return reportBudget(this.turn, level)
  }
  rotate(hook: string) {
    requestRotation(this.turn, hook)
  }
  promise<A, E>(effect: Effect.Effect<A, E>) {
    return runPromise(this.turn, effect)
  }
}
