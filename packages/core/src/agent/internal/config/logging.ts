/** Where the log lines of an agent go. */
import * as Context from "effect/Context"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type { AgentConfig, LogLine } from "../../AgentConfig.ts"

/** Standard error by default, because standard output belongs to the program. */
export const loggingOf = (log: AgentConfig["log"]): Context.Context<never> => {
  if (log === undefined) return toStderr
  return Context.make(Logger.CurrentLoggers, new Set(log === false ? [] : [loggerFor(log)]))
}

const toStderr: Context.Context<never> = Context.make(References.LogToStderr, true)

const loggerFor = (log: (line: LogLine) => void): Logger.Logger<unknown, void> =>
  Logger.make(({ date, logLevel, message }) => {
    const text = [message].flat().map(String).join(" ")
    const level = levels[logLevel] ?? "info"
    // An error of the program's own function must not disturb the turn.
    Result.try(() => log({ level, message: text, time: date }))
  })

const levels: { readonly [level: string]: LogLine["level"] } = {
  Trace: "debug",
  Debug: "debug",
  Warn: "warning",
  Error: "error",
  Fatal: "error"
}
