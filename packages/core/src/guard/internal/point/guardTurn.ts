/** A turn as its guard sees it: the agent, session, state, I/O and hook scope, without a loop and a model. */
import * as Effect from "effect/Effect"
import type { Json } from "../../../data/Json.ts"
import type { ClientTool } from "../../../data/Turn.ts"
import type { Capabilities, HookContext, HookScope, InjectOptions } from "../../../hook/HookContext.ts"
import type { HookPointName } from "../../../hook/HookPoint.ts"
import type { HookFailure, HookRecord } from "../../../hook/HookRecord.ts"
import type { GuardedAgent } from "../definition/guardedAgent.ts"
import { TurnIo, type TurnPlace } from "../io/turnIo.ts"
import type { SessionState } from "../state/sessionState.ts"
import type { TurnState } from "../state/turnState.ts"
import { injectText } from "./inject.ts"

/** The parts of a turn. */
export interface GuardTurnOptions {
  readonly agent: GuardedAgent
  readonly session: SessionState
  readonly state: TurnState
  /** The turn that delegated to this one. */
  readonly parent?: GuardTurn | undefined
  /** The id of the tool call with which it did. */
  readonly parentCall?: string | undefined
  /** If this is a call of a hook: the turn in which the hook runs, and the name of the hook. */
  readonly hookTurn?: GuardTurn | undefined
  readonly caller?: string | undefined
}

/** A class, so that all turns share their methods. */
export abstract class GuardTurn {
  /** With the tools of the client for this turn, if there are any. */
  agent: GuardedAgent
  /** A rotation continues the turn in another session. */
  session: SessionState
  readonly state: TurnState
  readonly parent: GuardTurn | undefined
  readonly parentCall: string | undefined
  readonly hookTurn: GuardTurn | undefined
  readonly caller: string | undefined
  /** 0 for a turn of an agent, 1 for a call of a hook. */
  readonly depth: number
  readonly io: TurnIo
  readonly scope: TurnScope

  constructor(options: GuardTurnOptions) {
    this.agent = options.agent
    this.session = options.session
    this.state = options.state
    this.parent = options.parent
    this.parentCall = options.parentCall
    this.hookTurn = options.hookTurn
    this.caller = options.caller
    this.depth = options.hookTurn === undefined ? 0 : options.hookTurn.depth + 1
    // A turn that is resumed has checked the tools of its client.
    const { input: { tools }, phase } = options.state
    if (tools !== undefined && phase !== "start") this.takeClientTools(tools)
    this.io = new TurnIo(this)
    this.scope = new TurnScope(this)
  }

  /** Gives the model the tools of a client. */
  abstract takeClientTools(tools: ReadonlyArray<ClientTool>): void

  /** Called before the state of the turn is read. */
  beforeSnapshot(): void {}

  /** The capabilities that hooks use through `ctx`. */
  abstract get capabilities(): Capabilities

  /** How long the turn has run, since it started or was resumed after a limit, in milliseconds. */
  abstract get usedMs(): number

  /** The turn of the agent that the host started. */
  get root(): GuardTurn {
    return (this.hookTurn ?? this.parent)?.root ?? this
  }

  /** Waits until somebody asks the turn to stop at its next commit point. */
  get parkRequested(): Effect.Effect<void> {
    return Effect.never
  }

  /** Whether any hook runs at this point. The event need not be built otherwise. */
  hasHooks(point: HookPointName): boolean {
    return this.agent.chain.has(point)
  }
}

interface ScopedTurn extends TurnPlace {
  readonly io: TurnIo
  readonly capabilities: Capabilities
  readonly caller: string | undefined
}

/** A class, because every turn makes one and hooks read it on the hot path. */
class TurnScope implements HookScope {
  /** The messages of `ctx.followUp`. Set while the `preStop` hooks run. */
  followUps: Array<string> = []
  readonly contexts: Array<HookContext | undefined> = []
  private readonly turn: ScopedTurn

  constructor(turn: ScopedTurn) {
    this.turn = turn
  }

  get sessionId() {
    return this.turn.session.id
  }
  get turnNumber() {
    return this.turn.state.turnNumber
  }
  get stepNumber() {
    return this.turn.state.stepNumber
  }
  get coreType() {
    return this.turn.agent.core.coreType
  }
  get agent() {
    return this.turn.agent.info
  }
  get cwd() {
    return this.turn.agent.cwd
  }
  get freeze() {
    return this.turn.agent.freeze
  }
  get state() {
    return this.turn.session.state
  }
  get local() {
    return this.turn.session.local
  }
  get signal() {
    return this.turn.io.signal
  }
  get caller() {
    return this.turn.caller
  }
  get capabilities() {
    return this.turn.capabilities
  }
  get onRecord() {
    const { agent, io } = this.turn
    return io.hasListeners || agent.config.records === true ? (record: HookRecord) => io.record(record) : undefined
  }

  active(): boolean {
    return this.turn.io.hasListeners
  }
  emit(name: string, payload: Json, hook: string): void {
    this.turn.io.publish({ type: "custom", hook, name, payload })
  }
  inject(text: string, options: InjectOptions | undefined, hook: string): void {
    injectText(this.turn, hook, text, options)
  }
  warn(message: string, hook: string): void {
    this.turn.io.warn(message, hook)
  }
  notifyUser(message: string, hook: string): void {
    this.turn.io.publish({ type: "notice", hook, message })
  }
  followUp(message: string): void {
    this.followUps.push(message)
  }
  onFailure(failure: HookFailure): void {
    this.turn.io.reportFailure(failure)
  }
  onLate(hook: string, what: string): void {
    this.turn.io.publish({ type: "hook-late", hook, what })
    this.turn.io.log(`hook ${hook} was late, after its timeout or a cancelled turn: ${what} dropped`)
  }
}
