/** The context of a call: for the dispatcher, and what the dispatcher of the agent makes of it for the tool. */
import * as Effect from "effect/Effect"
import type { HostSignal } from "../../../data/Delegation.ts"
import * as Awaitable from "../../../data/effect/Awaitable.ts"
import { encodeJson } from "../../../data/internal/encodeJson.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { SideRequest } from "../../../data/SideRequest.ts"
import { artifactsFor } from "../../../guard/internal/capability/artifacts.ts"
import { awaitable } from "../../../guard/internal/capability/runPromise.ts"
import { askSignal } from "../../../guard/internal/point/signal.ts"
import { toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { Artifacts, AskModel } from "../../../hook/HookContext.ts"
import type { DispatchContext } from "../../../port/ToolDispatcher.ts"
import type { ToolContext } from "../../defineTool.ts"
import type { ToolTurn } from "../running/turnParts.ts"

/** A class, because every call makes one, and each part is built only when it is used. */
export class RunningContext implements ToolContext {
  /** Whether the call has its result, or was cancelled. */
  hasEnded = false
  private readonly call: ToolCall
  private readonly about: DispatchContext
  private controller: AbortController | undefined = undefined
  /** The signal is made when the tool looks at it, which can be after the call was cancelled. */
  private isAborted = false
  private cancelTimeout: (() => void) | undefined = undefined
  private expire: (() => void) | undefined = undefined
  private stop: (() => void) | undefined = undefined

  constructor(call: ToolCall, about: DispatchContext) {
    this.call = call
    this.about = about
  }

  // For the tool.

  get callId() {
    return this.call.id
  }
  get artifacts(): Artifacts {
    const { about: { artifacts: store, rootSessionId: sessionId }, call, signal } = this
    return artifactsFor({
      store,
      sessionId,
      own: "tool:",
      about: { by: call.name, toolCallId: call.id },
      run: (effect) => Awaitable.make(effect, (one) => Effect.runPromise(one, { signal }))
    })
  }
  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal
    this.controller = new AbortController()
    if (this.isAborted) this.controller.abort()
    return this.controller.signal
  }
  get idempotencyKey() {
    return this.about.idempotencyKey
  }
  get sessionId() {
    return this.about.sessionId
  }
  get cwd() {
    return this.about.cwd
  }
  /** A tool may take the function out of its context. */
  get progress() {
    return (value: unknown): void => {
      if (!this.hasEnded) this.about.progress(value)
    }
  }
  get llm() {
    // The runtime decodes an answer with a schema, and then adds `object`.
    return ((request: SideRequest) => this.about.llm(request)) as AskModel
  }
  get sendSignal() {
    return (signal: HostSignal) => this.about.sendSignal(signal)
  }

  // For the code that runs the tool.

  get tool() {
    return this.call.name
  }
  get timeoutMs() {
    return this.about.timeoutMs
  }
  get textLength() {
    return this.about.textLength
  }
  warn(message: string): void {
    this.about.warn(message)
  }
  /** Calls the function when the time is up, instead of an earlier one. The time starts with the first call. */
  onTimeout(expire: () => void): void {
    this.expire = expire
    this.cancelTimeout ??= this.about.onTimeout(() => this.expire?.())
  }
  /** Calls the function when the call is cancelled or takes too long. */
  onAbort(stop: () => void): void {
    this.stop = stop
  }
  end(): void {
    this.hasEnded = true
    this.cancelTimeout?.()
  }
  abort(): void {
    this.end()
    this.isAborted = true
    this.controller?.abort()
    this.stop?.()
  }
}

/** A class, because every call makes one, and each part is built only when the dispatcher uses it. */
export class CallContext implements DispatchContext {
  readonly timeoutMs: number
  private readonly turn: ToolTurn
  private readonly call: ToolCall

  constructor(turn: ToolTurn, call: ToolCall, timeoutMs: number) {
    this.turn = turn
    this.call = call
    this.timeoutMs = timeoutMs
  }
  get sessionId() {
    return this.turn.session.id
  }
  get idempotencyKey() {
    return `${this.turn.session.id}/${this.turn.state.turnNumber}/${this.call.id}`
  }
  get cwd() {
    return this.turn.agent.cwd
  }
  get textLength() {
    return this.turn.agent.limits.textLength
  }
  get artifacts() {
    return this.turn.agent.artifacts
  }
  get rootSessionId() {
    return this.turn.session.root.id
  }
  onTimeout(expire: () => void) {
    return this.turn.io.deadlines.add(this.timeoutMs, expire)
  }
  progress(value: unknown) {
    const { call: { id, name }, turn: { io } } = this
    if (!io.hasListeners) return
    const { json, lost } = encodeJson(value, this.textLength)
    if (lost !== undefined) io.warn(`a part of the progress of ${name} is lost: ${lost}`, "runtime")
    io.publish({ type: "tool-progress", callId: id, tool: name, value: json })
  }
  llm(request: SideRequest) {
    return this.turn.askModelForTool(request, this.call.name)
  }
  sendSignal(signal: HostSignal) {
    return awaitable(this.turn, toEffect(() => askSignal(this.turn, signal)))
  }
  warn(message: string) {
    this.turn.io.warn(message, "runtime")
  }
}
