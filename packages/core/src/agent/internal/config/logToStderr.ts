/** The logger of the promise API. */
import * as Context from "effect/Context"
import * as References from "effect/References"

/** Writes log lines to standard error, because standard output belongs to the program. */
export const logToStderr: Context.Context<never> = Context.make(References.LogToStderr, true)
