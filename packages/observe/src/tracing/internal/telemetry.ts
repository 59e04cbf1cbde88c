/** What tracing needs of a telemetry system. An own exporter and the OpenTelemetry API provide it. */
import type * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { Instrument } from "../Conventions.ts"

export type Attributes = { readonly [name: string]: AttributeValue | undefined }
/** The lists are those that the OpenTelemetry API wants: nobody changes them. */
export type AttributeValue = string | number | boolean | Array<string>

export interface Telemetry {
  /** Makes spans. Spans of tools that use Effect or the OpenTelemetry API become their children. */
  readonly tracer: Tracer.Tracer
  /** Returns the span in which the program calls the agent, if there is one. */
  readonly activeSpan: () => Tracer.AnySpan | undefined
  /** Whether nobody receives anything, neither spans nor metrics. It may change while the program starts. */
  readonly isOff: () => boolean
  /** Whether anybody receives what the span says. */
  readonly isRecording: (span: Tracer.Span) => boolean
  readonly record: (instrument: Instrument, value: number, attributes: Attributes) => void
  /** Sends what is waiting to be sent. */
  readonly flush: Effect.Effect<void>
  /** Sends the rest, and stops. */
  readonly close: Effect.Effect<void>
}

/** Where a span is. */
export interface SpanPlace {
  readonly traceId: string
  readonly spanId: string
}

/** Attributes without those that are not known. */
export const known = (attributes: Attributes): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => entry[1] !== undefined)
  )

export const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000)) * 1_000n
