/** The capabilities of `ctx` that need no loop and no model. A driver adds the others. */
import type * as Effect from "effect/Effect"
import type { BudgetLevel } from "../../../data/Compaction.ts"
import type { HttpRequest } from "../../../data/Http.ts"
import type { Capabilities } from "../../../hook/HookContext.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { artifactsOfHook } from "./artifacts.ts"
import { durableState } from "./durableState.ts"
import { sendHttp } from "./http.ts"
import { mcpFor } from "./mcp.ts"
import { reportBudget } from "./reportBudget.ts"
import { runPromise } from "./runPromise.ts"

/** A class, because each turn may have one, and a capability is built only when a hook uses it. */
export abstract class GuardCapabilities implements Capabilities {
  private readonly guarded: GuardTurn
  private rootTurn: RootTurn | undefined = undefined

  constructor(turn: GuardTurn) {
    this.guarded = turn
  }

  abstract get llm(): Capabilities["llm"]
  abstract get tools(): Capabilities["tools"]
  abstract callTool(...call: Parameters<Capabilities["callTool"]>): ReturnType<Capabilities["callTool"]>
  abstract rotate(hook: string): void

  get root() {
    return this.rootTurn ??= new RootTurn(this.guarded.root)
  }
  get durable() {
    return durableState(this.guarded)
  }
  artifacts(hook: string) {
    return artifactsOfHook(this.guarded, hook)
  }
  http(request: HttpRequest, hook: string) {
    return sendHttp(this.guarded, request, hook)
  }
  mcp(hook: string) {
    return mcpFor(this.guarded, hook)
  }
  reportBudget(level: BudgetLevel) {
    return reportBudget(this.guarded, level)
  }
  promise<A, E>(effect: Effect.Effect<A, E>) {
    return runPromise(this.guarded, effect)
  }
}

/**
 * What hooks see of the turn of the host's agent. A class, because it is made on the hot path. The signal is made only
 * for hooks that read it. The field is private at run time too, because hooks get the object.
 */
class RootTurn {
  readonly #turn: GuardTurn

  constructor(turn: GuardTurn) {
    this.#turn = turn
    Object.freeze(this)
  }
  get sessionId() {
    return this.#turn.session.id
  }
  get turnNumber() {
    return this.#turn.state.turnNumber
  }
  get signal() {
    return this.#turn.io.signal
  }
}
