/** Sends spans and metrics to the OpenTelemetry SDK of the program, through its API. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { type Instrument, scope } from "../Conventions.ts"
import { type AttributeValue, known, type Telemetry } from "./telemetry.ts"

/**
 * The part of `@opentelemetry/api` that is used. It is written down here, so that programs without the package need not
 * install it for its types.
 */
export interface OpenTelemetry {
  readonly context: { active(): object; with<A>(context: object, run: () => A): A }
  readonly trace: {
    getTracer(name: string, version?: string): OtelTracer
    getActiveSpan(): OtelSpan | undefined
    setSpan(context: object, span: OtelSpan): object
    setSpanContext(context: object, span: OtelSpanContext): object
    deleteSpan(context: object): object
  }
  readonly metrics: { getMeter(name: string, version?: string): OtelMeter }
  createNoopMeter(): OtelMeter
}

interface OtelTracer {
  startSpan(name: string, options?: object, context?: object): OtelSpan
}

interface OtelSpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

interface OtelSpan {
  spanContext(): OtelSpanContext
  isRecording(): boolean
  setAttribute(key: string, value: AttributeValue): unknown
  addEvent(name: string, attributes: OtelAttributes, time: [number, number]): unknown
  addLink(link: { readonly context: OtelSpanContext; readonly attributes?: OtelAttributes }): unknown
  setStatus(status: { readonly code: number }): unknown
  end(time: [number, number]): void
}

interface OtelMeter {
  createCounter(name: string, options?: object): { add(value: number, attributes?: OtelAttributes): void }
  createHistogram(name: string, options?: object): { record(value: number, attributes?: OtelAttributes): void }
}

interface OtelAttributes {
  [name: string]: AttributeValue
}

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

const external = ({ spanId, traceFlags, traceId }: OtelSpanContext): Tracer.ExternalSpan =>
  Tracer.externalSpan({ spanId, traceId, sampled: (traceFlags & 1) === 1 })

const recorder = (
  { metrics }: OpenTelemetry,
  { buckets, description, kind, name, unit }: Instrument
): (value: number, attributes: Record<string, AttributeValue>) => void => {
  const meter = metrics.getMeter(scope.name, scope.version)
  if (kind === "counter") {
    const counter = meter.createCounter(name, { unit, description })
    return (value, attributes) => counter.add(value, attributes)
  }
  const advice = buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }
  const histogram = meter.createHistogram(name, { unit, description, ...advice })
  return (value, attributes) => histogram.record(value, attributes)
}

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
  readonly span: OtelSpan
  /** The context of the API in which this span is the active one. */
  readonly context: object
  status: Tracer.SpanStatus

  constructor(otel: OpenTelemetry, tracer: OtelTracer, options: Parameters<Tracer.Tracer["span"]>[0]) {
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
      attributes: attributes as OtelAttributes
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
      this.span.addLink({ context: spanContext(span), attributes: attributes as OtelAttributes })
    }
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (Exit.isFailure(exit)) this.span.setStatus({ code: failed })
    this.span.end(hrTime(endTime))
  }
}

const contextOf = (otel: OpenTelemetry, parent: Tracer.AnySpan | undefined): object => {
  if (parent === undefined) return otel.trace.deleteSpan(otel.context.active())
  if (parent instanceof ApiSpan) return parent.context
  return otel.trace.setSpanContext(otel.context.active(), spanContext(parent))
}

const spanContext = ({ sampled, spanId, traceId }: Tracer.AnySpan): OtelSpanContext => ({
  spanId,
  traceId,
  traceFlags: sampled ? 1 : 0
})

const hrTime = (
  nanos: bigint
): [number, number] => [Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n)]

/** Spans that Effect makes for a tool may have attributes of any kind. */
const attributeValue = (value: unknown): AttributeValue =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || Array.isArray(value)
    ? value as AttributeValue // Arrays that are not of one primitive type are dropped by the SDK.
    : String(value)
