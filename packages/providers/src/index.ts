/**
 * Providers of language models.
 *
 * @since 0.1.0
 */
export * as Cassette from "./Cassette.ts"
export * as OpenAiCompatible from "./OpenAiCompatible.ts"
export * as Presets from "./Presets.ts"
