/** The hook scope of a turn: the data and the capabilities that hooks get. */
import type { Json } from "../../../data/Json.ts"
import type { Capabilities, HookContext, HookScope, InjectOptions } from "../../../hook/HookContext.ts"
import type { HookFailure, HookRecord } from "../../../hook/HookRecord.ts"
import type { TurnIo, TurnPlace } from "../io/turnIo.ts"
import { injectText } from "./inject.ts"

interface ScopedTurn extends TurnPlace {
  readonly io: TurnIo
  readonly capabilities: Capabilities
  readonly caller: string | undefined
}

/** A class, because every turn makes one and hooks read it on the hot path. */
export class TurnScope implements HookScope {
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
