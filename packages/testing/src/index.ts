/**
 * For authors of hooks, providers and stores: a loopback endpoint, its rule-based model, a scripted provider, and the laws of session stores.
 *
 * @since 0.1.0
 */
export * as Brain from "./Brain.ts"
export * as Endpoint from "./Endpoint.ts"
export * as Scripted from "./Scripted.ts"
export * as StoreLaws from "./StoreLaws.ts"
