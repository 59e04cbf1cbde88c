/**
 * Sessions for Effect programs. `AgentSession` in `createAgent` is the same with promises.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { HostSignal, SignalAnswer } from "../data/Delegation.ts"
import type { Message } from "../data/Message.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { OnSessionEndEvent } from "../data/SessionEvent.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { HookState } from "../hook/HookState.ts"
import type { RunResult } from "./RunResult.ts"

/** The decisions of people, by tool call id. @category models @since 0.1.0 */
export type Decisions = { readonly [callId: string]: Decision }

/** Options of a new session. @category models @since 0.1.0 */
export interface SessionOptions {
  /**
   * Opens the session with this id, and loads it from the store if it is there. Default: a new session with a random
   * id.
   */
  readonly id?: string
  /** The history of a new session. */
  readonly messages?: ReadonlyArray<Message>
}

/** A conversation. Its turns run one after the other. @category models @since 0.1.0 */
export interface Session {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  /** The state that the hooks of this session share. */
  readonly state: HookState
  /** Runs a turn. Interruption cancels the turn. */
  readonly run: (input: string | TurnInput) => Effect.Effect<RunResult, AgentError>
  /** Reports something that happened in the host program to the `onSignal` hooks, which may reject or answer it. */
  readonly signal: (signal: HostSignal) => Effect.Effect<SignalAnswer>
  /** The open questions of the waiting turn. Empty if no turn waits. */
  readonly pending: ReadonlyArray<PendingAsk>
  /**
   * Resumes the waiting turn: one that was suspended, reached a limit, or was interrupted by the end of its process.
   */
  readonly resume: (decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Compacts the conversation now. Returns false if a hook forbids it or nothing can be removed. */
  readonly compact: Effect.Effect<boolean>
  /** Ends the session and runs the `onSessionEnd` hooks once. */
  readonly close: (reason?: OnSessionEndEvent["reason"]) => Effect.Effect<void>
}
