/**
 * Test cases for session stores, for any test runner.
 *
 * @since 0.1.0
 */
import type { ArtifactStore } from "@belay/core/ArtifactStore"
import type { SessionStore } from "@belay/core/SessionStore"
import { artifactLaws } from "./internal/laws/artifacts.ts"
import type { Law } from "./internal/laws/law.ts"
import { sessionLaws } from "./internal/laws/sessions/sessionLaws.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

/** An empty store under test. @category models @since 0.1.0 */
export interface Subject {
  readonly store: SessionStore
  /**
   * Opens the same content a second time, as another process would. Without it, the laws do not check what survives a
   * process.
   */
  readonly reopen?: () => Promise<SessionStore> | SessionStore
  /** Closes everything. */
  readonly dispose?: () => Promise<void> | void
}

/** An empty artifact store under test. @category models @since 0.1.0 */
export interface ArtifactSubject {
  readonly artifacts: ArtifactStore
  readonly reopen?: () => Promise<ArtifactStore> | ArtifactStore
  readonly dispose?: () => Promise<void> | void
}

/** Options of `cases`. @category models @since 0.1.0 */
export interface Options {
  /**
   * Optional operations that the store does not have, and `append-cost` if the store writes a session as one text.
   * Default: none.
   */
  readonly without?: ReadonlyArray<"list" | "fork" | "remove" | "records" | "artifacts" | "append-cost">
}

/**
 * Returns the laws of session stores and of their artifact store. `make` returns an empty store for each law.
 *
 * @example
 * ```ts
 * import * as SessionStore from "@belay/core/SessionStore"
 * import * as StoreLaws from "@belay/testing/StoreLaws"
 * import { test } from "node:test"
 *
 * for (const { name, run } of StoreLaws.cases(async () => ({ store: SessionStore.inMemory() }))) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (make: () => Promise<Subject>, options: Options = {}): ReadonlyArray<Case> => {
  const { without = [] } = options ?? {}
  const artifacts = async (): Promise<ArtifactSubject> => {
    const { dispose, reopen, store } = await make()
    const of = (one: SessionStore): ArtifactStore => {
      if (one.artifacts !== undefined) return one.artifacts
      throw new Error("the store has no `artifacts`: give them, or list them in `without`")
    }
    return {
      artifacts: of(store),
      ...(dispose === undefined ? {} : { dispose }),
      ...(reopen === undefined ? {} : { reopen: async () => of(await reopen()) })
    }
  }
  return [...sessionLaws(make, new Set(without)), ...without.includes("artifacts") ? [] : artifactCases(artifacts)]
}

/** Returns the laws of artifact stores. @category laws @since 0.1.0 */
export const artifactCases = (make: () => Promise<ArtifactSubject>): ReadonlyArray<Case> => artifactLaws(make)
