/** Sends spans and metrics to the OpenTelemetry SDK of the program, through its API. */
import type * as Otel from "@opentelemetry/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { type Instrument, scope } from "../Conventions.ts"
import { type Attributes, type AttributeValue, known, type Telemetry } from "./telemetry.ts"

/** The part of `@opentelemetry/api` that is used. */
export type OpenTelemetry = Pick<typeof Otel, "context" | "createNoopMeter" | "metrics" | "trace">

/** The values of `SpanKind` and `SpanStatusCode` of the API. */
const kinds = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const
const failed = 2

export const openTelemetry = (otel: OpenTelemetry): Telemetry => {
  const tracer = otel.trace.getTracer(scope.name, scope.version)
  let hasSdk = false
  const instruments = new Map<string, (value: number, attributes: Record<string, AttributeValue>) => void>()
  return {
    tracer: Tracer.make({
      span: (options) => new ApiSpan(otel, tracer, options),
      // Makes the span the active one wherever the code of a tool runs.
      context: (primitive, fiber) => {
        const { span } = fiber.cache
        const run = () => primitive["~effect/Effect/evaluate"](fiber)
        return span instanceof ApiSpan ? otel.context.with(span.context, run) : run()
      }
    }),
    activeSpan: () => {
      const span = otel.trace.getActiveSpan()
      return span === undefined ? undefined : external(span.spanContext())
    },
    isOff: () => {
      if (hasSdk) return false
      const isSilent = otel.metrics.getMeter(scope.name, scope.version) === otel.createNoopMeter()
      hasSdk = !isSilent || /[^0]/.test(tracer.startSpan("probe").spanContext().spanId)
      return !hasSdk
    },
    isRecording: (span) => span instanceof ApiSpan && span.span.isRecording(),
    record: (instrument, value, attributes) => {
      const record = instruments.get(instrument.name) ?? recorder(otel, instrument)
      instruments.set(instrument.name, record)
      record(value, known(attributes))
    },
    // The SDK decides when it sends.
    flush: Effect.void,
    close: Effect.void
  }
}

const external = ({ spanId, traceFlags, traceId }: Otel.SpanContext): Tracer.ExternalSpan =>
  Tracer.externalSpan({ spanId, traceId, sampled: (traceFlags & 1) === 1 })

const recorder = (
  { metrics }: OpenTelemetry,
  { buckets, description, kind, name, unit }: Instrument
): (value: number, attributes: Record<string, AttributeValue>) => void => {
  const meter = metrics.getMeter(scope.name, scope.version)
  if (kind === "counter") {
    const counter = meter.createCounter(name, { unit, description })
    return (value, attributes) => counter.add(value, otelAttributes(attributes))
  }
  const advice = buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }
  const histogram = meter.createHistogram(name, { unit, description, ...advice })
  return (value, attributes) => histogram.record(value, otelAttributes(attributes))
}

/** The API wants arrays that may be changed. */
const otelAttributes = (attributes: Attributes): Otel.Attributes => attributes as Otel.Attributes

/** A span of the API as a span of Effect. A class, because each span makes one. */
class ApiSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name: string
  readonly spanId: string
  readonly traceId: string
  readonly sampled: boolean
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly annotations: Context.Context<never>
  readonly links: ReadonlyArray<Tracer.SpanLink>
  readonly kind: Tracer.SpanKind
  readonly attributes: Map<string, unknown> = new Map()
  readonly span: Otel.Span
  /** The context of the API in which this span is the active one. */
  readonly context: Otel.Context
  status: Tracer.SpanStatus

  constructor(otel: OpenTelemetry, tracer: Otel.Tracer, options: Parameters<Tracer.Tracer["span"]>[0]) {
    this.name = options.name
    this.parent = options.parent
    this.annotations = options.annotations
    this.links = options.links
    this.kind = options.kind
    this.status = { _tag: "Started", startTime: options.startTime }
    const parent = Option.getOrUndefined(options.parent)
    const around = contextOf(otel, parent)
    const links = options.links.map(({ attributes, span }) => ({
      context: spanContext(span),
      attributes: attributes as Otel.Attributes
    }))
    this.span = tracer.startSpan(
      options.name,
      { kind: kinds[options.kind], startTime: hrTime(options.startTime), root: parent === undefined, links },
      around
    )
    const own = this.span.spanContext()
    this.spanId = own.spanId
    this.traceId = own.traceId
    this.sampled = (own.traceFlags & 1) === 1
    this.context = otel.trace.setSpan(around, this.span)
  }

  attribute(key: string, value: unknown): void {
    this.span.setAttribute(key, attributeValue(value))
    this.attributes.set(key, value)
  }

  event(name: string, startTime: bigint, attributes: Record<string, unknown> = {}): void {
    const values = Object.entries(attributes).map(([key, value]) => [key, attributeValue(value)] as const)
    this.span.addEvent(name, Object.fromEntries(values), hrTime(startTime))
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    for (const { attributes, span } of links) {
      this.span.addLink({ context: spanContext(span), attributes: attributes as Otel.Attributes })
    }
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (Exit.isFailure(exit)) this.span.setStatus({ code: failed })
    this.span.end(hrTime(endTime))
  }
}

const contextOf = (otel: OpenTelemetry, parent: Tracer.AnySpan | undefined): Otel.Context => {
  if (parent === undefined) return otel.trace.deleteSpan(otel.context.active())
  if (parent instanceof ApiSpan) return parent.context
  return otel.trace.setSpanContext(otel.context.active(), spanContext(parent))
}

const spanContext = ({ sampled, spanId, traceId }: Tracer.AnySpan): Otel.SpanContext => ({
  spanId,
  traceId,
  traceFlags: sampled ? 1 : 0
})

const hrTime = (nanos: bigint): Otel.HrTime => [Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n)]

/** Spans that Effect makes for a tool may have attributes of any kind. */
const attributeValue = (value: unknown): Otel.AttributeValue =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || Array.isArray(value)
    ? value as Otel.AttributeValue // Arrays that are not of one primitive type are dropped by the SDK.
    : String(value)
