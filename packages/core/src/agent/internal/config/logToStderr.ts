/** Where the promise API writes log lines. */
import * as Context from "effect/Context"
import * as References from "effect/References"

/** Log lines go to standard error: standard output belongs to the program. */
export const logToStderr: Context.Context<never> = Context.make(References.LogToStderr, true)
