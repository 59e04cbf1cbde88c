/**
 * Sessions for Effect programs. `AgentSession` in `createAgent` is the same with promises.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError, PortFailed, SessionError, SnapshotError } from "../data/AgentError.ts"
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { HostSignal, SignalAnswer } from "../data/Delegation.ts"
import type { Message } from "../data/Message.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { OnSessionEndEvent } from "../data/SessionEvent.ts"
import type { SteerOutcome, TurnInput } from "../data/Turn.ts"
import type { Waiting } from "../data/Waiting.ts"
import type { RunResult } from "../guard/RunResult.ts"
import type { HookState } from "../hook/HookState.ts"

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

/** Options of a turn. @category models @since 0.1.0 */
export interface TurnOptions {
  /**
   * What to do if another turn of this session runs. `error`, the default, fails with a `SessionError`. `queue` waits
   * until the session is free and no turn waits in it, here or in another process; messages of this process start in
   * the order in which they came. The line is in memory: it is lost when the process ends. Interrupting the Effect
   * takes the message out of the line.
   */
  readonly whenBusy?: "error" | "queue"
  /**
   * Receives the events of this turn and of the sub-agents that work for it, from its start to its end. It must not
   * throw: a listener that throws receives no more events.
   */
  readonly onEvent?: (event: AgentEvent) => void
}

/** Options of a turn that is resumed. @category models @since 0.1.0 */
export type ResumeOptions = Pick<TurnOptions, "onEvent">

export type { SteerOutcome }

/** Options of `park`. @category models @since 0.1.0 */
export interface ParkOptions {
  /**
   * How long to wait for what is running, in milliseconds. Then it is interrupted: a tool that was running has an
   * unknown outcome, as after a crash. Default: no limit.
   */
  readonly withinMs?: number
}

/** A conversation. Its turns run one after the other. @category models @since 0.1.0 */
export interface Session {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  /** The state that hooks share (`ctx.state`), also those that run for sub-agents. */
  readonly state: HookState
  /** Runs a turn. Interruption cancels the turn. */
  readonly run: (input: string | TurnInput, options?: TurnOptions) => Effect.Effect<RunResult, AgentError>
  /** Reports something that happened in the host program to the `onSignal` hooks, which may reject or answer it. */
  readonly signal: (signal: HostSignal) => Effect.Effect<SignalAnswer>
  /**
   * What the session waits for: nothing, people, a process or a higher limit. It is current after each call, and after
   * `reload`.
   */
  readonly waiting: Waiting
  /** The open questions of the waiting turn. Empty if no turn waits. */
  readonly pending: ReadonlyArray<PendingAsk>
  /**
   * Resumes the waiting turn: one that was suspended, reached a limit, or was interrupted by the end of its process.
   */
  readonly resume: (decisions?: Decisions, options?: ResumeOptions) => Effect.Effect<RunResult, AgentError>
  /**
   * Ends the waiting turn without running it, as the next message would. Its open tool calls get the reason as their
   * error. Succeeds with false if no turn waits. Fails with a `SessionError` while a turn runs, here or in another
   * process.
   */
  readonly abandon: (reason?: string) => Effect.Effect<boolean, SessionError | PortFailed | SnapshotError>
  /**
   * Calls the listener with every event of this session and of the sub-agents that work for it, in this process. The
   * returned function removes the listener.
   */
  readonly listen: (listener: (event: AgentEvent) => void) => () => void
  /**
   * Loads the session again if another process has changed it. `run`, `resume` and the other calls do this themselves;
   * it is for reading `messages`, `pending` and `waiting`. It does nothing while a turn runs, and without a store.
   */
  readonly reload: Effect.Effect<void, PortFailed | SnapshotError>
  /**
   * Sends a message to the running turn, which the model reads at the next step boundary: with its next call, or after
   * the answer that it is writing now, which then is not its last one. The `preTurn` hooks check the message (its
   * `steer` is true). Succeeds when it is known whether the message was delivered. Messages that wait are in memory;
   * interrupting the Effect withdraws one.
   */
  readonly steer: (input: string | TurnInput) => Effect.Effect<SteerOutcome>
  /**
   * Stops a running turn at its next commit point, so that any process can `resume` it, and returns what the session
   * then waits for. After that, this process writes nothing of the session until it is used again.
   *
   * The turn stops before its next model call and before its next tool. A model call, a tool or a sub-agent's step that
   * is running ends first, so that its outcome is known. The turn ends with status `parked`; if it needed nothing more,
   * it ends as usual. Messages in line fail with a `SessionError`.
   */
  readonly park: (options?: ParkOptions) => Effect.Effect<Waiting>
  /**
   * Lets the session out of memory without ending it: no `onSessionEnd` hooks run. `agent.session({ id })` continues it
   * later. Fails with a `SessionError` while a turn runs (park it first), or if the agent has no store.
   */
  readonly release: Effect.Effect<void, SessionError | PortFailed>
  /** Compacts the conversation now. Returns false if a hook forbids it or nothing can be removed. */
  readonly compact: Effect.Effect<boolean>
  /** Ends the session and runs the `onSessionEnd` hooks once. */
  readonly close: (reason?: OnSessionEndEvent["reason"]) => Effect.Effect<void>
}
