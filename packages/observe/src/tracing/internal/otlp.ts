/** Sends spans and metrics to a collector, with OTLP over HTTP. Nothing needs to be installed for it. */
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import * as OtlpMetrics from "effect/observability/OtlpMetrics"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Instrument } from "../Conventions.ts"
import { type Attributes, type AttributeValue, known, type Telemetry } from "./telemetry.ts"

export interface OtlpOptions {
  readonly url?: string | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly serviceName?: string | undefined
  readonly exportEveryMs: number
  readonly onProblem: (message: string) => void
}

export const otlp = (options: OtlpOptions): Telemetry => {
  const scope = Scope.makeUnsafe()
  const registry = new Map<string, never>()
  const context = Effect.runSync(
    Layer.buildWithScope(exporters(options), scope).pipe(
      Effect.provideService(Clock.Clock, quietClock),
      Effect.provideService(Metric.MetricRegistry, registry)
    )
  )
  const tracer = Context.get(context, Tracer.Tracer)
  const { flush } = Context.get(context, OtlpExporter.Flusher)
  const metrics = new Map<string, Metric.Metric<number, unknown>>()
  // Its fibers belong to no run of an agent.
  const services = Context.make(Metric.MetricRegistry, registry)
  const sendRest = () => void Effect.runPromise(flush)
  const { process } = globalThis
  process?.once?.("beforeExit", sendRest)
  return {
    tracer,
    activeSpan: () => undefined,
    isOff: () => tracer === silent,
    isRecording: ({ sampled }) => sampled,
    record: (instrument, value, attributes) => {
      const metric = metrics.get(instrument.name) ?? metricOf(instrument)
      metrics.set(instrument.name, metric)
      const labelled = Metric.withAttributes(metric, labels(attributes))
      Effect.runSyncWith(services)(Metric.update(labelled, value))
    },
    flush,
    close: Effect.andThen(
      Effect.sync(() => process?.off?.("beforeExit", sendRest)),
      Scope.close(scope, Exit.void)
    )
  }
}

const exporters = ({ exportEveryMs, headers, onProblem, serviceName, url }: OtlpOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const environment = yield* Config.all({
      isDisabled: Config.Boolean("OTEL_SDK_DISABLED").pipe(Config.withDefault(false)),
      endpoint: Config.String("OTEL_EXPORTER_OTLP_ENDPOINT").pipe(Config.withDefault("http://localhost:4318")),
      service: Config.String("OTEL_SERVICE_NAME").pipe(Config.withDefault("belay")),
      headers: Config.Record(Schema.String, Schema.StringFromUriComponent, "OTEL_EXPORTER_OTLP_HEADERS").pipe(
        Config.withDefault<Record<string, string>>({})
      )
    })
    const base = (url ?? environment.endpoint).replace(/\/+$/, "")
    const shared = {
      headers: headers ?? environment.headers,
      exportInterval: exportEveryMs,
      resource: { serviceName: serviceName ?? environment.service }
    }
    if (environment.isDisabled) return Layer.merge(OtlpExporter.layerFlusher, Layer.succeed(Tracer.Tracer, silent))
    return Layer.merge(
      OtlpTracer.layer({ url: `${base}/v1/traces`, ...shared }),
      OtlpMetrics.layer({ url: `${base}/v1/metrics`, ...shared })
    ).pipe(Layer.provide(serialization), Layer.provide(client(base, onProblem)))
  })).pipe(Layer.orDie)

/** JSON. The exporter repeats the unit of a metric as an attribute of its values; that is left out. */
const serialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) => ({
    ...json,
    metrics: (data: OtlpMetrics.MetricsData) => {
      for (const { metrics } of data.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics)) {
        for (const { histogram, sum } of metrics) {
          for (const point of [...histogram?.dataPoints ?? [], ...sum?.dataPoints ?? []]) {
            Object.assign(point, { attributes: (point.attributes ?? []).filter(({ key }) => key !== "unit") })
          }
        }
      }
      return json.metrics(data)
    }
  }))
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** Says once that the collector cannot be reached, and again after it was reached. */
const client = (base: string, onProblem: (message: string) => void) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (http) => {
      let isBroken = false
      const report = (why: string) =>
        Effect.sync(() => {
          if (!isBroken) onProblem(`traces cannot be sent to ${base}: ${why}`)
          isBroken = true
        })
      return http.pipe(
        HttpClient.tap(({ status }) =>
          status >= 300 ? report(`it answered with status ${status}`) : Effect.sync(() => isBroken = false)
        ),
        HttpClient.tapError(({ message }) => report(message))
      )
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))

const systemClock = Clock.Clock.defaultValue()

/** A clock whose timers do not keep a process alive. It inherits the rest, because a clock has methods. */
const quietClock: Clock.Clock = Object.assign(Object.create(systemClock) as Clock.Clock, {
  sleep: (duration: Duration.Duration) =>
    Effect.callback<void>((resume) => {
      const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
      // In a browser it is a number.
      if (typeof timer === "object") timer.unref()
      return Effect.sync(() => clearTimeout(timer))
    })
})

/** Makes spans that nobody receives. */
const silent: Tracer.Tracer = Tracer.make({
  span: (options) => new Tracer.NativeSpan({ ...options, sampled: false })
})

const metricOf = ({ buckets, description, kind, name, unit }: Instrument): Metric.Metric<number, unknown> =>
  kind === "counter"
    ? Metric.withAttributes(Metric.counter(name, { description, incremental: true }), { unit })
    : Metric.withAttributes(Metric.histogram(name, { description, boundaries: [...(buckets ?? [])] }), { unit })

const labels = (attributes: Attributes): Record<string, string> =>
  Object.fromEntries(
    Object.entries(known(attributes)).map(([name, value]: [string, AttributeValue]) => [name, String(value)])
  )
