/** The open spans of an agent, and how events and calls begin, describe and end them. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { PreToolCallEvent, ToolResult } from "@belay/core/Tool"
import { add as addUsage, type Usage, zero } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { attribute, hookSpan, metric, operation } from "../Conventions.ts"
import { type Redact, render, requestContent, responseContent } from "./content.ts"
import { bare, type EndedCall, endSpan, failure } from "./endedCall.ts"
import { hookRunOf } from "./hookRuns.ts"
import {
  answerAttributes,
  type Attempt,
  errorTypeOf,
  modelAttributes,
  toolAttributes,
  turnAttributes,
  usageAttributes
} from "./spanAttributes.ts"
import { decisionsOf, spanEventOf } from "./spanEvents.ts"
import { type Attributes, known, nanos, type SpanPlace, type Telemetry } from "./telemetry.ts"

type Event<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>

/** The turn of one agent. */
interface OpenTurn {
  readonly span: Tracer.Span
  readonly agent: string
  readonly startedAt: number
  /** The turn of the agent that has delegated to this one, and whether this is a later part of a turn. */
  readonly parent: OpenTurn | undefined
  readonly resumed: boolean
  /** Whether the part before was linked. */
  isLinked: boolean
  /** What this part has spent, with its sub-agents: the usage of a resumed turn has what earlier parts have spent. */
  spent: Usage
  /** The running model call. */
  running: Attempt
  /** The last model call. It has ended, and its event may tell more about it. */
  lastCall: EndedCall | undefined
  error: string | undefined
}

/** A class, because it is the state of a tracing plugin. */
export class Spans {
  private readonly telemetry: Telemetry
  private readonly redact: Redact | undefined
  /** By session. */
  private readonly turns = new Map<string, OpenTurn>()
  /** Running tools, by session and tool call. */
  private readonly tools = new Map<string, Tracer.Span>()
  /** The spans in which turns are about to begin, by session. */
  private readonly parents = new Map<string, Tracer.AnySpan>()
  /** Tool calls whose sub-agents wait for people or for another process. */
  private readonly waiting = new Set<string>()
  /** Decisions of a turn before its span begins, by session. */
  private readonly early = new Map<string, Array<AgentEvent>>()
  private last: AgentEvent | undefined

  constructor(telemetry: Telemetry, redact: Redact | undefined) {
    this.telemetry = telemetry
    this.redact = redact
  }

  /** Notes the span that surrounds the next turn of a session. */
  surround(sessionId: string, span: Tracer.AnySpan): void {
    this.parents.set(sessionId, span)
  }

  fail(sessionId: string, error: string): void {
    const turn = this.turns.get(sessionId)
    if (turn !== undefined) turn.error = error
  }

  take(event: AgentEvent): void {
    // An agent and its sub-agent may share the plugin. Both then receive the events of the sub-agent.
    if (event === this.last) return
    this.last = event
    if (event.type === "turn-start") {
      if (!this.telemetry.isOff()) this.begin(event)
      return
    }
    if (event.type === "session-end") return this.endEarly(event)
    if (event.type === "custom" && hookRunOf(event) === undefined) return
    const turn = this.turns.get(event.sessionId)
    if (turn === undefined) {
      if (isEarly.has(event.type) && !this.telemetry.isOff()) this.keep(event)
      return
    }
    if (event.type === "llm-start") {
      this.endLastCall(turn)
      turn.running = event
    } else if (event.type === "llm-end" || event.type === "llm-error") this.describeCall(turn, event)
    else if (event.type === "turn-end") this.end(turn, event)
    else this.note(turn, event)
  }

