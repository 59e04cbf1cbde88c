/**
 * Providers of language models. `EffectAi` is not among them: it loads `effect/ai`, so it is imported from
 * `@belay/providers/EffectAi`.
 *
 * @since 0.1.0
 */
export * as AiSdk from "./bridge/AiSdk.ts"
export * as Cassette from "./cassette/Cassette.ts"
export * as McpOAuth from "./mcp/McpOAuth.ts"
export * as McpServers from "./mcp/McpServers.ts"
export * as McpTools from "./mcp/McpTools.ts"
export * as Embeddings from "./openai/Embeddings.ts"
export * as OpenAiCompatible from "./openai/OpenAiCompatible.ts"
export * as Presets from "./openai/Presets.ts"
export * as PostgresStore from "./store/PostgresStore.ts"
export * as SessionFile from "./store/SessionFile.ts"
export * as SqliteStore from "./store/SqliteStore.ts"
export * as Prices from "./usage/Prices.ts"
export * as RateLimiter from "./usage/RateLimiter.ts"
export * as Tokens from "./usage/Tokens.ts"
