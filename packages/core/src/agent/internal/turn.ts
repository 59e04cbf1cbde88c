/** The state of a turn while it runs: what `RunState` says as JSON, as fields that the phases work on. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Semaphore from "effect/Semaphore"
import { PortFailed } from "../../data/AgentError.ts"
import type { AgentEventBody } from "../../data/AgentEvent.ts"
import type { Json } from "../../data/Json.ts"
import { type AssistantMessage, type Message, type ToolCall, whyInvalid } from "../../data/Message.ts"
import * as RunState from "../../data/RunState.ts"
import type { ToolResult } from "../../data/Tool.ts"
import type { TurnInput } from "../../data/Turn.ts"
import * as Usage from "../../data/Usage.ts"
import type { Outcome } from "../../hook/HookChain.ts"
import type { HookContext, HookScope, InjectOptions } from "../../hook/HookContext.ts"
import type { HookPointName, In } from "../../hook/HookPoint.ts"
import type { HookFailure, HookRecord } from "../../hook/HookRecord.ts"
import type { TurnEnded } from "../TurnEnded.ts"
import { publish } from "./events.ts"
import type { Resolved } from "./resolved.ts"
import { say } from "./say.ts"
import type { Session } from "./session.ts"
import { Watch } from "./watch.ts"

/** One tool call at work. */
export interface Work {
  readonly call: ToolCall
  status: RunState.CallState["status"]
  ask?: RunState.PendingAsk
  decision?: RunState.Decision
  settled?: Array<{ readonly hook: string; readonly fingerprint: string }>
  executedArgs?: Json
  result?: ToolResult
}

/** Counts broken hooks, by hook, point and what followed. */
const hookFailures = Metric.counter("belay_hook_failures", { description: "hooks that broke", incremental: true })

/** Longest injection, in characters. */
const maxInjection = 10_000

/** A class because it is the one object of a turn: the scope of its hooks and the state of its machine. */
export class Turn implements HookScope {
  readonly host: Resolved
  readonly session: Session
  input: TurnInput
  readonly turnNumber: number
  stepNumber = 0
  phase: RunState.RunState["phase"] = "model"
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
  private saves: Semaphore.Semaphore | undefined = undefined
  private deadlines: Watch | undefined = undefined
  private controller: AbortController | undefined = undefined

  constructor(host: Resolved, session: Session, input: TurnInput, turnNumber: number) {
    this.host = host
    this.session = session
    this.input = input
    this.turnNumber = turnNumber
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
  get signal(): AbortSignal {
    return (this.controller ??= new AbortController()).signal
  }
  get onRecord() {
    return this.listened || this.host.config.records === true ? (record: HookRecord) => this.record(record) : undefined
  }
  get listened() {
    return this.host.hub.listeners.size > 0
  }
  active() {
    return this.listened
  }
  emit(name: string, payload: Json, hook: string) {
    this.publish({ type: "custom", hook, name, payload })
  }

  inject(text: string, options: InjectOptions | undefined, hook: string): void {
    const cut = text.length > maxInjection ? `${text.slice(0, maxInjection)}\n[cut: ${text.length - maxInjection} more characters]` : text
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
    if (this.host.config.records === true) this.records.push(record)
    if (this.listened && record.hooks.length > 0) this.publish({ type: "hook", record })
  }
  private log(message: string): void {
    this.tell(Effect.logWarning(message))
  }
  /** Runs beside the turn, with its logger and metrics. */
  private tell(effect: Effect.Effect<void>): void {
    if (this.services === undefined) Effect.runFork(effect)
    else Effect.runForkWith(this.services)(effect)
  }

  // What the phases use.

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

  /** Takes back what was shown since the last `llm-start`. */
  retract(reason: string): void {
    if (this.shown !== "") this.publish({ type: "retract", reason })
    this.shown = ""
  }

  /** Adds messages from elsewhere to the conversation, when a provider would take them. */
  add(messages: ReadonlyArray<Message>, by: string): void {
    const { session } = this
    const why = !Array.isArray(messages) ? "expected an array of messages" : whyInvalid(messages) ?? session.clash(messages)
    if (why !== undefined) return this.warn(`${by} gave messages that were refused: ${why}`, "runtime")
    this.messages.push(...messages)
    session.admit(messages)
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
      this.messages.push(toolMessage(call, result ?? { ok: false, error: status === "started" ? interrupted : why }))
    }
    this.calls = []
    this.phase = "model"
  }

  /** The state as JSON. */
  snapshot(): RunState.RunState {
    return {
      version: RunState.version,
      sessionId: this.session.id,
      turnNumber: this.turnNumber,
      stepNumber: this.stepNumber,
      coreType: this.coreType,
      input: this.input,
      phase: this.phase,
      messages: [...this.messages],
      ...(this.open === undefined ? {} : { open: this.open }),
      calls: this.calls.map(({ settled, ...work }) => settled === undefined ? work : { ...work, settled: [...settled] }),
      injections: this.session.injections,
      usage: this.usage,
      counts: {
        llmCalls: this.llmCalls,
        toolCalls: this.toolCalls,
        followUps: this.followUpCount,
        elapsedMs: this.elapsedBefore + performance.now() - this.began
      },
      hookState: this.session.state.snapshot()
    }
  }

  /** Hands the state to the store, where there is one. */
  save(): Effect.Effect<void, PortFailed> {
    const { store } = this.host.config
    if (store === undefined) return Effect.void
    // One after the other, each with what is true when it begins: an older state never comes last.
    this.saves ??= Semaphore.makeUnsafe(1)
    return Effect.catchCause(this.saves.withPermit(Effect.suspend(() => store.save(this.snapshot()))), (why) => {
      const cause = Cause.squash(why)
      return new PortFailed({ port: "store", message: `the session store could not save ${this.session.id}: ${say(cause)}`, cause })
    })
  }
}

/** Restores a turn from its state. */
export const restore = (host: Resolved, session: Session, state: RunState.RunState): Turn => {
  const turn = new Turn(host, session, state.input, state.turnNumber)
  turn.stepNumber = state.stepNumber
  turn.phase = state.phase
  turn.open = state.open
  turn.calls = state.calls.map(({ settled, ...call }) => settled === undefined ? { ...call } : { ...call, settled: [...settled] })
  for (const { id } of state.open?.toolCalls ?? []) session.ids.add(id)
  turn.usage = state.usage
  turn.llmCalls = state.counts.llmCalls
  turn.toolCalls = state.counts.toolCalls
  turn.followUpCount = state.counts.followUps
  turn.elapsedBefore = state.counts.elapsedMs
  return turn
}

const interrupted = "interrupted while it ran: its outcome is unknown"

/** The message that carries a result. */
const toolMessage = (call: ToolCall, result: ToolResult): Message =>
  result.ok
    ? { role: "tool", toolCallId: call.id, toolName: call.name, content: result.output }
    : { role: "tool", toolCallId: call.id, toolName: call.name, content: result.error, isError: true }

/** Ends the turn from within. A plain object: no stack is captured. */
export const ended = (end: TurnEnded["end"]): Effect.Effect<never, TurnEnded> => Effect.fail({ _tag: "TurnEnded", end })

/** Whether a failure is such an end. */
export const isEnded = (error: unknown): error is TurnEnded =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "TurnEnded"
