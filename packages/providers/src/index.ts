/**
 * Providers of language models. `EffectAi` is not among them: it loads `effect/ai`, so it is imported from
 * `@belay/providers/EffectAi`.
 *
 * @since 0.1.0
 */
export * as AiSdk from "./AiSdk.ts"
export * as Cassette from "./Cassette.ts"
export * as McpServers from "./McpServers.ts"
export * as McpTools from "./McpTools.ts"
export * as OpenAiCompatible from "./OpenAiCompatible.ts"
export * as Presets from "./Presets.ts"
export * as Prices from "./Prices.ts"
export * as SessionFile from "./SessionFile.ts"
export * as SqliteStore from "./SqliteStore.ts"
export * as Tokens from "./Tokens.ts"
