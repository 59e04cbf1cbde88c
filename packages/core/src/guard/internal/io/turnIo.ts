/** The I/O of a turn: events, log lines, the store, artifacts, deadlines and the abort signal. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import type { PortFailed } from "../../../data/AgentError.ts"
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import type { RunState } from "../../../data/RunState.ts"
import { messageOf, oneLine } from "../../../data/text/ErrorMessage.ts"
import type { HookFailure, HookRecord } from "../../../hook/HookRecord.ts"
import type { GuardedAgent } from "../definition/guardedAgent.ts"
import { type EventHub, type EventMoment, type EventPlace, makeEvent } from "../event/eventHub.ts"
import { StartedEvents } from "../event/startedEvents.ts"
import type { SessionState } from "../state/sessionState.ts"
import { signState } from "../state/signature.ts"
import { snapshotOf, type SnapshotParts, stateWithoutMessages } from "../state/snapshot.ts"
import { isSameMark, markOf, type StoredMark } from "../state/storedMark.ts"
import type { TurnState } from "../state/turnState.ts"
import { Deadlines } from "./deadlines.ts"
import { randomGap } from "./resumeSession.ts"
import { commitTurn, isConflict } from "./storeTurn.ts"

/** Counts failures of hooks, by hook, point and failure policy. */
const hookFailures = Metric.counter("belay_hook_failures", { description: "hook failures", incremental: true })

/**
 * How long events are kept back at most, in milliseconds. A slow `preTurn` hook may wait for somebody who reads them.
 */
const maxHoldMs = 100

/** The parts of a turn that this file needs. */
export interface TurnPlace {
  readonly agent: GuardedAgent
  /** The session in which the turn runs; a rotation changes it. */
  readonly session: SessionState
  readonly state: TurnState
  /** How much of its time limit the turn has used, in milliseconds. */
  readonly usedMs: number
  /** Called before the state of the turn is read. */
  readonly beforeSnapshot: () => void
  /** 0 for a turn of an agent, 1 for a call of a hook. */
  readonly depth: number
  /** The turn of the agent that delegated to this one, and the tool call with which it did. */
  readonly parent: { readonly io: TurnIo; readonly session: SessionState } | undefined
  /** If this is a call of a hook: the turn in which the hook runs. */
  readonly hookTurn?: { readonly io: TurnIo } | undefined
  readonly parentCall: string | undefined
}

/** A class, because every turn makes one, and each part is built only when it is used. */
export class TurnIo {
  /**
   * The decision records of the turn, if the agent keeps them. The records of sub-agents are in the list of the root.
   */
  readonly records: Array<HookRecord> = []
  /** How many of the records are in the store. */
  storedRecords = 0
  /** How often this run of the turn has been stored. */
  commits = 0
  /** The services of the fiber in which the turn runs or, outside of turns, of the fiber that asks the hooks. */
  services: Context.Context<never> | undefined = Fiber.getCurrent()?.context
  /** How many injections were too long so far. It numbers their artifacts. */
  longInjections = 0
  /** The text of the current model call that listeners have received. */
  shownText = ""
  /** When the first delta of the current model call arrived, by the clock of `performance`. */
  firstDeltaAt: number | undefined = undefined
  /** Whether the tree of agents has a session store. Without one, there is nothing to commit. */
  readonly hasStore: boolean
  /** Whether another process was quicker with the first commit, or may have been, because it was interrupted. */
  private claim: "open" | "unknown" | "lost" = "open"
  /** The events that are kept back. */
  private held: Array<() => void> | undefined = undefined
  /** How many events are sent after the commit that is being written. */
  private numbersAhead = 0
  private readonly turn: TurnPlace
  /** What of this turn is in the store. */
  private stored: StoredMark | undefined = undefined
  private readonly startedAt = performance.now()
  private started: StartedEvents | undefined = undefined
  private eventPlace: EventPlace | undefined = undefined
  private knownHub: EventHub | undefined = undefined
  timers: Deadlines | undefined = undefined
  private controller: AbortController | undefined = undefined
  /** The signal is made when somebody looks at it, which can be after the turn has ended. */
  private isAborted = false

