/**
 * A turn strategy. The default is the tool loop; a core that never touches the hooks works too: the turn points are the
 * runtime's.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { AgentContext, CoreOutput } from "./AgentContext.ts"
import type { TurnEnded } from "./TurnEnded.ts"

export type { CoreOutput } from "./AgentContext.ts"

/** @category models @since 0.1.0 */
export interface AgentCore {
  readonly coreType: string
  /** Runs once before a session's first turn; when it fails, so does the turn, and the next one tries again. */
  readonly init?: (sessionId: string) => Effect.Effect<void, unknown>
  /** Runs once when a session that was started is closed; a failure is reported. */
  readonly shutdown?: (sessionId: string) => Effect.Effect<void, unknown>
  /** Runs a turn to its end; called again with the same state when a run is resumed. */
  readonly runTurn: (input: TurnInput, ctx: AgentContext) => Effect.Effect<CoreOutput, AgentError | TurnEnded>
}
