/**
 * OpenTelemetry spans and metrics: a span for each turn of an agent, each model call and each tool call, nested across
 * sub-agents, with the decisions of hooks as events.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as Awaitable from "@belay/core/Awaitable"
import { messageOf } from "@belay/core/ErrorMessage"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { Plugin } from "@belay/core/Plugin"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { type OpenTelemetry, openTelemetry } from "./internal/openTelemetry.ts"
import { otlp } from "./internal/otlp.ts"
import { eventTypes } from "./internal/spanEvents.ts"
import { Spans } from "./internal/spans.ts"
import type { SpanPlace, Telemetry } from "./internal/telemetry.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** The name of the plugin and of its hook. Default `tracing`. */
  readonly name?: string
  /**
   * The module `@opentelemetry/api`, if the program has set up an OpenTelemetry SDK: spans and metrics then go there,
   * and the span in which the program calls the agent is their parent. Without it, they are sent with OTLP over HTTP.
   */
  readonly otel?: OpenTelemetry
  /**
   * Where to send them: the base address of a collector, to which `/v1/traces` and `/v1/metrics` are added. Default:
   * `OTEL_EXPORTER_OTLP_ENDPOINT`, or `http://localhost:4318`.
   */
  readonly url?: string
  /** HTTP headers, for example with a key. Default: `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers?: { readonly [name: string]: string }
  /** The name of the program. Default: `OTEL_SERVICE_NAME`, or `belay`. */
  readonly serviceName?: string
  /** How often to send, in milliseconds. Default 5,000. */
  readonly exportEveryMs?: number
  /**
   * Records messages, arguments, results and the reasons of hooks. The function receives each text and returns what may
   * be recorded, for example `Secrets.redactText` of `@belay/hooks`. Default: no texts are recorded.
   */
  readonly content?: (text: string) => string
}

/** Traces agents. @category models @since 0.1.0 */
export interface Tracing extends AsyncDisposable {
  /**
   * The plugin that traces an agent and its sub-agents. Several agents may have it. `metadata.traceparent` of a turn's
   * input (W3C Trace Context) is the parent of its span. So a trace goes on in the process that runs the turn.
   */
  readonly plugin: Plugin
  /** Sends what is waiting to be sent. Closing an agent does it too. */
  readonly flush: () => Promise<void>
  /** Sends the rest, and stops. */
  readonly close: () => Promise<void>
}

const optionKinds: OptionKinds<Options> = {
  name: "text",
  otel: "object",
  url: "text",
  headers: "object",
  serviceName: "text",
  exportEveryMs: "number",
  content: "function"
}

/**
 * Starts tracing. Add the plugin to the lead agent: its sub-agents are traced with it. Throws a `ConfigError` for wrong
 * options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as Tracing from "@belay/observe/Tracing"
 *
 * const tracing = Tracing.make({ url: "http://localhost:4318", serviceName: "shop" })
 * const provider = OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" })
 * export const agent = createAgent({ provider, plugins: [tracing.plugin] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tracing => {
  Result.getOrThrow(checkKinds("tracing", options, optionKinds))
  const { content, exportEveryMs = 5_000, headers, name = "tracing", otel, serviceName, url } = options
  Result.getOrThrow(checkOptions("tracing", whole("exportEveryMs", exportEveryMs, 1), [
    "url",
    url,
    (address: string) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol),
    "the address of a collector, such as http://localhost:4318"
  ], [
    "otel",
    otel,
    (api: object) => "trace" in api && "metrics" in api,
    "the module @opentelemetry/api: import * as otel from \"@opentelemetry/api\""
  ]))
  const onProblem = (message: string): void => void Awaitable.runPromise(Effect.logWarning(message))
  const telemetry = otel === undefined
    ? otlp({ url, headers, serviceName, exportEveryMs, onProblem })
    : openTelemetry(otel)
  const spans = new Spans(telemetry, content === undefined ? undefined : safely(content, onProblem))
  const send = soon(telemetry.flush, onProblem)
  const flush = () => Effect.runPromise(send)
  let closed: Promise<void> | undefined
  const close = () =>
    closed ??= Effect.runPromise(
      Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (time) => spans.endAll(time)),
        soon(telemetry.close, onProblem)
      )
    )
  return {
    plugin: {
      name,
      hooks: [hookOf(name, telemetry, spans, send)],
      onEvent: (event) => spans.take(event),
      eventTypes
    },
    flush,
    close,
    [Symbol.asyncDispose]: close
  }
}

/** How long a program that ends waits for a collector, in milliseconds. */
const patienceMs = 3_000

