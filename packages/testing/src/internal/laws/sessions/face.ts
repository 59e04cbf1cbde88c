/** What the laws of session stores work with: a store with promises, and a law that names what it needs. */
import type { RunState } from "@belay/core/RunState"
import type { Commit, SessionInfo, SessionStore } from "@belay/core/SessionStore"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { broken } from "../law.ts"

/** A store under test. */
export interface Subject {
  readonly store: SessionStore
  readonly reopen?: () => Promise<SessionStore> | SessionStore
  readonly dispose?: () => Promise<void> | void
}

/** A store under test with promises, and with all optional operations. */
export interface StoreFace {
  readonly commit: (step: Commit) => Promise<void>
  /** Returns the failure of a commit that must fail. */
  readonly refused: (step: Commit) => Promise<unknown>
  readonly load: (id: string) => Promise<RunState | undefined>
  readonly list: (
    options?: { readonly limit?: number; readonly before?: number; readonly ids?: ReadonlyArray<string> }
  ) => Promise<ReadonlyArray<SessionInfo>>
  readonly fork: (id: string, to: string) => Promise<Exit.Exit<void, unknown>>
  readonly remove: (id: string) => Promise<boolean>
  readonly records: (id: string) => Promise<ReadonlyArray<unknown>>
  readonly store: SessionStore
}

/** Runs an operation of a store. */
export const run = Effect.runPromise

/** Wraps a store with promises. An optional operation that is missing breaks the law that needs it. */
export const promiseFace = (store: SessionStore): StoreFace => {
  const has = <K extends "list" | "fork" | "remove" | "records">(operation: K): NonNullable<SessionStore[K]> =>
    store[operation] ?? broken(`the store has no \`${operation}\`: give it one, or list it in \`without\``)
  return {
    store,
    commit: (step) => run(store.commit(step)),
    refused: async (step) => {
      const exit = await Effect.runPromiseExit(store.commit(step))
      return Exit.isFailure(exit) ? Cause.squash(exit.cause) : broken(`a commit of revision ${step.revision} was taken`)
    },
    load: (id) => run(store.load(id)),
    list: (options) => run(has("list")(options)),
    fork: (id, to) => Effect.runPromiseExit(has("fork")(id, to)),
    remove: (id) => run(has("remove")(id)),
    records: (id) => run(has("records")(id))
  }
}

/** One law. It is left out for a store without one of the operations in `needs`. */
export interface SessionLaw {
  readonly name: string
  readonly prove: (store: StoreFace, subject: Subject) => Promise<void>
  readonly needs: ReadonlyArray<string>
}

/** Creates a law. */
export const law = (name: string, prove: SessionLaw["prove"], ...needs: ReadonlyArray<string>): SessionLaw => ({
  name,
  prove,
  needs
})
