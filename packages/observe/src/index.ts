/**
 * Shows what agents did: recordings and their report as one HTML page, OpenTelemetry spans and metrics.
 *
 * @since 0.2.0
 */
export * as BacktestReport from "./report/BacktestReport.ts"
export * as RecordedTurn from "./report/RecordedTurn.ts"
export * as Recorder from "./report/Recorder.ts"
export * as Recording from "./report/Recording.ts"
export * as Report from "./report/Report.ts"
export * as Transcript from "./report/Transcript.ts"
export * as Conventions from "./tracing/Conventions.ts"
export * as Tracing from "./tracing/Tracing.ts"
