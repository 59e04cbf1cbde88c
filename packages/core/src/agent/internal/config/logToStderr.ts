/** Where log lines go. */
import * as Context from "effect/Context"
import * as References from "effect/References"

/** For programs that run no Effects of their own: standard output is theirs. */
export const toStderr: Context.Context<never> = Context.make(References.LogToStderr, true)
