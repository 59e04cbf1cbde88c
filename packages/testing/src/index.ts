/**
 * A test kit for authors of hooks, providers and stores: a loopback endpoint with a rule-based model, a scripted
 * provider, tests of single hooks, a virtual clock, and laws.
 *
 * @since 0.1.0
 */
export * as Backtest from "./Backtest.ts"
export * as Brain from "./Brain.ts"
export * as Endpoint from "./Endpoint.ts"
export * as EngineLaws from "./EngineLaws.ts"
export * as EventLogLaws from "./EventLogLaws.ts"
export * as HookLaws from "./HookLaws.ts"
export * as InboxLaws from "./InboxLaws.ts"
export * as ProviderLaws from "./ProviderLaws.ts"
export { recordingHook } from "./RecordingHook.ts"
export * as RecordingHook from "./RecordingHook.ts"
export * as Scores from "./Scores.ts"
export * as Scripted from "./Scripted.ts"
export * as SeededRandom from "./SeededRandom.ts"
export * as SeededScheduler from "./SeededScheduler.ts"
export * as StoreLaws from "./StoreLaws.ts"
export { dryRun, testHook } from "./TestHook.ts"
export * as TestHook from "./TestHook.ts"
export * as TestScope from "./TestScope.ts"
export * as VirtualClock from "./VirtualClock.ts"
