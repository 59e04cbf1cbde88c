/** A hook that is being awaited. */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HookScope } from "../HookContext.ts"
import type { Entry } from "./compiledPoint.ts"
import { Context } from "./context.ts"

/** A call of a hook that has not answered yet. */
export interface Waiting {
  readonly entry: Entry
  readonly ctx: Context
  /** Whether other calls of the hook share the context when this one has been answered. */
  readonly isShared: boolean
  /** The Effect to start. Absent for a promise, which is already running. */
  readonly start: Effect.Effect<unknown, unknown> | undefined
  readonly promise: Promise<unknown> | undefined
  readonly began: number
}

/** Reports that a hook answered after it had timed out. An interruption is not an answer. */
export const reportLate = (
  scope: HookScope,
  { ctx, entry }: Waiting,
  exit?: Exit.Exit<unknown, unknown>
): void => {
  const isInterrupted = exit !== undefined && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
  if (Context.isRevoked(ctx) && !isInterrupted) scope.onLate(entry.name, "answer")
}
