/** The state of a turn while it runs: what `RunState` says as JSON, as fields that the phases work on. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { PortFailed } from "../../../data/AgentError.ts"
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import { refOf } from "../../../data/Artifact.ts"
import { messageOf, oneLine } from "../../../data/ErrorMessage.ts"
import type { Json } from "../../../data/Json.ts"
import { type AssistantMessage, type Message, type ToolCall, whyInvalid } from "../../../data/Message.ts"
import * as RunState from "../../../data/RunState.ts"
import { failure, type ToolResult } from "../../../data/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import * as Usage from "../../../data/Usage.ts"
import type { Outcome, Settled } from "../../../hook/HookChain.ts"
import type { HookContext, HookScope, InjectOptions, Lent } from "../../../hook/HookContext.ts"
import type { HookPointName, In } from "../../../hook/HookPoint.ts"
import type { HookFailure, HookRecord } from "../../../hook/HookRecord.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { Resolved } from "../config/resolvedAgent.ts"
import type { Session } from "../session/session.ts"
import { sealOf } from "../session/signature.ts"
import { Watch } from "./deadlines.ts"
import { publish } from "./eventHub.ts"
import { interrupted, toolMessage } from "./turnEnd.ts"

/** One tool call at work. */
export interface Work {
  readonly call: ToolCall
  status: RunState.CallState["status"]
  ask?: RunState.PendingAsk
  decision?: RunState.Decision
  settled?: Array<Settled>
  executedArgs?: Json
  result?: ToolResult
  /**
   * The turn of the agent that this call delegates to, while it is at work; or its state, when it comes from elsewhere.
   */
  sub?: Turn
  child?: RunState.RunState
  /** What people decided about the questions of that agent, by their ids there. */
  decisions?: { readonly [callId: string]: RunState.Decision }
  /** The agent that took over has answered. */
  takenOver?: string
}

/** By hook, point and what followed. */
const hookFailures = Metric.counter("belay_hook_failures", { description: "hooks that broke", incremental: true })

/** Longest injection, in characters. */
const maxInjection = 10_000

/** What a turn is part of. */
export interface Origin {
  /** The turn that delegated to this one. */
  readonly parent?: Turn
  /** How many hooks are around it: 0 for the agent's own, 1 for what a hook asked. */
  readonly depth?: number
  /** Of what a hook asked: the turn it runs in. */
  readonly around?: Turn
}

/** A class because it is the one object of a turn: the scope of its hooks and the state of its machine. */
export class Turn implements HookScope {
  readonly host: Resolved
  session: Session
  input: TurnInput
  readonly turnNumber: number
  stepNumber = 0
  phase: RunState.RunState["phase"] = "start"
  open: AssistantMessage | undefined = undefined
  calls: Array<Work> = []
  followUps: Array<string> = []
  usage: Usage.Usage = Usage.zero
  llmCalls = 0
  toolCalls = 0
  followUpCount = 0
  /** What this run (since it was started or resumed) has used of its limits. */
  readonly used = { steps: 0, toolCalls: 0, followUps: 0 }
  /** Milliseconds of earlier runs of this turn, and when this one began. */
  elapsedBefore = 0
  readonly began = performance.now()
  compactedForOverflow = false
  budgetLevel: "none" | "warn" | "exceeded" = "none"
  /** The services of the fiber it runs in. */
  services: Context.Context<never> | undefined = undefined
  /** The wall clock has interrupted it. */
  expired = false
  /** The session's start was refused: the next turn starts it again. */
  unstarted = false
  /** How long the last LLM call took, where somebody listens. */
  llmMs = 0
  /** Text of the current LLM call that listeners have seen. */
  shown = ""
  readonly records: Array<HookRecord> = []
  readonly contexts: Array<HookContext | undefined> = []
  readonly parent: Turn | undefined
  readonly depth: number
  readonly around: Turn | undefined
  private loan: Lent | undefined = undefined
  private recorded = 0
  private spilled = 0
  private deadlines: Watch | undefined = undefined
  private controller: AbortController | undefined = undefined

  constructor(host: Resolved, session: Session, input: TurnInput, turnNumber: number, origin?: Origin) {
    this.host = host
    this.session = session
    this.input = input
    this.turnNumber = turnNumber
    this.parent = origin?.parent
    this.depth = origin?.depth ?? 0
    this.around = origin?.around
  }

  /** The turn of the agent that the host started. */
  get root(): Turn {
    return this.parent === undefined ? this : this.parent.root
  }

  // What hooks see.

