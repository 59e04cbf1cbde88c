/** The context of a call for the dispatcher. */
import type { HostSignal } from "../../../data/Delegation.ts"
import { encodeJson } from "../../../data/internal/encodeJson.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { SideRequest } from "../../../data/SideRequest.ts"
import { awaitable } from "../../../guard/internal/capability/runPromise.ts"
import { askSignal } from "../../../guard/internal/point/signal.ts"
import { toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { DispatchContext } from "../../../port/ToolDispatcher.ts"
import type { Turn } from "../running/turn.ts"

/** A class, because every call makes one, and each part is built only when the dispatcher uses it. */
export class CallContext implements DispatchContext {
  readonly timeoutMs: number
  private readonly turn: Turn
  private readonly call: ToolCall

  constructor(turn: Turn, call: ToolCall, timeoutMs: number) {
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
    return this.turn.operations.askModelForTool(this.turn, request, this.call.name)
  }
  sendSignal(signal: HostSignal) {
    return awaitable(this.turn, toEffect(() => askSignal(this.turn, signal)))
  }
  warn(message: string) {
    this.turn.io.warn(message, "runtime")
  }
}
