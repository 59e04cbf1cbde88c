/** A call that has ended, whose span is sent later, because its event may say more about it. */
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"

export interface EndedCall {
  readonly span: Tracer.Span
  readonly endedAt: bigint
  readonly exit: Exit.Exit<unknown, unknown>
}

export const endSpan = ({ endedAt, exit, span }: EndedCall): void => span.end(endedAt, exit)

/** Errors may contain texts of the conversation. A span says only that it failed; `error.type` says how. */
export const failure: Exit.Exit<never, string> = Exit.fail("failed")

export const bare = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  Exit.isSuccess(exit) ? Exit.void : failure
