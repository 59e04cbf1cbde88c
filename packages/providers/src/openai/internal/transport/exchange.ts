/** Runs one request: time limits, decoding of the answer, and delivery of deltas. */
import { textOf } from "#platform"
import type { LlmDelta } from "@belay/core/LlmCall"
import type { ProviderError, Timeout } from "@belay/core/ProviderError"
import * as Exit from "effect/Exit"
import { compact, parse } from "../request/guards.ts"
import { pageAdvice } from "../response/address.ts"
import * as Errors from "../response/errors.ts"
import * as Sse from "../response/sse.ts"
import type { Assembler, Outcome } from "../response/stream.ts"
import * as Template from "../response/template.ts"
import {
  chunksIn,
  type Exchange,
  firstCharacter,
  isEnd,
  join,
  longestAnswer,
  longestError,
  longestEvent,
  longestStream,
  longestTimer
} from "./exchangeParts.ts"
import type { Handle, Incoming, Listener, Transport } from "./transport.ts"

/** Starts an exchange and calls `done` once. Returns a function that aborts it. */
export const run = <A>(
  transport: Transport,
  exchange: Exchange<A>,
  done: (exit: Exit.Exit<A, ProviderError>) => void
): () => void => {
  const running = new Running(exchange, done)
  running.start(transport)
  return () => running.cancel()
}

/** A class, because thousands of them wait at once. What reads the answer is made when the answer begins. */
class Running<A> implements Listener {
  private readonly exchange: Exchange<A>
  private readonly done: (exit: Exit.Exit<A, ProviderError>) => void
  private handle: Handle | undefined = undefined
  private incoming: Incoming | undefined = undefined
  private phase: Timeout["phase"] = "headers"
  private phaseMs: number
  private phaseAt = performance.now()
  private timer: ReturnType<typeof setTimeout> | undefined = undefined
  /** When the timer fires. If a phase has time left then, the timer is set again. */
  private timerAt = 0
  private total: ReturnType<typeof setTimeout> | undefined = undefined
  private isOver = false
  private mode: "unknown" | "events" | "whole" | "error" = "unknown"
  private size = 0
  private parts: Array<Uint8Array> | undefined = undefined
  private assembler: Assembler<A> | undefined = undefined
  private template: Template.Template | undefined = undefined
  private events: Sse.SseDecoder | undefined = undefined
  private found: Outcome<A> | undefined = undefined
  /** Whether the reader of the deltas is busy. The deltas that arrive meanwhile are in the queue. */
  private isBusy = false
  private queue: Array<LlmDelta> | undefined = undefined

  constructor(exchange: Exchange<A>, done: (exit: Exit.Exit<A, ProviderError>) => void) {
    this.exchange = exchange
    this.done = done
    this.phaseMs = exchange.timeouts.headersMs
  }

  start(transport: Transport): void {
    const { body, headers, timeouts: { firstEventMs, headersMs, idleMs, totalMs } } = this.exchange
    // The shortest limit, so that most phases need no timer of their own.
    this.setTimer(Math.min(headersMs, firstEventMs, idleMs))
    if (totalMs !== undefined && totalMs <= longestTimer) this.total = setTimeout(expired, totalMs, this)
    this.handle = transport(headers, body, this)
  }

  cancel(): void {
    if (this.end()) this.handle?.abort()
  }

  // The transport.

  onHeaders(given: Incoming): void {
    if (this.isOver) return
    this.incoming = given
    if (given.status < 200 || given.status >= 300) this.mode = "error"
    this.enter("first-event", this.exchange.timeouts.firstEventMs)
  }
  onData(bytes: Uint8Array): void {
    try {
      this.take(bytes)
    } catch (defect) {
      this.die(defect)
    }
  }
  onEnd(): void {
    try {
      this.takeEnd()
    } catch (defect) {
      this.die(defect)
    }
  }
  onError(error: Error): void {
    try {
      if (this.isOver || this.found !== undefined) return
      if (this.mode === "error") return this.takeEnd()
      if (this.hasFinished) return this.finish(this.reader.end(false))
      this.fail(Errors.connection(this.exchange.source, error, this.facts()))
    } catch (defect) {
      this.die(defect)
    }
  }

