/**
 * A core decides how a turn runs. The default core is the tool loop. A core need not call hooks, because the runtime
 * runs the hooks of the turn points itself.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { TurnEnded } from "../guard/TurnEnded.ts"
import type { AgentContext, CoreOutput } from "./AgentContext.ts"

export type { CoreOutput } from "./AgentContext.ts"

/** A strategy that runs a turn. @category models @since 0.1.0 */
export interface AgentCore {
  readonly coreType: string
  /**
   * Runs once before the first turn of a session. If it fails, the turn fails too, and the next turn calls it again.
   */
  readonly init?: (sessionId: string) => Effect.Effect<void, unknown>
  /** Runs once when a started session is closed. A failure is reported as a warning. */
  readonly shutdown?: (sessionId: string) => Effect.Effect<void, unknown>
  /** Runs a turn to its end. When a run is resumed, it is called again with the same state. */
  readonly runTurn: (input: TurnInput, ctx: AgentContext) => Effect.Effect<CoreOutput, AgentError | TurnEnded>
}
