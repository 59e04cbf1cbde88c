/**
 * What the runtime gives to a core.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { AgentEventBody } from "../data/AgentEvent.ts"
import type { LlmParameters, LlmResponse } from "../data/LlmCall.ts"
import type { Message } from "../data/Message.ts"
import type { FinishReason } from "../data/Turn.ts"
import type { TurnEnded } from "../guard/TurnEnded.ts"
import type { Outcome } from "../hook/HookChain.ts"
import type { HookPointName, In } from "../hook/HookPoint.ts"
import type { LlmProvider } from "../port/LlmProvider.ts"
import type { MemoryPlugin } from "../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../port/RuntimePolicy.ts"
import type { ToolDispatcher } from "../port/ToolDispatcher.ts"
import type { Limits } from "./Limits.ts"

/** The output of a core. @category models @since 0.1.0 */
export interface CoreOutput {
  readonly text: string
  readonly finishReason: FinishReason
}

/** The hook chain, bound to the turn. @category models @since 0.1.0 */
export interface TurnHooks {
  readonly has: (point: HookPointName) => boolean
  readonly run: <P extends HookPointName>(point: P, event: In<P>) => Effect.Effect<Outcome<P>>
}

/** What a core can use during a turn. @category models @since 0.1.0 */
export interface AgentContext {
  readonly sessionId: string
  readonly provider: LlmProvider
  readonly tools: ToolDispatcher
  readonly memory: MemoryPlugin | undefined
  readonly policy: RuntimePolicy | undefined
  readonly hooks: TurnHooks
  readonly events: { readonly active: boolean; readonly emit: (event: AgentEventBody) => void }
  readonly config: {
    readonly instructions?: string
    readonly model?: string
    readonly parameters?: LlmParameters
    readonly limits: Limits
  }
  /** The conversation so far. */
  readonly messages: ReadonlyArray<Message>
  /** The phase from which a resumed turn continues. */
  readonly phase: "model" | "tools" | "ended"
  /** Adds a message to the conversation. Tool calls go through `callModel` and `runTools`. */
  readonly append: (message: Message) => void
  /**
   * Calls the model and adds the answer to the conversation. This includes compaction, hooks, retries and fallbacks.
   */
  readonly callModel: Effect.Effect<LlmResponse, AgentError | TurnEnded>
  /**
   * Runs the tools that the last answer asked for, and adds their results to the conversation. The policy and the hooks
   * apply. If another agent took over the conversation, returns its answer.
   */
  readonly runTools: Effect.Effect<CoreOutput | undefined, AgentError | TurnEnded>
  /** Runs the `preStop` hooks. Returns true if they gave a follow-up, so that the turn must continue. */
  readonly keepGoing: (text: string) => Effect.Effect<boolean, AgentError | TurnEnded>
}