  get sessionId() {
    return this.session.id
  }
  get coreType() {
    return this.host.core.coreType
  }
  get agent() {
    return this.host.info
  }
  get cwd() {
    return this.host.cwd
  }
  get freeze() {
    return this.host.freeze
  }
  get state() {
    return this.session.state
  }
  /** What hooks may borrow. */
  get lent(): Lent {
    return this.loan ??= this.host.lend(this)
  }
  get signal(): AbortSignal {
    return (this.controller ??= new AbortController()).signal
  }
  get onRecord() {
    return this.listened || this.host.config.records === true ? (record: HookRecord) => this.record(record) : undefined
  }
  /** What hooks ask for themselves is nobody else's business. */
  get listened() {
    return this.depth === 0 && this.host.hub.active
  }
  active() {
    return this.listened
  }
  emit(name: string, payload: Json, hook: string) {
    this.publish({ type: "custom", hook, name, payload })
  }

  inject(text: string, options: InjectOptions | undefined, hook: string): void {
    const cut = text.length > maxInjection ? this.spill(text) : text
    const injection: RunState.Injection = {
      hook,
      text: cut,
      ...(options?.key === undefined ? {} : { key: options.key }),
      ...(options?.pinned === undefined ? {} : { pinned: options.pinned })
    }
    const { session } = this
    const kept = options?.mode === "overwrite"
      ? session.injections.filter(({ key }) => key === undefined || key !== options.key)
      : session.injections
    session.injections = [...kept, injection]
    if (this.listened) this.publish({ type: "inject", hook, text: cut })
  }
  /** Keeps a text that is too long as an artifact. */
  private spill(text: string): string {
    const key = `hook:injection/${this.session.id}/${this.turnNumber}.${++this.spilled}`
    this.keep(key, text)
    return `${text.slice(0, maxInjection)}\n[cut: ${text.length - maxInjection} more characters, all of it is ${
      refOf(key)
    }]`
  }
  warn(message: string, hook: string): void {
    if (this.listened) this.publish({ type: "warning", hook, message })
    this.log(`${hook}: ${message}`)
  }
  notifyUser(message: string, hook: string): void {
    if (this.listened) this.publish({ type: "notice", hook, message })
  }
  followUp(message: string): void {
    this.followUps.push(message)
  }
  onFailure(failure: HookFailure): void {
    if (this.listened) this.publish({ type: "hook-failed", ...failure })
    const { hook, point, policy } = failure
    this.tell(Metric.update(Metric.withAttributes(hookFailures, { hook, point, policy }), 1))
    this.log(
      `hook ${failure.hook} failed at ${failure.point} (${failure.kind}, ${
        failure.policy === "open" ? "fail-open, went on" : failure.policy
      }): ${failure.message}`
    )
  }
  onLate(hook: string, what: string): void {
    if (this.listened) this.publish({ type: "hook-late", hook, what })
    this.log(`hook ${hook} came too late: ${what} dropped`)
  }
  private record(record: HookRecord): void {
    if (this.host.config.records === true) this.root.records.push(record)
    if (this.listened && record.hooks.length > 0) this.publish({ type: "hook", record })
  }
  private log(message: string): void {
    this.tell(Effect.logWarning(oneLine(message)))
  }
  /** Runs beside the turn, with its logger and metrics. */
  private tell(effect: Effect.Effect<void>): void {
    if (this.services === undefined) Effect.runFork(effect)
    else Effect.runForkWith(this.services)(effect)
  }

  /** Runs a point: the outcome, nothing, or an Effect to wait for. */
  fold<P extends HookPointName>(point: P, event: In<P>): Outcome<P> | undefined | Effect.Effect<Outcome<P>> {
    return this.host.chain.fold(point, event, this)
  }

  publish(body: AgentEventBody): void {
    if (this.listened) {
      publish(this.host.hub, {
        sessionId: this.session.id,
        turnNumber: this.turnNumber,
        stepNumber: this.stepNumber,
        agent: this.host.info,
        session: this.session
      }, body)
    }
  }

  /** The deadlines of this turn. */
  get watch(): Watch {
    return this.deadlines ??= new Watch()
  }

  /** Goes on in another session. */
  move(next: Session): void {
    const { session } = this
    next.status = session.status
    next.stop = session.stop
    session.status = "closed"
    session.stop = undefined
    session.owner?.follow(next)
    this.session = next
  }

  /** Keeps a text as an artifact, beside the turn. */
  keep(key: string, content: string, toolCallId?: string): void {
    const { host: { artifacts }, session: { root } } = this
    const about = { by: "runtime", ...(toolCallId === undefined ? {} : { toolCallId }) }
    this.tell(
      Effect.catchCause(
        artifacts.write(root.id, key, content, about),
        (cause) => Effect.logWarning(oneLine(`${key} could not be kept: ${messageOf(Cause.squash(cause))}`))
      )
    )
  }