  constructor(turn: TurnPlace) {
    this.turn = turn
    this.hasStore = turn.parent === undefined ? turn.agent.config.store !== undefined : turn.parent.io.hasStore
  }

  /** The I/O of the turn that the host started. */
  get root(): TurnIo {
    return this.turn.parent === undefined ? this : this.turn.parent.io.root
  }

  // Events, log lines and metrics.

  /** Whether there are listeners. A call of a hook sends no events. */
  get hasListeners(): boolean {
    const { agent: { hub }, depth } = this.turn
    return depth === 0 && (hub.active || this.sessionHub?.active === true)
  }

  /** Whether listeners receive the deltas of a stream. */
  get hasDeltaListeners(): boolean {
    const { agent: { hub }, depth } = this.turn
    return depth === 0 && (hub.wants("text-delta") || this.sessionHub?.wants("text-delta") === true)
  }

  /** The listeners of the session that the host started. It has some after somebody has listened. */
  private get sessionHub(): EventHub | undefined {
    return this.knownHub ??= this.turn.session.root.owner?.hub
  }

  /** Sends an event to the listeners. Check `hasListeners` before you build a costly event. */
  publish(body: AgentEventBody): void {
    if (!this.hasListeners) return
    const before = (this.started ??= new StartedEvents()).before(body)
    if (before === undefined) return
    for (const one of before) this.send(one)
    this.send(body)
  }

  /** Sends an event whose number cannot be saved. Another process may use the next numbers, so some are left out. */
  publishUnsaved(body: AgentEventBody): void {
    if (this.hasListeners && this.held === undefined) this.turn.session.root.lastEvent += randomGap()
    this.publish(body)
  }

  private send(body: AgentEventBody): void {
    const { session, state: { stepNumber, turnNumber } } = this.turn
    const moment = { stepNumber, turnNumber, time: performance.timeOrigin + performance.now() }
    if (this.held === undefined) this.deliver(body, moment, session)
    else this.held.push(() => this.deliver(body, moment, session))
  }

  private deliver(body: AgentEventBody, moment: EventMoment, session: SessionState): void {
    const { turn: { agent: { hub, info } }, sessionHub: own } = this
    if (!hub.wants(body.type) && own?.wants(body.type) !== true) {
      // An event that nobody receives has a number too.
      session.root.lastEvent++
      return
    }
    const event = makeEvent({ agent: info, session, place: this.place }, moment, body)
    hub.send(event, this)
    own?.send(event, this)
  }

  /**
   * Keeps events back until the first commit, which claims the session for this process. If another process was
   * quicker, nothing of this turn has happened, and its events would have numbers that the other process uses.
   */
  holdEvents(): void {
    if (!this.hasStore || !this.hasListeners || this.held !== undefined) return
    this.held = []
    this.deadlines.add(maxHoldMs, () => this.releaseEvents())
  }

  /** Sends the events that were kept back, or drops them if another process was quicker. */
  releaseEvents(): void {
    const { claim, held } = this
    if (held === undefined) return
    this.held = undefined
    if (claim === "lost") return
    // Another process leaves out numbers if the store says that a process works on this turn. A turn with a question
    // waits for people there, also when it was resumed without an answer.
    const isKnownToRun = this.commits > 0 && !this.turn.state.calls.some(({ state }) => state.status === "asked")
    if (claim === "unknown" || !isKnownToRun) this.turn.session.root.lastEvent += randomGap()
    for (const act of held) act()
  }

  /** The place of the agent in the tree of agents. */
  get place(): EventPlace {
    return this.eventPlace ??= placeOf(this.turn)
  }

  /** Warns the developer with an event and a log line. */
  warn(message: string, by: string): void {
    if (this.hasListeners) this.publish({ type: "warning", hook: by, message })
    this.log(`${by}: ${message}`)
  }

  log(message: string): void {
    this.runBeside(Effect.logWarning(oneLine(message)))
  }