  // The end.

  private end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    clearTimeout(this.timer)
    if (this.total !== undefined) clearTimeout(this.total)
    return true
  }
  private settle(exit: Exit.Exit<A, ProviderError>, how: "abort" | "release"): void {
    if (!this.end()) return
    this.handle?.[how]()
    this.done(exit)
  }
  private fail(error: ProviderError): void {
    this.settle(Exit.fail(error), "abort")
  }
  private die(defect: unknown): void {
    this.settle(Exit.die(defect), "abort")
  }
  private failMalformed(reason: string, more: Partial<Errors.Failure> = {}): void {
    this.fail(Errors.malformedError(this.exchange.source, reason, { ...this.facts(), ...more }))
  }
  private facts(): Partial<Errors.Failure> {
    const { incoming } = this
    return {
      ...(incoming === undefined ? {} : { status: incoming.status, headers: incoming.headers }),
      ...(this.mode === "events" ? { partial: this.reader.partial() } : {})
    }
  }
  private inBand(body: unknown, more: Partial<Errors.Failure> = {}): ProviderError {
    return Errors.classify(this.exchange.source, {
      status: 200,
      headers: {},
      ...this.facts(),
      ...more,
      text: typeof body === "string" ? body : compact(body)
    })
  }
  /** Ends the exchange with what was found, after the last delta was read. */
  private finish(found: Outcome<A>): void {
    this.found = found
    if (!this.isBusy) this.conclude(found)
  }
  private conclude(found: Outcome<A>): void {
    if (found.type === "response") this.settle(Exit.succeed(this.completed(found.response)), "release")
    else if (found.type === "error") this.fail(this.inBand(found.body, { partial: this.reader.partial() }))
    else this.failMalformed(found.reason, this.mode === "events" ? {} : { text: this.text() })
  }
  private completed(response: A): A {
    const { incoming, reader } = this
    return incoming === undefined || reader.complete === undefined
      ? response
      : reader.complete(response, incoming.headers)
  }

  // Deltas.

  private get reader(): Assembler<A> {
    if (this.assembler !== undefined) return this.assembler
    const { assembler, request, sink, source } = this.exchange
    return this.assembler = assembler(
      request,
      source.provider,
      sink === undefined ? undefined : (delta) => this.deliver(delta)
    )
  }
  private deliver(delta: LlmDelta): void {
    const { sink } = this.exchange
    if (this.isOver || sink === undefined) return
    if (this.isBusy) {
      this.queue ??= []
      this.queue.push(delta)
      return
    }
    const answer = sink(delta)
    if (answer === undefined || typeof answer.then !== "function") return
    this.isBusy = true
    this.incoming?.pause()
    answer.then(() => this.delivered(), (defect: unknown) => this.die(defect))
  }
  private delivered(): void {
    this.isBusy = false
    const { queue = [] } = this
    this.queue = undefined
    try {
      for (const delta of queue) this.deliver(delta)
      if (this.isBusy || this.isOver) return
      if (this.found !== undefined) return this.conclude(this.found)
      this.phaseAt = performance.now()
      this.incoming?.resume()
    } catch (defect) {
      this.die(defect)
    }
  }

  // The body.

  private take(bytes: Uint8Array): void {
    if (this.isOver || this.found !== undefined) return
    this.size += bytes.length
    if (this.mode === "events") {
      if (this.size > longestStream) return this.failMalformed(`the stream is longer than ${longestStream} bytes`)
      if (this.events?.push(bytes) === true) this.progress()
      return
    }
    if (this.mode === "unknown") return this.sniff(bytes)
    this.parts ??= []
    this.parts.push(bytes)
    this.progress()
    if (this.mode === "error" && this.size > longestError) return this.takeEnd()
    if (this.size > longestAnswer) this.failMalformed(`the answer is longer than ${longestAnswer} bytes`)
  }
  /** Decides by the first character what the body is, because the content type of some vendors is wrong. */
  private sniff(bytes: Uint8Array): void {
    const first = firstCharacter(bytes)
    if (first === undefined) {
      if (this.size > longestError) this.failMalformed(`the body begins with ${this.size} blanks`)
      return
    }
    if (first === "{" || first === "[" || first === "<") {
      this.mode = "whole"
      this.parts = [bytes]
      return this.progress()
    }
    this.mode = "events"
    this.parts = [bytes.slice(0, 200)]
    this.template = Template.make()
    this.events = Sse.make({
      onData: (data, event) => this.takeEvent(data, event),
      onTooLong: () => this.failMalformed(`an event is longer than ${longestEvent} characters`)
    }, longestEvent)
    if (this.events.push(bytes)) this.progress()
  }
  private takeEvent(data: string, event: string): void {
    if (this.isOver || this.found !== undefined) return
    const { reader, template } = this
    const piece = event === "" ? template?.match(data) : undefined
    if (piece !== undefined) return reader.pushText(piece)
    if (isEnd(data)) return this.finish(reader.end(true))
    if (event === "error") return this.fail(this.inBand(data))
    for (const chunk of chunksIn(data)) {
      if (chunk === undefined) return this.failMalformed("an event is not JSON", { text: data })
      const error = reader.push(chunk)
      if (error !== undefined) return this.fail(this.inBand(error))
      template?.learn(data, chunk, reader.choice())
    }
  }
  private takeEnd(): void {
    if (this.isOver || this.found !== undefined) return
    const { incoming, mode } = this
    if (mode === "error") {
      const answer = { status: incoming?.status ?? 0, headers: incoming?.headers ?? {}, text: this.text() }
      return this.fail(Errors.classify(this.exchange.source, answer))
    }
    if (mode === "unknown") return this.failMalformed("the body is empty")
    if (mode === "whole") return this.finish(this.whole())
    this.events?.end()
    if (this.isOver || this.found !== undefined) return
    const found = this.reader.end(false)
    this.finish(
      found.type === "malformed" && this.phase !== "idle"
        ? { type: "malformed", reason: `no events in the stream: ${this.text().slice(0, 120)}` }
        : found
    )
  }
  private whole(): Outcome<A> {
    const body = this.text()
    if (body.trimStart().startsWith("<")) {
      return { type: "malformed", reason: `a page of HTML or XML${pageAdvice(this.exchange.source.address)}` }
    }
    const value = parse(body)
    if (value === undefined) return { type: "malformed", reason: "the body is not JSON" }
    const error = this.reader.push(value)
    return error === undefined ? this.reader.end(true) : { type: "error", body: error }
  }
  private text(): string {
    const text = textOf(join(this.parts ?? []))
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  /** Whether a stream is complete although its end is missing. */
  private get hasFinished(): boolean {
    return this.mode === "events" && this.reader.isFinished()
  }

  // Time limits.

  private enter(phase: Timeout["phase"], ms: number): void {
    this.phase = phase
    this.phaseMs = ms
    this.phaseAt = performance.now()
    if (this.phaseAt + ms < this.timerAt) this.setTimer(ms)
  }
  private progress(): void {
    if (!this.isOver) this.enter("idle", this.exchange.timeouts.idleMs)
  }
  private setTimer(ms: number): void {
    clearTimeout(this.timer)
    this.timerAt = performance.now() + ms
    this.timer = setTimeout(checkTime, Math.min(Math.ceil(ms), longestTimer), this)
  }
  checkTime(): void {
    if (this.isOver) return
    const leftMs = this.isBusy ? this.phaseMs : this.phaseAt + this.phaseMs - performance.now()
    if (leftMs > 0.5) return this.setTimer(leftMs)
    if (this.mode === "error") return this.takeEnd()
    if (this.hasFinished) return this.finish(this.reader.end(false))
    this.fail(Errors.timeout(this.exchange.source, this.phase, this.phaseMs, this.facts()))
  }
  expired(): void {
    this.fail(Errors.timeout(this.exchange.source, "total", this.exchange.timeouts.totalMs ?? 0, this.facts()))
  }
}

const checkTime = (running: { readonly checkTime: () => void }): void => running.checkTime()

const expired = (running: { readonly expired: () => void }): void => running.expired()
