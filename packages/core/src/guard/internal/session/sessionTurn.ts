/** A turn of a guarded session: its loop and its model are those of a driver. */
import * as Effect from "effect/Effect"
import { ConfigError, PortFailed } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import type { AgentTool, Capabilities, SideRequest } from "../../../hook/HookContext.ts"
import { agentToolOf } from "../capability/agentTools.ts"
import { GuardCapabilities } from "../capability/guardCapabilities.ts"
import { awaitable } from "../capability/runPromise.ts"
import { GuardTurn, type GuardTurnOptions } from "../point/guardTurn.ts"

/** What a driver adds to a turn. */
export interface DriverParts {
  /** Answers `ctx.llm`. */
  readonly llm: Capabilities["llm"] | undefined
}

/** The parts of a turn. */
export interface SessionTurnOptions extends GuardTurnOptions {
  readonly driver: DriverParts
}

/** A class, because its capabilities are built only when a hook uses one. */
export class SessionTurn extends GuardTurn {
  private readonly driver: DriverParts
  private readonly startedAt = performance.now()
  private known: Capabilities | undefined = undefined

  constructor(options: SessionTurnOptions) {
    super(options)
    this.driver = options.driver
  }

  get capabilities(): Capabilities {
    return this.known ??= new SessionCapabilities(this, this.driver)
  }

  get usedMs(): number {
    return this.state.used.elapsedMs + performance.now() - this.startedAt
  }

  /** A driver says which tools exist, so its turns have none of a client. */
  takeClientTools(): void {}
}

class SessionCapabilities extends GuardCapabilities {
  private readonly turn: SessionTurn
  private readonly driver: DriverParts

  constructor(turn: SessionTurn, driver: DriverParts) {
    super(turn)
    this.turn = turn
    this.driver = driver
  }

  get tools(): ReadonlyArray<AgentTool> {
    return Array.from(this.turn.agent.tools.values(), (tool) => agentToolOf(tool, false))
  }
  get llm() {
    return this.driver.llm ?? ((_request: SideRequest, hook: string) =>
      awaitable(
        this.turn,
        new ConfigError({
          key: "llm",
          message: `ctx.llm of ${hook}: the guard has no model; give it one: Guard.make({ models: { ... } })`
        })
      ))
  }
  callTool(name: string, _args: Json, hook: string) {
    const { coreType } = this.turn.agent.core
    const message = `ctx.callTool of ${hook}: the tools belong to ${coreType}, so a hook cannot run ${name} there`
    return awaitable(this.turn, Effect.fail(new PortFailed({ port: coreType, message })))
  }
  rotate(hook: string): void {
    this.turn.io.warn(`ctx.rotate does nothing: the conversation belongs to ${this.turn.agent.core.coreType}`, hook)
  }
}