  /** Begins the span of a model call of a turn. */
  beginCall(request: LlmRequest, ctx: HookContext, time: number): Tracer.Span {
    const turn = this.turns.get(ctx.sessionId)
    // A call of a hook has no events of its own.
    const running = ctx.caller === undefined ? turn?.running : undefined
    const named = { ...request, ...modelOf(request.model ?? running?.model) }
    return this.span({
      name: named.model === undefined ? operation.model : `${operation.model} ${named.model}`,
      kind: "client",
      parent: turn?.span,
      time,
      attributes: () => ({
        ...modelAttributes(named, ctx, turn?.running.provider ?? unknown, running?.attempt),
        ...(this.redact === undefined ? {} : requestContent(this.redact, request))
      })
    })
  }

  /** Ends the span of a model call. Its event may follow, so the span is sent later. */
  endCall(span: Tracer.Span, ctx: HookContext, exit: Exit.Exit<LlmResponse, unknown>, from: number, to: number): void {
    const turn = this.turns.get(ctx.sessionId)
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    const partial = isProviderError(error) ? error.partial : undefined
    const answer = Exit.isSuccess(exit) ? exit.value : partial
    const errorType = errorTypeOf(exit)
    const labels = {
      [attribute.operation]: operation.model,
      [attribute.provider]: turn?.running.provider ?? unknown,
      [attribute.requestModel]: turn?.running.model,
      [attribute.responseModel]: answer?.model,
      [attribute.errorType]: errorType
    }
    this.telemetry.record(metric.modelDuration, (to - from) / 1_000, labels)
    this.count(answer?.usage, labels)
    if (turn !== undefined && answer?.usage !== undefined) turn.spent = addUsage(turn.spent, answer.usage)
    this.describe(span, () => ({
      ...answerAttributes(answer),
      [attribute.errorType]: errorType,
      ...(this.redact === undefined || !Exit.isSuccess(exit) ? {} : responseContent(this.redact, exit.value))
    }))
    const ended: EndedCall = { span, endedAt: nanos(to), exit: bare(exit) }
    if (turn === undefined || ctx.caller !== undefined) return endSpan(ended)
    this.endLastCall(turn)
    turn.lastCall = ended
  }

  beginTool(call: PreToolCallEvent, ctx: HookContext, time: number): Tracer.Span {
    const span = this.span({
      name: `${operation.tool} ${call.name}`,
      kind: "internal",
      parent: this.turns.get(ctx.sessionId)?.span,
      time,
      attributes: () => ({
        ...toolAttributes(call, ctx),
        ...(this.redact === undefined ? {} : { [attribute.toolArguments]: render(this.redact, call.args) })
      })
    })
    this.tools.set(keyOf(ctx.sessionId, call.id), span)
    return span
  }

  endTool(
    span: Tracer.Span,
    call: PreToolCallEvent,
    ctx: HookContext,
    exit: Exit.Exit<ToolResult, unknown>,
    from: number,
    to: number
  ): void {
    const key = keyOf(ctx.sessionId, call.id)
    this.tools.delete(key)
    // The placeholder of a sub-agent that waits looks like a failure.
    const isWaiting = this.waiting.delete(key)
    const hasFailed = Exit.isSuccess(exit) && !exit.value.ok && !isWaiting
    const errorType = hasFailed ? "tool_error" : errorTypeOf(exit)
    this.telemetry.record(metric.toolDuration, (to - from) / 1_000, {
      [attribute.operation]: operation.tool,
      [attribute.toolName]: call.name,
      [attribute.errorType]: errorType
    })
    this.describe(span, () => {
      const result = this.redact === undefined || !Exit.isSuccess(exit)
        ? undefined
        : render(this.redact, exit.value.ok ? exit.value.output : exit.value.error)
      return { [attribute.errorType]: errorType, [attribute.toolResult]: result }
    })
    endSpan({ span, endedAt: nanos(to), exit: hasFailed ? failure : bare(exit) })
  }

  /** Ends all spans that are open, because nothing more will be said about them. */
  endAll(time: number): void {
    for (const turn of this.turns.values()) {
      this.endLastCall(turn)
      turn.span.end(nanos(time), Exit.void)
    }
    this.turns.clear()
  }