  /** Counts a failure of a hook after which the chain continued, for this agent and those above it. */
  private countFailOpen(): void {
    const { hookTurn, parent, state } = this.turn
    state.failOpens++
    state.used.failOpens++
    const above = hookTurn ?? parent
    above?.io.countFailOpen()
  }

  /** Reports the failure of a hook. */
  reportFailure(failure: HookFailure): void {
    const { hook, kind, message, point, policy } = failure
    if (policy === "open") this.countFailOpen()
    if (this.hasListeners) this.publish({ type: "hook-failed", ...failure })
    this.runBeside(Metric.update(Metric.withAttributes(hookFailures, { hook, point, policy }), 1))
    const consequence = policy === "open" ? "fail-open, went on" : policy
    this.log(`hook ${hook} failed at ${point} (${kind}, ${consequence}): ${message}`)
  }

  /** Keeps a decision record, if the agent has `records: true`. */
  record(record: HookRecord): void {
    const { agent: { config }, session, state: { stepNumber, turnNumber } } = this.turn
    const time = performance.timeOrigin + performance.now()
    const { agentPath } = this.place
    const complete: HookRecord = Object.freeze({
      ...record,
      time,
      sessionId: session.id,
      agentPath,
      turnNumber,
      stepNumber
    })
    if (config.records === true) this.root.records.push(complete)
    if (this.hasListeners && record.hooks.length > 0) this.publish({ type: "hook", record: complete })
  }

  /** Withdraws the text that listeners have seen since the last `llm-start`. */
  retract(reason: string): void {
    if (this.shownText !== "") this.publish({ type: "retract", reason })
    this.shownText = ""
  }

  // State that outlives the process.

  /** The state of the turn as JSON. */
  snapshot(): RunState {
    return snapshotOf(this.parts())
  }

  /** The same without the messages. */
  stateWithoutMessages(): Omit<RunState, "messages"> {
    return stateWithoutMessages(this.parts())
  }

  private parts(): SnapshotParts {
    this.turn.beforeSnapshot()
    const { agent: { core: { coreType } }, parent, session, state } = this.turn
    const elapsedMs = performance.now() - this.startedAt
    const numbersAhead = this.numbersAhead + (this.held?.length ?? 0)
    const { usedMs } = this.turn
    return { session, state, coreType, elapsedMs, usedMs, numbersAhead, ofSubAgent: parent !== undefined }
  }

  /** Signs a state, if the agent has keys. */
  sign<State extends Omit<RunState, "messages">>(state: State): Effect.Effect<State> {
    const key = this.turn.agent.config.approvals?.keys?.[0]
    return key === undefined
      ? Effect.succeed(state)
      : Effect.promise(async () => ({ ...state, seal: await signState(key, state) }))
  }

  /**
   * Commits the state of the whole tree of agents to the store, if there is one (`hasStore`). The first commit of a run
   * is always written, because it claims the session for this process. Others are left out if this turn has not
   * changed.
   */
  get commit(): Effect.Effect<void, PortFailed> {
    const mark = this.markNow()
    const isFirst = this.turn.parent === undefined && this.commits === 0
    return !isFirst && this.stored !== undefined && isSameMark(this.stored, mark) ? Effect.void : this.write(mark)
  }

  /** Commits what has changed since the last commit, which may be the number of the last event only. */
  get commitRest(): Effect.Effect<void, PortFailed> {
    const mark = this.markNow()
    const { stored } = this
    const lastEvent = mark.lastEvent + this.numbersAhead
    const isStored = stored !== undefined && stored.lastEvent === lastEvent && isSameMark(stored, mark)
    return isStored ? Effect.void : this.write(mark)
  }

  /** Saves the end of a turn, then sends its last event. */
  commitEnd(body: AgentEventBody): Effect.Effect<void, PortFailed> {
    if (!this.hasStore) {
      this.publish(body)
      return Effect.void
    }
    return Effect.suspend(() => {
      if (this.hasListeners) { for (const one of (this.started ??= new StartedEvents()).missing()) this.send(one) }
      return this.commitBefore(() => this.publish(body))
    })
  }