/** Gives up a collector that does not answer, and says so. */
const soon = (send: Effect.Effect<void>, onProblem: (message: string) => void): Effect.Effect<void> =>
  Effect.gen(function*() {
    const sending = yield* Effect.forkDetach(send)
    yield* Effect.raceFirst(
      Fiber.await(sending),
      Effect.andThen(
        Effect.sleep(patienceMs),
        Effect.sync(() => onProblem(`traces are not sent: the collector has not answered within ${patienceMs} ms`))
      )
    )
  })

/** A function of the program that throws costs the text that it was given, and nothing else. It is reported once. */
const safely = (content: (text: string) => string, onProblem: (message: string) => void) => {
  let isReported = false
  return (text: string): string => {
    const seen = Result.try(() => content(text))
    if (Result.isSuccess(seen) && typeof seen.success === "string") return seen.success
    if (!isReported) {
      const why = Result.isFailure(seen) ? messageOf(seen.failure) : "it returned no text"
      onProblem(`tracing.content failed, so texts are not recorded: ${why}`)
    }
    isReported = true
    return "not recorded"
  }
}

const hookOf = (name: string, telemetry: Telemetry, spans: Spans, flush: Effect.Effect<void>): AgentHook => ({
  name,
  kind: "observer",
  // The innermost wrapper: each retry has a span, and a call that a cache answers has none.
  priority: 950,
  allowReentry: true,
  preTurn: ({ metadata }, ctx) =>
    Effect.withFiber((fiber) => {
      const span = remoteSpan(metadata?.["traceparent"]) ?? Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
      if (span !== undefined) spans.surround(ctx.sessionId, span)
      return Effect.void
    }),
  onTurnError: ({ error }, ctx) => spans.fail(ctx.sessionId, error._tag),
  wrapLlmCall: (request, next, ctx) =>
    inside(
      telemetry,
      (time) => {
        keepPlace(spans, ctx)
        return spans.beginCall(request, ctx, time)
      },
      next(request),
      (span, exit, from, to) => spans.endCall(span, ctx, exit, from, to)
    ),
  wrapToolCall: (call, next, ctx) =>
    inside(
      telemetry,
      (time) => {
        keepPlace(spans, ctx)
        return spans.beginTool(call, ctx, time)
      },
      next(call),
      (span, exit, from, to) => spans.endTool(span, call, ctx, exit, from, to)
    ),
  close: () => flush
})

/** Returns the span that a program names, which may be in another process. The text is that of W3C Trace Context. */
const remoteSpan = (traceparent: unknown): Tracer.AnySpan | undefined => {
  const [, traceId, spanId] = typeof traceparent === "string"
    ? /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent) ?? []
    : []
  // A client of a server cannot turn its traces off.
  return traceId === undefined || spanId === undefined
    ? undefined
    : Tracer.externalSpan({ traceId, spanId, sampled: true })
}

/** Where the span of the last part of a turn is: the next part may run in another process. */
const place = HookState.ownKey<SpanPlace | null>(
  "span",
  Schema.NullOr(Schema.Struct({ traceId: Schema.String, spanId: Schema.String })),
  null
)

const keepPlace = (spans: Spans, ctx: HookContext): void => {
  const key = place(ctx.hook)
  const before = ctx.local.get(key)
  const now = spans.link(ctx.sessionId, before ?? undefined)
  if (now !== undefined && now.spanId !== before?.spanId) ctx.local.set(key, now)
}

/** Runs a call inside a span. Spans that the call makes become its children. */
const inside = <A, E>(
  { isOff, tracer }: Telemetry,
  begin: (time: number) => Tracer.Span,
  call: Effect.Effect<A, E>,
  end: (span: Tracer.Span, exit: Exit.Exit<A, E>, from: number, to: number) => void
): Effect.Effect<A, E> =>
  isOff() ? call : Effect.flatMap(preciseTime, (from) => {
    const span = begin(from)
    const inSpan = call.pipe(
      Effect.provideService(Tracer.Tracer, tracer),
      Effect.provideService(Tracer.ParentSpan, span)
    )
    return Effect.onExit(inSpan, (exit) => Effect.map(preciseTime, (to) => end(span, exit, from, to)))
  })

/** Milliseconds since the epoch, with fractions. */
const preciseTime = Effect.map(Clock.currentTimeNanos, (time) => Number(time / 1_000n) / 1_000)
