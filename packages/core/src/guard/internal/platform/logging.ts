/** Where the log lines of an agent go. */
import * as Context from "effect/Context"
import type * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Result from "effect/Result"

/** A line of the log. @category models @since 0.1.0 */
export interface LogLine {
  readonly level: "debug" | "info" | "warning" | "error"
  readonly message: string
  readonly time: Date
}

/** Standard error by default, because standard output belongs to the program. */
export const loggingOf = (log: false | ((line: LogLine) => void) | undefined): Context.Context<never> => {
  if (log === undefined) return toStderr
  return Context.make(References.CurrentLoggers, new Set(log === false ? [] : [loggerFor(log)]))
}

const toStderr: Context.Context<never> = Context.make(References.LogToStderr, true)

const loggerFor = (log: (line: LogLine) => void): Logger.Logger<unknown, void> => {
  const logger: Pick<Logger.Logger<unknown, void>, "log"> = {
    log: ({ date, logLevel, message }) => {
      const text = [message].flat().map(String).join(" ")
      const level = levels[logLevel] ?? "info"
      // An error of the program's own function must not disturb the turn.
      Result.try(() => log({ level, message: text, time: date }))
    }
  }
  // Fibers only call `log`. `Logger.make` would load the module of all loggers, with files and formats, at every start.
  return logger as Logger.Logger<unknown, void>
}

const levels: { readonly [level: string]: LogLine["level"] } = {
  Trace: "debug",
  Debug: "debug",
  Warn: "warning",
  Error: "error",
  Fatal: "error"
}
