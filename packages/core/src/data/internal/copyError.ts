/** Copies an error of an agent with other fields. The original may be shared by several turns, so it is not changed. */
import * as Result from "effect/Result"
import type { AgentError } from "../AgentError.ts"

/** Returns the error itself if it cannot be copied, because a custom core failed with something else. */
export const copyError = <E extends AgentError>(error: E, fields: Partial<E>): E => {
  const made = Result.try(() => {
    // Every class of `AgentError` is made from its fields.
    const ErrorClass = error.constructor as new(fields: object) => E
    const copy = new ErrorClass({ ...error, message: error.message, ...fields })
    const { cause, stack } = error
    Object.defineProperty(copy, "stack", { value: stack, configurable: true, writable: true })
    return cause === undefined || "cause" in copy ? copy : Object.defineProperty(copy, "cause", { value: cause })
  })
  return Result.isSuccess(made) && made.success._tag === error._tag && made.success.message === error.message
    ? made.success
    : error
}
