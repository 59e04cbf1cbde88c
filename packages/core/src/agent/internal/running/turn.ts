/** A running turn: its agent, session, state, I/O and hook scope. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { LlmResponse } from "../../../data/LlmCall.ts"
import { type Message, whyInvalid } from "../../../data/Message.ts"
import type { CallState } from "../../../data/RunState.ts"
import type { SideRequest } from "../../../data/SideRequest.ts"
import type { ClientTool } from "../../../data/Turn.ts"
import { GuardTurn, type GuardTurnOptions } from "../../../guard/internal/point/guardTurn.ts"
import { noteAbout } from "../../../guard/internal/state/changeNote.ts"
import type { Spent } from "../../../guard/internal/state/costMeter.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { keepSpent, spentBy } from "../../../guard/internal/state/spent.ts"
import * as TurnState from "../../../guard/internal/state/turnState.ts"
import type { Aborted, RunResult } from "../../../guard/RunResult.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { Capabilities } from "../../../hook/HookContext.ts"
import { withClientTools } from "../definition/clientTools.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import type { BackgroundAgents } from "./backgroundAgents.ts"
import type { BackgroundTurn, ModelTurn, ReachedLimit, ToolTurn, WindowUse } from "./turnParts.ts"

/** Functions that every turn gets, so that lower files can call them without an import cycle. */
export interface TurnOperations {
  /** The capabilities that hooks use through `ctx` in this turn. */
  readonly capabilitiesOf: (turn: Turn) => Capabilities
  /** Calls a model for a tool of this turn. */
  readonly askModelForTool: (turn: Turn, request: SideRequest, tool: string) => Awaitable<LlmResponse, AgentError>
  /** Runs a turn to its end. */
  readonly runTurn: (turn: Turn, resumed: boolean) => Effect.Effect<RunResult, AgentError>
}

/** The parts of a turn. */
export interface TurnOptions extends GuardTurnOptions {
  readonly agent: ResolvedAgent
  readonly operations: TurnOperations
  readonly parent?: Turn | undefined
  readonly hookTurn?: Turn | undefined
}

/** A class, so that all turns share their methods. */
export class Turn extends GuardTurn implements BackgroundTurn, ModelTurn, ToolTurn {
  declare agent: ResolvedAgent
  declare readonly parent: Turn | undefined
  declare readonly hookTurn: Turn | undefined
  readonly operations: TurnOperations
  reached: ReachedLimit | undefined = undefined
  /** When this run of the turn began, by `performance.now`. Absent while it does not run. */
  beganAt: number | undefined = undefined
  readonly window: WindowUse = { level: "none", compactedForOverflow: false }
  /** Why this run was interrupted although it can be resumed: by its time limit, or to park it. */
  cutOff: "limited" | "parked" | undefined = undefined
  /** How a hook ended the turn by an agent in the background. */
  aborted: Extract<TurnEnded["end"], { readonly type: "aborted" }> | undefined = undefined
  /** How this run ended after it was cut off. */
  cutOffEnd: Exit.Exit<RunResult, AgentError> | undefined = undefined
  /** The fiber that runs the turn. */
  fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  /** The request to park this turn. Only the turn of the agent that the host started has one. */
  parkRequest: Deferred.Deferred<void> | undefined = undefined
  sessionStartFailed = false
  background: BackgroundAgents | undefined = undefined
  private capabilitySet: Capabilities | undefined = undefined

  constructor(options: TurnOptions) {
    super(options)
    this.operations = options.operations
  }

  takeClientTools(tools: ReadonlyArray<ClientTool>): void {
    this.agent = withClientTools(this.agent, tools)
  }

  override beforeSnapshot(): void {
    if (this.background !== undefined) this.background.save(this.session.root.durable.turn)
  }

  override get root(): Turn {
    return (this.hookTurn ?? this.parent)?.root ?? this
  }

  override get parkRequested(): Effect.Effect<void> {
    return Effect.suspend(() => Deferred.await(this.root.parkRequest ??= Deferred.makeUnsafe()))
  }

  /** Asks the turn to stop at its next commit point. */
  requestPark(): void {
    this.parkRequest ??= Deferred.makeUnsafe()
    Deferred.doneUnsafe(this.parkRequest, Effect.void)
  }

  abort({ by, reason }: Pick<Aborted, "by" | "reason">): void {
    this.aborted ??= { type: "aborted", reason, by }
    this.fiber?.interruptUnsafe()
  }

  /**
   * Interrupts the turn so that it can be resumed. It waits for a commit that is being written, so that nothing is
   * written afterwards.
   */
  get interruptToPark(): Effect.Effect<void> {
    return this.session.storage.lock.withPermit(Effect.sync(() => {
      this.cutOff ??= "parked"
      this.fiber?.interruptUnsafe()
    }))
  }

  get isParking(): boolean {
    const { parkRequest } = this.root
    return parkRequest !== undefined && Deferred.isDoneUnsafe(parkRequest)
  }

  /** Why this run, or that of an agent above, was interrupted although it can be resumed. */
  get whyCutOff(): "limited" | "parked" | undefined {
    return this.cutOff ?? this.parent?.whyCutOff
  }

  /** The capabilities that hooks use through `ctx`. Built when the first hook uses one. */
  get capabilities(): Capabilities {
    return this.capabilitySet ??= this.operations.capabilitiesOf(this)
  }

  askModelForTool(request: SideRequest, tool: string): Awaitable<LlmResponse, AgentError> {
    return this.operations.askModelForTool(this, request, tool)
  }

  get used(): TurnState.TurnState["used"] {
    return this.state.used
  }

  /** How long the turn has run, since it started or was resumed after a limit, in milliseconds. */
  get usedMs(): number {
    return this.used.elapsedMs + (this.beganAt === undefined ? 0 : performance.now() - this.beganAt)
  }

  get spent(): Spent {
    return spentBy(this.state, this.background?.spent)
  }

  get messages(): Array<Message> {
    return this.session.messages
  }

  rewrite(messages: ReadonlyArray<Message>, by: string): void {
    const why = whyInvalid(messages)
    if (why !== undefined) return this.io.warn(`the new history was refused: ${why}`, by)
    this.session.replaceMessages(messages)
  }

  /** Moves the open step into the conversation. Calls without a result get an error with the reason. */
  closeStep(why: string): void {
    keepSpent(this.state)
    const noteOf = (call: CallState) =>
      noteAbout(this.agent.config, (message) => this.io.warn(message, "runtime"), call)
    // What a confidential hook wrote is not shown.
    const isShown = ({ changedBy }: CallState) =>
      this.agent.chain.hooks.every(({ confidential, name }) => confidential !== true || !changedBy?.includes(name))
    TurnState.closeStep(this.state, this.messages, why, noteOf, isShown)
  }

  moveTo(next: SessionState): void {
    const { session } = this
    next.status = session.status
    next.stop = session.stop
    next.running = session.running
    next.lastEvent = session.lastEvent
    session.status = "closed"
    session.stop = undefined
    session.running = undefined
    if (this.io.hasStore) next.storage.lastTurn = this
    session.owner?.follow(next)
    this.session = next
  }
}
