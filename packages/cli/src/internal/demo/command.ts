/** `belay demo`: an agent on a rope in a minute. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { resolve } from "node:path"
import { fromEnvironment } from "../environment.ts"
import { ExitCode, optional, toggle, usageError } from "../flags.ts"
import type { Screen } from "../screen.ts"
import { ownFolders, takeFolder } from "./folder.ts"

export const demo = (screen: Screen) =>
  Command.make("demo", {
    prompt: optional("prompt", "What the agent is asked to do"),
    baseUrl: optional("base-url", "An OpenAI-compatible endpoint. Default: OPENAI_BASE_URL, or one on this machine"),
    model: optional("model", "The model. Default: OPENAI_MODEL, or gpt-5.4-mini"),
    approve: Flag.Literals("approve", ["ask", "allow", "deny"]).pipe(
      Flag.withDescription("Who answers the question: a person, or this flag"),
      Flag.withDefault("ask" as const)
    ),
    budget: Flag.Finite("budget").pipe(Flag.withDescription("The most dollars to spend"), Flag.withDefault(0.05)),
    folder: optional(
      "folder",
      "The folder of the demonstration. Default: belay-demo in the folder for temporary files, or belay-demo-2 " +
        "while another demonstration runs there"
    ),
    fresh: toggle("fresh", "Begin anew, also if a run waits"),
    verbose: toggle("verbose", "Show every model call and every decision of a hook").pipe(Flag.withAlias("v"))
  }, (flags) =>
    Effect.gen(function*() {
      if (!(flags.budget > 0)) return yield* usageError("--budget is a number of dollars above 0")
      const { apiKey, baseUrl, model } = yield* fromEnvironment(flags)
      const context = yield* Effect.context<never>()
      const exit = Context.get(context, ExitCode)
      const console = yield* Console.Console
      // Loaded here, so that other commands start faster.
      const { runDemo } = yield* Effect.promise(() => import("./run.ts"))
      const folder = yield* Effect.fromResult(
        takeFolder(Option.match(flags.folder, { onNone: ownFolders, onSome: (named) => [resolve(named)] as const }))
      )
      const stopped = new AbortController()
      const run = runDemo({
        folder,
        prompt: Option.getOrUndefined(flags.prompt),
        baseUrl,
        model,
        apiKey,
        approve: flags.approve,
        budget: flags.budget,
        isVerbose: flags.verbose,
        isFresh: flags.fresh,
        signal: stopped.signal,
        screen,
        terminal: { input: process.stdin, output: process.stdout },
        write: (line) => console.log(line)
      })
      exit.code = yield* Effect.onInterrupt(run, () => Effect.sync(() => stopped.abort()))
    })).pipe(
      Command.withDescription(
        "Runs an agent that reads a poisoned file: hooks refuse what it must not do, a person is asked, and a " +
          "report shows it all"
      )
    )
