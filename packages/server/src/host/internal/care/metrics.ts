/** The metrics of a host. */
import type { Activity } from "../../Host.ts"

/** A metric with its values. @category models @since 0.1.0 */
export interface Metric {
  /** Its name for Prometheus. A counter ends with `_total`. */
  readonly name: string
  /** What it counts, with its unit. */
  readonly help: string
  readonly type: "gauge" | "counter"
  readonly values: ReadonlyArray<{ readonly value: number; readonly labels?: { readonly [name: string]: string } }>
}

/** Returns all metrics. */
export const metricsOf = (
  { at: now, counters, due, messages, oldest, running }: Activity,
  delay: { readonly max: number; readonly mean: number }
): ReadonlyArray<Metric> => {
  const age = (at: number | undefined) => at === undefined ? 0 : Math.max(0, now - at) / 1_000
  const seconds = (nanoseconds: number) => Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0
  return [
    gauge("belay_turns_running", "Turns that run in this process.", running.length),
    gauge("belay_sessions_due", "Sessions that have something due, in all processes; at most 10,000 are counted.", due),
    gauge("belay_sessions_due_age_seconds", "How long the first of them has been due, in seconds.", age(oldest)),
    {
      name: "belay_messages",
      help: "Messages that are not finished, in all processes, by status. Suspended ones wait for people.",
      type: "gauge",
      values: Object.entries(messages ?? {}).map(([status, { count }]) => ({ value: count, labels: { status } }))
    },
    gauge(
      "belay_questions_age_seconds",
      "How long ago the oldest message was due that waits for people, in seconds.",
      age(messages?.suspended.oldest)
    ),
    {
      name: "belay_outcomes_total",
      help: "Turns that have ended or wait for people, in this process, by the status of their outcome.",
      type: "counter",
      values: Object.entries(counters.outcomes).map(([status, value]) => ({ value, labels: { status } }))
    },
    counter(
      "belay_takeovers_total",
      "Turns that were continued after another process had left them.",
      counters.takeovers
    ),
    counter("belay_retries_total", "Attempts after the first one.", counters.retries),
    counter("belay_dead_total", "Messages that were given up.", counters.dead),
    {
      name: "belay_tokens_total",
      help: "Tokens that turns have spent, by direction.",
      type: "counter",
      values: [
        { value: counters.inputTokens, labels: { direction: "input" } },
        { value: counters.outputTokens, labels: { direction: "output" } }
      ]
    },
    gauge(
      "belay_event_loop_delay_seconds",
      "The mean delay of the event loop since the last look, in seconds.",
      seconds(delay.mean)
    ),
    gauge(
      "belay_event_loop_delay_max_seconds",
      "The longest delay of the event loop since the last look, in seconds.",
      seconds(delay.max)
    )
  ]
}

const gauge = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  type: "gauge",
  values: [{ value }]
})

const counter = (name: string, help: string, value: number): Metric => ({
  ...gauge(name, help, value),
  type: "counter"
})

/** Renders metrics in the text format of Prometheus, version 0.0.4. */
export const prometheus = (metrics: ReadonlyArray<Metric>): string =>
  metrics.flatMap(({ help, name, type, values }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(({ labels, value }) => `${name}${labelsOf(labels)} ${value}`)
  ]).join("\n")

const labelsOf = (labels: { readonly [name: string]: string } = {}): string => {
  const all = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return all.length === 0 ? "" : `{${all.join(",")}}`
}
