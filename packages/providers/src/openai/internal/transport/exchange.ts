/** Runs one request: time limits, decoding of the answer, and delivery of deltas. */
import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import type { ProviderError, Timeout } from "@belay/core/ProviderError"
import * as Exit from "effect/Exit"
import { compact, parse } from "../request/guards.ts"
import * as Errors from "../response/errors.ts"
import * as Sse from "../response/sse.ts"
import type { Assembler, Outcome } from "../response/stream.ts"
import * as Template from "../response/template.ts"
import type { Incoming, Transport } from "./transport.ts"

/** Time limits of one exchange, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number
  readonly firstEventMs: number
  readonly idleMs: number
  readonly totalMs?: number
}

/** The request, and how to read its answer. */
export interface Exchange<A> {
  readonly request: LlmRequest
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly source: Errors.Source
  readonly timeouts: Timeouts
  readonly sink: DeltaSink | undefined
  readonly assembler: (
    request: LlmRequest,
    provider: string,
    emit: ((delta: LlmDelta) => void) | undefined
  ) => Assembler<A>
}

const longestEvent = 8 * 1024 * 1024
const longestAnswer = 64 * 1024 * 1024
const longestStream = 256 * 1024 * 1024
const longestError = 64 * 1024

/** Starts an exchange and calls `done` once. Returns a function that aborts it. */
export const run = <A>(
  transport: Transport,
  exchange: Exchange<A>,
  done: (exit: Exit.Exit<A, ProviderError>) => void
): () => void => {
  const { sink, source, timeouts } = exchange
  let incoming: Incoming | undefined
  let phase: Timeout["phase"] = "headers"
  let mode: "unknown" | "events" | "whole" | "error" = "unknown"
  let parts: Array<Uint8Array> = []
  let size = 0
  let isOver = false
  let waiting = false
  let queue: Array<LlmDelta> = []
  let outcome: (() => void) | undefined

  const settle = (exit: Exit.Exit<A, ProviderError>, how: "abort" | "release"): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    clearTimeout(total)
    handle[how]()
    done(exit)
  }
  const fail = (error: ProviderError): void => settle(Exit.fail(error), "abort")
  const die = (defect: unknown): void => settle(Exit.die(defect), "abort")
  const facts = (): Partial<Errors.Failure> => ({
    ...(incoming === undefined ? {} : { status: incoming.status, headers: incoming.headers }),
    ...(mode === "events" ? { partial: assembler.partial() } : {})
  })

  const deliver = (delta: LlmDelta): void => {
    if (isOver || sink === undefined) return
    if (waiting) {
      queue.push(delta)
      return
    }
    const answer = sink(delta)
    if (answer === undefined || typeof answer.then !== "function") return
    waiting = true
    incoming?.pause()
    answer.then(delivered, die)
  }
  const delivered = (): void => {
    waiting = false
    const rest = queue
    queue = []
    guarded(() => {
      for (const delta of rest) deliver(delta)
      if (waiting || isOver) return
      if (outcome !== undefined) return outcome()
      timer.refresh()
      incoming?.resume()
    })
  }
  const assembler = exchange.assembler(exchange.request, source.provider, sink === undefined ? undefined : deliver)

  const completed = (response: A): A =>
    incoming === undefined || assembler.complete === undefined
      ? response
      : assembler.complete(response, incoming.headers)
  const finish = (found: Outcome<A>): void => {
    outcome = () => {
      if (found.type === "response") settle(Exit.succeed(completed(found.response)), "release")
      else if (found.type === "error") fail(inBand(found.body, { partial: assembler.partial() }))
      else {fail(
          Errors.malformedError(source, found.reason, { ...facts(), ...(mode === "events" ? {} : { text: text() }) })
        )}
    }
    if (!waiting) outcome()
  }
  const inBand = (body: unknown, more: Partial<Errors.Failure> = {}): ProviderError =>
    Errors.classify(source, {
      status: 200,
      headers: {},
      ...facts(),
      ...more,
      text: typeof body === "string" ? body : compact(body)
    })
  const text = (): string => new TextDecoder().decode(join(parts))

  const template = Template.make()
  const onEvent = (data: string, event: string): void => {
    if (isOver || outcome !== undefined) return
    const piece = event === "" ? template.match(data) : undefined
    if (piece !== undefined) return assembler.pushText(piece)
    if (data === "[DONE]") return finish(assembler.end(true))
    if (event === "error") return fail(inBand(data))
    for (const chunk of chunksIn(data)) {
      if (chunk === undefined) {
        return fail(Errors.malformedError(source, "an event is not JSON", { ...facts(), text: data }))
      }
      const error = assembler.push(chunk)
      if (error !== undefined) return fail(inBand(error))
      template.learn(data, chunk, assembler.choice())
    }
  }
  const events = Sse.make({
    onData: onEvent,
    onTooLong: () => fail(Errors.malformedError(source, `an event is longer than ${longestEvent} characters`, facts()))
  }, longestEvent)

  const onBytes = (bytes: Uint8Array): void => {
    if (isOver || outcome !== undefined) return
    size += bytes.length
    if (mode === "events") {
      if (size > longestStream) {
        return fail(Errors.malformedError(source, `the stream is longer than ${longestStream} bytes`, facts()))
      }
      if (events.push(bytes)) progress()
      return
    }
    if (mode === "unknown") return sniff(bytes)
    parts.push(bytes)
    progress()
    if (mode === "error" && size > longestError) return ended()
    if (size > longestAnswer) {
      fail(Errors.malformedError(source, `the answer is longer than ${longestAnswer} bytes`, facts()))
    }
  }
  /** Decides by the first character what the body is, because the content type of some vendors is wrong. */
  const sniff = (bytes: Uint8Array): void => {
    const first = firstCharacter(bytes)
    if (first === undefined) {
      if (size > longestError) fail(Errors.malformedError(source, `the body begins with ${size} blanks`, facts()))
      return
    }
    mode = first === "{" || first === "[" || first === "<" ? "whole" : "events"
    parts = [mode === "whole" ? bytes : bytes.slice(0, 200)]
    if (mode === "whole" || events.push(bytes)) progress()
  }
  const ended = (): void => {
    if (isOver || outcome !== undefined) return
    if (mode === "error") {
      return fail(
        Errors.classify(source, { status: incoming?.status ?? 0, headers: incoming?.headers ?? {}, text: text() })
      )
    }
    if (mode === "unknown") return fail(Errors.malformedError(source, "the body is empty", facts()))
    if (mode === "whole") return finish(whole())
    events.end()
    if (isOver || outcome !== undefined) return
    const found = assembler.end(false)
    finish(
      found.type === "malformed" && !hadEvents()
        ? { type: "malformed", reason: `no events in the stream: ${text().slice(0, 120)}` }
        : found
    )
  }
  const hadEvents = (): boolean => phase === "idle"
  const whole = (): Outcome<A> => {
    const body = text()
    if (body.trimStart().startsWith("<")) return { type: "malformed", reason: "a page of HTML or XML" }
    const value = parse(body)
    if (value === undefined) return { type: "malformed", reason: "the body is not JSON" }
    const error = assembler.push(value)
    return error === undefined ? assembler.end(true) : { type: "error", body: error }
  }

  const guarded = (act: () => void): void => {
    try {
      act()
    } catch (defect) {
      die(defect)
    }
  }
  const enter = (next: Timeout["phase"], ms: number): void => {
    phase = next
    if (ms === armedMs) return void timer.refresh()
    clearTimeout(timer)
    armedMs = ms
    timer = setTimeout(late, ms)
  }
  const progress = (): void => {
    if (isOver) return
    if (phase === "idle") timer.refresh()
    else enter("idle", timeouts.idleMs)
  }
  const late = (): void => {
    if (isOver) return
    if (waiting) return void timer.refresh()
    if (mode === "error") return ended()
    if (mode === "events" && assembler.isFinished()) return finish(assembler.end(false))
    fail(
      Errors.timeout(
        source,
        phase,
        phase === "headers" ? timeouts.headersMs : phase === "idle" ? timeouts.idleMs : timeouts.firstEventMs,
        facts()
      )
    )
  }
  const expired = (): void => fail(Errors.timeout(source, "total", timeouts.totalMs ?? 0, facts()))

  let armedMs = timeouts.headersMs
  let timer = setTimeout(late, armedMs)
  const total = timeouts.totalMs === undefined ? undefined : setTimeout(expired, timeouts.totalMs)
  const handle = transport(exchange.headers, exchange.body, {
    onHeaders: (given) => {
      incoming = given
      if (given.status < 200 || given.status >= 300) mode = "error"
      enter("first-event", timeouts.firstEventMs)
    },
    onData: (bytes) => guarded(() => onBytes(bytes)),
    onEnd: () => guarded(ended),
    onError: (error) =>
      guarded(() => {
        if (isOver || outcome !== undefined) return
        if (mode === "error") return ended()
        if (mode === "events" && assembler.isFinished()) return finish(assembler.end(false))
        fail(Errors.connection(source, error, facts()))
      })
  })
  return () => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    clearTimeout(total)
    handle.abort()
  }
}

/**
 * Returns the chunks of an event. If a server sends no blank lines, each line is one chunk. `undefined` stands for text
 * that is not JSON.
 */
const chunksIn = (data: string): ReadonlyArray<unknown> => {
  const chunk = parse(data)
  if (chunk !== undefined) return [chunk]
  if (data.trim() === "") return []
  return data.includes("\n")
    ? data.split("\n").filter((line) => line.trim() !== "" && line !== "[DONE]").map(parse)
    : [undefined]
}

const join = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (parts.length === 1 && parts[0] !== undefined) return parts[0]
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Returns the first character that is not blank. A byte order mark is blank. */
const firstCharacter = (bytes: Uint8Array): string | undefined => {
  for (const byte of bytes) {
    const isBlank = byte === 32 || (byte >= 9 && byte <= 13) || byte === 0xef || byte === 0xbb || byte === 0xbf
    if (!isBlank) return String.fromCharCode(byte)
  }
  return undefined
}
