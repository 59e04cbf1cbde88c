/**
 * For authors of hooks and providers: a loopback endpoint, its rule-based model, and a scripted provider.
 *
 * @since 0.1.0
 */
export * as Brain from "./Brain.ts"
export * as Endpoint from "./Endpoint.ts"
export * as Scripted from "./Scripted.ts"