  /**
   * Returns where the span of a turn is, so that its next part can be linked to it. `before` is the part before, in
   * this process or another one.
   */
  link(sessionId: string, before: SpanPlace | undefined): SpanPlace | undefined {
    const turn = this.turns.get(sessionId)
    if (turn === undefined) return undefined
    const { spanId, traceId } = turn.span
    if (turn.resumed && !turn.isLinked && before !== undefined && before.spanId !== spanId) {
      const span = Tracer.externalSpan({ ...before, sampled: true })
      turn.span.addLinks([{ span, attributes: { [attribute.link]: "previous part of the turn" } }])
    }
    turn.isLinked = true
    return { traceId, spanId }
  }

  private begin(event: Event<"turn-start">): void {
    const { agent, parent, sessionId, time } = event
    const noted = this.parents.get(sessionId)
    this.parents.delete(sessionId)
    const around = parent === undefined
      ? noted ?? this.telemetry.activeSpan()
      : this.tools.get(keyOf(parent.sessionId, parent.callId)) ?? this.turns.get(parent.sessionId)?.span ?? noted
    const span = this.span({
      name: `${operation.agent} ${agent}`,
      kind: "internal",
      parent: around,
      time,
      attributes: () => turnAttributes(event)
    })
    const open: OpenTurn = {
      span,
      agent,
      startedAt: time,
      parent: parent === undefined ? undefined : this.turns.get(parent.sessionId),
      resumed: event.resumed,
      isLinked: false,
      spent: zero,
      running: { provider: unknown, model: undefined, attempt: 1 },
      lastCall: undefined,
      error: undefined
    }
    this.turns.set(sessionId, open)
    for (const one of this.early.get(sessionId) ?? []) this.note(open, one)
    this.early.delete(sessionId)
  }

  private end(turn: OpenTurn, { failOpens, parent, sessionId, status, time, usage }: Event<"turn-end">): void {
    this.endLastCall(turn)
    this.turns.delete(sessionId)
    if (turn.parent !== undefined) turn.parent.spent = addUsage(turn.parent.spent, turn.spent)
    if (parent !== undefined && (status === "suspended" || status === "parked")) {
      this.waiting.add(keyOf(parent.sessionId, parent.callId))
    }
    const hasFailed = status === "failed" || status === "aborted"
    const errorType = hasFailed ? turn.error ?? status : undefined
    this.telemetry.record(metric.agentDuration, (time - turn.startedAt) / 1_000, {
      [attribute.operation]: operation.agent,
      [attribute.agentName]: turn.agent,
      [attribute.errorType]: errorType
    })
    this.describe(turn.span, () => ({
      [attribute.status]: status,
      [attribute.errorType]: errorType,
      [attribute.failOpens]: failOpens,
      ...usageAttributes(turn.resumed ? turn.spent : usage)
    }))
    endSpan({ span: turn.span, endedAt: nanos(time), exit: hasFailed ? failure : Exit.void })
  }

  /** Hooks that ran outside of turns have spans without a parent. */
  private endEarly({ sessionId }: AgentEvent): void {
    for (const one of this.early.get(sessionId) ?? []) this.noteRun(one, undefined)
    this.early.delete(sessionId)
  }

  private noteRun(event: AgentEvent, parent: Tracer.Span | undefined): void {
    const run = hookRunOf(event)
    if (run === undefined || this.telemetry.isOff()) return
    const attributes = () => run.attributes(this.redact)
    const name = `${hookSpan} ${run.event}`
    const span = this.span({ name, kind: "internal", parent, time: event.time - run.durationMs, attributes })
    endSpan({ span, endedAt: nanos(event.time), exit: run.hasFailed ? failure : Exit.void })
  }

  private keep(event: AgentEvent): void {
    const list = this.early.get(event.sessionId)
    if (list === undefined) this.early.set(event.sessionId, [event])
    else if (list.length < 100) list.push(event)
  }