  /**
   * Saves what has changed, and the number of one more event, which is sent then. Another process continues after it.
   */
  commitBefore(send: () => void): Effect.Effect<void, PortFailed> {
    return Effect.suspend(() => {
      this.numbersAhead = this.hasListeners ? 1 : 0
      return Effect.map(
        Effect.onExit(this.commitRest, () => Effect.sync(() => this.numbersAhead = 0)),
        () => {
          send()
          const { stored } = this
          const { lastEvent } = this.turn.session.root
          if (stored?.lastEvent === lastEvent - 1) this.stored = { ...stored, lastEvent }
        }
      )
    })
  }

  /** Whether the store has this turn as it is now. */
  get isStored(): boolean {
    return this.hasStore && this.stored !== undefined && isSameMark(this.stored, this.markNow())
  }

  /** Notes that the store has this turn as it is now, or a state that leads to it without hooks, model and tools. */
  noteStored(): void {
    this.stored = this.markNow()
  }

  private markNow(): StoredMark {
    const { session, state } = this.turn
    return markOf(session, state, this.root.records.length)
  }

  private write(mark: StoredMark): Effect.Effect<void, PortFailed> {
    const { agent: { config: { store } }, depth, parent, session } = this.turn
    if (parent === undefined && (store === undefined || depth > 0)) return Effect.void
    const written = parent === undefined ? commitTurn(store!, session, this) : parent.io.writeTree
    const noted = Effect.onExit(written, (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit) || this.commits > 0) return
        if (Cause.hasInterruptsOnly(exit.cause)) this.claim = "unknown"
        else if (isConflict(Cause.squash(exit.cause))) this.claim = "lost"
      }))
    return Effect.map(noted, () => {
      this.stored = { ...mark, lastEvent: mark.lastEvent + (this.held?.length ?? 0) }
      this.releaseEvents()
    })
  }

  /** Commits the whole tree for a sub-agent. */
  get writeTree(): Effect.Effect<void, PortFailed> {
    const { parent } = this.turn
    return parent === undefined ? this.write(this.markNow()) : parent.io.writeTree
  }

  /** Writes a text as an artifact, in the background. A failure is logged. */
  keepArtifact(key: string, content: string, toolCallId?: string): void {
    const { agent: { artifacts }, session: { root } } = this.turn
    const about = toolCallId === undefined ? { by: "runtime" } : { by: "runtime", toolCallId }
    this.runBeside(
      Effect.catchCause(
        portEffect("write of artifacts", () => artifacts.write(root.id, key, content, about)),
        (cause) => Effect.logWarning(oneLine(`${key} could not be stored: ${messageOf(Cause.squash(cause))}`))
      )
    )
  }

  // Time and cancellation.

  /** The deadlines of this turn. */
  get deadlines(): Deadlines {
    return this.timers ??= new Deadlines()
  }

  /** Aborts when the turn is cancelled or has ended. */
  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal
    this.controller = new AbortController()
    if (this.isAborted) this.abortSignal()
    return this.controller.signal
  }

  abortSignal(): void {
    this.isAborted = true
    this.controller?.abort(ended ??= Object.freeze(new DOMException("This operation was aborted", "AbortError")))
  }

  /** Runs an Effect in the background, with the logger and metrics of the turn. */
  private runBeside(effect: Effect.Effect<void>): void {
    if (this.services === undefined) Effect.runFork(effect)
    else Effect.runForkWith(this.services)(effect)
  }
}

/**
 * The reason of all signals. An error is expensive to create, because it has a stack. It is frozen, so that nothing of
 * one turn, such as its `partial`, reaches another one with it.
 */
let ended: DOMException | undefined

const placeOf = ({ agent, parent, parentCall }: TurnPlace): EventPlace => {
  const above = parent?.io.place.agentPath ?? []
  const agentPath = Object.freeze([...above, agent.info.name])
  if (parent === undefined || parentCall === undefined) return { agentPath }
  return { agentPath, parent: Object.freeze({ sessionId: parent.session.id, callId: parentCall }) }
}
