/**
 * What a turn had done before it failed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Cost } from "./Cost.ts"
import type { Message } from "./Message.ts"
import type { Usage } from "./Usage.ts"

/** What a turn had said and spent before it failed: the field `partial` of its error. @category models @since 0.1.0 */
export interface TurnPartial {
  /**
   * The last text of the model in this turn, as far as it had arrived. Empty if there is none, or if a `postTurn` hook
   * refused it.
   */
  readonly text: string
  /** The tokens of the whole turn: of sub-agents, hooks, retries and fallbacks too. */
  readonly usage: Usage
  readonly cost: Cost
  /** The conversation up to the end of this turn. It is valid for a provider: calls without a result have an error. */
  readonly messages: ReadonlyArray<Message>
}

/** The schema of `partial`. Errors do not check it again. @category schemas @since 0.1.0 */
export const TurnPartial = Schema.Unknown as unknown as Schema.Codec<TurnPartial>
