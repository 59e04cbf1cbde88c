/**
 * Test cases for engines of hosts, for any test runner.
 *
 * @since 0.1.0
 */
import type { Inbox } from "@belay/core/Inbox"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { engineLaws } from "./internal/laws/engine.ts"
import type { Law } from "./internal/laws/law.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

/** The same as `Engine` of `@belay/server/Engine`. @category models @since 0.1.0 */
export interface Engine {
  readonly wake: (sessionId: string, at?: number) => Effect.Effect<void, unknown>
  readonly start: (
    advance: (sessionId: string) => Effect.Effect<void, unknown>
  ) => Effect.Effect<void, unknown, Scope.Scope>
}

/** An engine without sessions, and the inbox that its host would use. @category models @since 0.1.0 */
export interface Subject {
  readonly engine: Engine
  readonly inbox: Inbox
  /** The engine as another process has it, for engines of several processes. Its inbox is the same. */
  readonly peer?: Engine
  /** Closes everything. */
  readonly dispose?: () => Promise<void> | void
}

/** Options of `cases`. @category models @since 0.1.0 */
export interface Options {
  /** Whether several processes can run sessions with this engine. `make` then returns a `peer`. Default false. */
  readonly hasPeers?: boolean
}

/**
 * Returns the laws of engines. `make` returns an engine for each law. A law adds an entry to the inbox before it wakes
 * its session, as a host does.
 *
 * @example
 * ```ts
 * import * as Inbox from "@belay/core/Inbox"
 * import * as LocalEngine from "@belay/server/LocalEngine"
 * import * as EngineLaws from "@belay/testing/EngineLaws"
 * import { test } from "node:test"
 *
 * const make = async () => {
 *   const inbox = Inbox.inMemory()
 *   return { inbox, engine: LocalEngine.make({ inbox, pollMs: 20 }) }
 * }
 * for (const { name, run } of EngineLaws.cases(make)) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (make: () => Promise<Subject>, options: Options = {}): ReadonlyArray<Case> =>
  engineLaws(make, options?.hasPeers ?? false)
