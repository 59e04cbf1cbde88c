/** `belay backtest`: tries hooks on what has happened. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { optional } from "../flags.ts"
import type { Screen } from "../screen.ts"

export const backtest = (screen: Screen) =>
  Command.make("backtest", {
    files: Argument.String("file").pipe(
      Argument.withDescription("Recordings, exported sessions or files of SQLite stores"),
      Argument.atLeast(1)
    ),
    hook: Flag.String("hook").pipe(
      Flag.withDescription("A module that exports hooks, or functions that make them; can be repeated"),
      Flag.atLeast(1)
    ),
    maxStricter: optional(
      "max-stricter",
      "The greatest share of events that may be stopped now and were not then, such as 0.5%. More: exit code 1"
    ),
    expect: optional("expect", "A file with one expectation as JSON per line. One that does not hold: exit code 1"),
    report: optional("report", "The file of a report, which is one HTML page"),
    session: optional("session", "The session of a store. Default: the only one"),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Write JSON"), Flag.withoutNegation, Flag.withDefault(false))
  }, (flags) =>
    Effect.flatMap(
      // Loaded here, so that other commands start faster.
      Effect.promise(() => import("./runBacktest.ts")),
      ({ runBacktest }) => runBacktest(flags, screen)
    )).pipe(
      Command.withDescription(
        "Tries hooks on what has happened: what they would refuse or change now. No model and no tool runs"
      )
    )
