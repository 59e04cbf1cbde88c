/**
 * Records what agents do, and shows it as one HTML page.
 *
 * @since 0.1.0
 */
export * as BacktestReport from "./BacktestReport.ts"
export * as RecordedTurn from "./RecordedTurn.ts"
export * as Recorder from "./Recorder.ts"
export * as Recording from "./Recording.ts"
export * as Report from "./Report.ts"
export * as Transcript from "./Transcript.ts"
