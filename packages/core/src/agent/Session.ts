/**
 * One conversation, for Effect programs. `AgentSession` of `createAgent` is the same with promises.
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

/** What people decided, by tool call id. @category models @since 0.1.0 */
export type Decisions = { readonly [callId: string]: Decision }

/** What a session can begin with. @category models @since 0.1.0 */
export interface SessionOptions {
  /** Opens the session with this id, which may be in the store. Default: a new session with a random id. */
  readonly id?: string
  /** The history of a new session. */
  readonly messages?: ReadonlyArray<Message>
}

/** One conversation. Its turns run one after the other. @category models @since 0.1.0 */
export interface Session {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  /** What the hooks of this session share. */
  readonly state: HookState
  /** Runs a turn. Interruption cancels it. */
  readonly run: (input: string | TurnInput) => Effect.Effect<RunResult, AgentError>
  /** Tells the `onSignal` hooks about something that happened in the host; a hook may refuse or answer it. */
  readonly signal: (signal: HostSignal) => Effect.Effect<SignalAnswer>
  /** The open questions of the turn that waits; empty when none does. */
  readonly pending: ReadonlyArray<PendingAsk>
  /** Resumes the turn that waits: it was suspended, reached a limit, or was left by a process that ended. */
  readonly resume: (decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Compacts the conversation now; false when a hook forbids it or nothing can be removed. */
  readonly compact: Effect.Effect<boolean>
  /** Ends the session. The `onSessionEnd` hooks run once. */
  readonly close: (reason?: OnSessionEndEvent["reason"]) => Effect.Effect<void>
}
