/**
 * Runs the sessions of agents on many machines, and serves agents over the protocols that clients already speak.
 *
 * @since 0.2.0
 */
export * as AcpAgent from "./foreign/AcpAgent.ts"
export * as ClusterEngine from "./host/ClusterEngine.ts"
export * as Engine from "./host/Engine.ts"
export * as Host from "./host/Host.ts"
export { HostError } from "./host/HostError.ts"
export type { EventOptions, HostEvent, HostEvents } from "./host/HostEvent.ts"
export * as LocalEngine from "./host/LocalEngine.ts"
export * as Outcome from "./host/Outcome.ts"
export * as PgBossEngine from "./host/PgBossEngine.ts"
export * as Acp from "./serve/Acp.ts"
export * as AgUi from "./serve/AgUi.ts"
export * as Mcp from "./serve/Mcp.ts"
export * as NodeHttp from "./serve/NodeHttp.ts"
export * as OpenAiChat from "./serve/OpenAiChat.ts"
export * as OpenAiResponses from "./serve/OpenAiResponses.ts"
export * as Page from "./serve/Page.ts"
export * as Serve from "./serve/Serve.ts"
export * as UiStream from "./serve/UiStream.ts"
