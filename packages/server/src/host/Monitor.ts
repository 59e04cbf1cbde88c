/**
 * Shows how a host is: health for whoever starts and stops processes, and metrics for Prometheus and OpenTelemetry.
 *
 * @since 0.1.0
 */
import type * as Awaitable from "@belay/core/Awaitable"
import { messageOf } from "@belay/core/ErrorMessage"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Activity, Host } from "./Host.ts"
import { HostError } from "./HostError.ts"
import { type Metric, metricsOf, prometheus } from "./internal/care/metrics.ts"
import { part } from "./internal/optionChecks.ts"
import { newCounters } from "./internal/site/counters.ts"

export type { Metric }

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  readonly host: Host
  /** How long the store may take to answer before the host is not ready, in milliseconds. Default 2,000. */
  readonly withinMs?: number
}

/** The part of a meter of `@opentelemetry/api` that is used. @category models @since 0.1.0 */
export interface Meter {
  readonly createObservableGauge: (name: string, options: { readonly description: string }) => Observable
  readonly createObservableCounter: (name: string, options: { readonly description: string }) => Observable
}

/** An observable instrument of `@opentelemetry/api`. @category models @since 0.1.0 */
export interface Observable {
  readonly addCallback: (callback: (result: ObservableResult) => void | Promise<void>) => void
}

/** Where an instrument writes. @category models @since 0.1.0 */
export interface ObservableResult {
  readonly observe: (value: number, attributes?: { readonly [name: string]: string }) => void
}

/** A monitor of one host. @category models @since 0.1.0 */
export interface Monitor {
  /**
   * Answers three paths, for any server of web-standard requests. Others are 404. It shows no content of any session,
   * and asks for no credentials: do not let strangers reach it.
   *
   * - `/healthz`: 200 as long as this process answers.
   * - `/readyz`: 200 if the store answers in time and the host does not stop, and 503 with the reason otherwise.
   * - `/metrics`: the metrics as Prometheus reads them.
   */
  readonly handler: (request: Request) => Promise<Response>
  /** Reads the metrics. Rejects if the store cannot be read. */
  readonly read: () => Promise<ReadonlyArray<Metric>>
  /** Makes instruments of a meter, which read the metrics when they are asked. */
  readonly observe: (meter: Meter) => void
  /** Stops watching the event loop. */
  readonly close: () => void
}

const optionKinds: OptionKinds<Options> = { host: "object", withinMs: "number" }

/** How often the delay of the event loop is measured, in milliseconds. */
const resolution = 20

/**
 * Makes a monitor. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import type { Host } from "@belay/server/Host"
 * import * as Monitor from "@belay/server/Monitor"
 * import * as NodeHttp from "@belay/server/NodeHttp"
 * import { createServer } from "node:http"
 *
 * export const monitor = (host: Host) =>
 *   createServer(NodeHttp.toNode(Monitor.make({ host }).handler)).listen(9090, "127.0.0.1")
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Monitor => {
  Result.getOrThrow(checkKinds("monitor", options, optionKinds, ["host"]))
  const { host, withinMs = 2_000 } = options
  Result.getOrThrow(checkOptions(
    "monitor",
    part("host", host, ["activity"], "what Host.make returns"),
    whole("withinMs", withinMs, 1)
  ))
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  const activity = () => within(withinMs, host.activity())
  const read = async () => {
    const metrics = metricsOf(await activity(), delay)
    delay.reset()
    return metrics
  }
  return {
    handler: async ({ url }) => {
      switch (new URL(url).pathname) {
        case "/healthz":
          return text(200, "ok")
        case "/readyz":
          return activity().then(
            ({ isDraining }) => isDraining ? text(503, "not ready: the host stops") : text(200, "ready"),
            (error) => text(503, `not ready: ${messageOf(error)}`)
          )
        case "/metrics":
          return read().then(
            (metrics) => text(200, prometheus(metrics), "text/plain; version=0.0.4; charset=utf-8"),
            (error) => text(503, `the metrics cannot be read: ${messageOf(error)}`)
          )
        default:
          return text(404, "there are /healthz, /readyz and /metrics")
      }
    },
    read,
    observe: (meter) => observe(meter, activity, delay),
    close: () => void delay.disable()
  }
}

const text = (status: number, body: string, type = "text/plain; charset=utf-8"): Response =>
  new Response(`${body}\n`, { status, headers: { "content-type": type, "cache-control": "no-store" } })

const within = (ms: number, activity: Awaitable.Awaitable<Activity, HostError>): Promise<Activity> =>
  Effect.runPromise(Effect.timeoutOrElse(activity, {
    duration: ms,
    orElse: () =>
      Effect.fail(new HostError({ problem: "store", message: `the store has not answered within ${ms} ms` }))
  }))

const observe = (
  meter: Meter,
  activity: () => Promise<Activity>,
  delay: Parameters<typeof metricsOf>[1]
): void => {
  // The names and kinds do not depend on what is counted.
  const empty: Activity = { at: 0, running: [], due: 0, isDraining: false, counters: newCounters() }
  // Instruments that are asked together share one look.
  let shared: Promise<ReadonlyArray<Metric>> | undefined
  const look = () =>
    shared ??= activity().then((found) => metricsOf(found, delay)).finally(() => void (shared = undefined))
  for (const { help, name, type } of metricsOf(empty, delay)) {
    const make = type === "counter" ? meter.createObservableCounter : meter.createObservableGauge
    make.call(meter, name, { description: help }).addCallback(async ({ observe }) => {
      const found = (await look().catch(() => [])).find((metric) => metric.name === name)
      for (const { labels, value } of found?.values ?? []) observe(value, labels)
    })
  }
}
