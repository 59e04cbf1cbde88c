/**
 * OpenTelemetry spans and metrics of Belay agents.
 *
 * @since 0.1.0
 */
export * as Conventions from "./Conventions.ts"
export * as Tracing from "./Tracing.ts"