  private describeCall(turn: OpenTurn, event: Event<"llm-end"> | Event<"llm-error">): void {
    const { firstDeltaMs } = event.type === "llm-end" ? event : { firstDeltaMs: undefined }
    if (firstDeltaMs !== undefined) {
      const seconds = firstDeltaMs / 1_000
      turn.lastCall?.span.attribute(attribute.timeToFirstChunk, seconds)
      this.telemetry.record(metric.timeToFirstChunk, seconds, {
        [attribute.operation]: operation.model,
        [attribute.provider]: turn.running.provider,
        [attribute.requestModel]: turn.running.model
      })
    }
    if (event.type === "llm-error" && turn.lastCall !== undefined) {
      turn.lastCall.span.attribute(attribute.decision, event.decision.type)
    }
    this.endLastCall(turn)
  }

  /** Adds an event to the span of the turn, or of the tool that it is about. */
  private note(turn: OpenTurn, event: AgentEvent): void {
    if (event.type === "hook") return this.noteDecisions(turn, event)
    if (event.type === "custom") return this.noteRun(event, turn.span)
    if (!this.telemetry.isRecording(turn.span)) return
    const said = spanEventOf(event, this.redact)
    if (said !== undefined) turn.span.event(said.name, nanos(event.time), known(said.attributes))
  }

  private noteDecisions(turn: OpenTurn, event: Event<"hook">): void {
    const { record: { callId }, sessionId, time } = event
    const span = (callId === undefined ? undefined : this.tools.get(keyOf(sessionId, callId))) ?? turn.span
    const isRecording = this.telemetry.isRecording(span)
    for (const { attributes, name } of decisionsOf(event, this.redact)) {
      const { [attribute.answer]: answer, [attribute.hook]: hook, [attribute.point]: point } = attributes
      this.telemetry.record(metric.hookDecisions, 1, {
        [attribute.hook]: hook,
        [attribute.point]: point,
        [attribute.answer]: answer
      })
      if (isRecording) span.event(name, nanos(time), known(attributes))
    }
  }

  private endLastCall(turn: OpenTurn): void {
    if (turn.lastCall !== undefined) endSpan(turn.lastCall)
    turn.lastCall = undefined
  }

  private count(usage: Usage | undefined, labels: Attributes): void {
    if (usage === undefined) return
    const add = (instrument: Parameters<Telemetry["record"]>[0], value: number | undefined) => {
      if (value !== undefined && value > 0) this.telemetry.record(instrument, value, labels)
    }
    add(metric.inputTokens, usage.inputTokens)
    add(metric.outputTokens, usage.billableOutputTokens ?? usage.outputTokens)
    add(metric.cacheReadTokens, usage.cachedTokens)
    add(metric.cacheWriteTokens, usage.cacheWriteTokens)
    add(metric.reasoningTokens, usage.reasoningTokens)
    add(metric.cost, usage.costUsd)
  }

  private span(
    { attributes, kind, name, parent, time }: {
      readonly name: string
      readonly kind: Tracer.SpanKind
      readonly parent: Tracer.AnySpan | undefined
      readonly time: number
      readonly attributes: () => Attributes
    }
  ): Tracer.Span {
    const span = this.telemetry.tracer.span({
      name,
      kind,
      parent: Option.fromUndefinedOr(parent),
      annotations: Context.empty(),
      links: [],
      startTime: nanos(time),
      root: parent === undefined,
      sampled: parent?.sampled ?? true
    })
    this.describe(span, attributes)
    return span
  }

  private describe(span: Tracer.Span, attributes: () => Attributes): void {
    if (!this.telemetry.isRecording(span)) return
    for (const [name, value] of Object.entries(known(attributes()))) span.attribute(name, value)
  }
}

/** Events that may come before the span of their turn begins. */
const isEarly: ReadonlySet<AgentEvent["type"]> = new Set(["hook", "hook-failed", "decided", "custom"])

const unknown = "unknown"

const modelOf = (model: string | undefined): { readonly model?: string } => model === undefined ? {} : { model }

const keyOf = (sessionId: string, callId: string): string => `${sessionId}\n${callId}`
