/**
 * Runs the sessions of an agent: messages, wake-ups and approvals that survive every process.
 *
 * @since 0.1.0
 */
export * as ClusterEngine from "./ClusterEngine.ts"
export * as Engine from "./Engine.ts"
export * as Host from "./Host.ts"
export { HostError } from "./HostError.ts"
export type { EventOptions, HostEvent, HostEvents } from "./HostEvent.ts"
export * as LocalEngine from "./LocalEngine.ts"
export * as Outcome from "./Outcome.ts"
export * as PgBossEngine from "./PgBossEngine.ts"