  /** Takes back what was shown since the last `llm-start`. */
  retract(reason: string): void {
    if (this.shown !== "") this.publish({ type: "retract", reason })
    this.shown = ""
  }

  /** Puts another history in place of this one, when a provider would take it. */
  rewrite(messages: ReadonlyArray<Message>, by: string): void {
    const why = whyInvalid(messages)
    if (why !== undefined) return this.warn(`the new history was refused: ${why}`, by)
    this.session.replace(messages)
  }

  /** Ends the turn's signal, for whoever asked for it. */
  abortSignal(reason?: unknown): void {
    this.controller?.abort(reason)
  }

  get messages(): Array<Message> {
    return this.session.messages
  }

  /** Moves the open step into the conversation; calls without a result get an error that says why. */
  closeStep(why: string): void {
    const { open } = this
    if (open === undefined) return
    this.open = undefined
    this.messages.push(open)
    for (const { call, result, status } of this.calls) {
      this.messages.push(toolMessage(call, result ?? failure(status === "started" ? interrupted : why)))
    }
    this.calls = []
    this.phase = "model"
  }

  /** The state as JSON. */
  snapshot(): RunState.RunState {
    return {
      version: RunState.version,
      sessionId: this.session.id,
      revision: this.session.revision,
      turnNumber: this.turnNumber,
      stepNumber: this.stepNumber,
      coreType: this.coreType,
      input: this.input,
      phase: this.phase,
      messages: [...this.messages],
      ...(this.open === undefined ? {} : { open: this.open }),
      calls: this.calls.map(stateOf),
      injections: this.session.injections,
      usage: this.usage,
      counts: {
        llmCalls: this.llmCalls,
        toolCalls: this.toolCalls,
        followUps: this.followUpCount,
        elapsedMs: this.elapsedBefore + performance.now() - this.began
      },
      hookState: this.session.state.snapshot(),
      ...(this.parent === undefined && this.session.hasDurable ? { durable: this.session.durable.snapshot() } : {})
    }
  }

  /** Finds out whether a step that was interrupted was kept. */
  private ascertain(store: SessionStore): Effect.Effect<void, unknown> {
    const { session } = this
    return Effect.map(store.load(session.id), (state) => {
      if (state?.revision === session.revision + 1) session.revision++
      session.saved = { log: undefined, length: 0 }
      session.unsure = false
    })
  }

  /** Adds the proof that nobody changed it, where the agent has a key. */
  sealed<State extends Omit<RunState.RunState, "messages">>(state: State): Effect.Effect<State> {
    const key = this.host.config.approvals?.keys?.[0]
    return key === undefined
      ? Effect.succeed(state)
      : Effect.promise(async () => ({ ...state, seal: await sealOf(key, state) }))
  }

  /** Hands the state to the store, where there is one. */
  save(): Effect.Effect<void, PortFailed> {
    if (this.parent !== undefined) return this.root.save()
    const { session } = this
    const { store } = this.host.config
    if (store === undefined || this.depth > 0) return Effect.void
    // One after the other, each with what is true when it begins: an older state never comes last.
    const commit = Effect.suspend(() => {
      const revision = session.revision + 1
      const log = session.messages
      const { length } = log
      const from = session.saved.log === log ? session.saved.length : 0
      const recorded = this.records.length
      const { messages: _messages, ...rest } = { ...this.snapshot(), revision }
      const records = this.records.slice(this.recorded, recorded)
      const messages = log.slice(from, length)
      return Effect.map(
        Effect.flatMap(this.sealed(rest), (state) => {
          const snapshot = () => ({ ...state, messages: log.slice(0, length) })
          return store.commit({ sessionId: session.id, revision, from, messages, state, records, snapshot })
        }),
        () => {
          session.revision = revision
          session.saved = { log, length }
          this.recorded = recorded
        }
      )
    })
    const saved = Effect.onInterrupt(
      session.unsure ? Effect.andThen(this.ascertain(store), commit) : commit,
      () => Effect.sync(() => void (session.unsure = true))
    )
    return Effect.catchCause(session.saving.withPermit(saved), (why) => {
      const cause = Cause.squash(why)
      return new PortFailed({
        port: "store",
        message: `the session store could not save ${session.id}: ${messageOf(cause)}`,
        cause
      })
    })
  }
}

/** A call as JSON. */
const stateOf = (
  { child, decisions: _decisions, settled, sub, takenOver: _takenOver, ...work }: Work
): RunState.CallState => {
  const inner = sub === undefined ? child : sub.snapshot()
  return {
    ...work,
    ...(settled === undefined ? {} : { settled: [...settled] }),
    ...(inner === undefined ? {} : { child: inner as unknown as Json })
  }
}
