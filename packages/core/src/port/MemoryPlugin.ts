/**
 * Long-term memory: recalls messages before a turn, and learns from the finished turn.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Message } from "../data/Message.ts"
import type { TurnInput, TurnOutput } from "../data/Turn.ts"

/** Recalls messages before a turn, and observes it afterwards. @category models @since 0.1.0 */
export interface MemoryPlugin {
  /**
   * Returns messages to add before the user's message. If it fails, a warning is reported and no messages are added.
   */
  readonly preTurnContext?: (input: TurnInput, sessionId: string) => Effect.Effect<ReadonlyArray<Message>, unknown>
  /** Receives the finished turn. If it fails, a warning is reported. */
  readonly postTurnObserve?: (input: TurnInput, output: TurnOutput, sessionId: string) => Effect.Effect<void, unknown>
}
