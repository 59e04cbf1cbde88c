/** `belay guard init`: writes a config after four questions. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { exitWith, print, toggle, usageError } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"
import { hereOf, shared, systems, wireOf } from "./places.ts"
import { coveredBy } from "./run/covered.ts"
import { names } from "./run/find.ts"
import { loadConfig } from "./run/loadConfig.ts"
import { withinUntil } from "./run/within.ts"
import { type Answers, configText, gapsOf } from "./template.ts"
import { trustConfig } from "./trust.ts"

const choices = ["ask", "deny", "allow"] as const

export const init = (screen: Screen) =>
  Command.make("init", {
    system: Flag.Literals("system", systems).pipe(
      Flag.withDescription("The system that is guarded. Default: asks, or claude"),
      Flag.optional
    ),
    outward: Flag.Literals("outward", choices).pipe(
      Flag.withDescription("Commands that push, publish or destroy. Default: asks, or ask"),
      Flag.optional
    ),
    values: Flag.Literals("values", choices).pipe(
      Flag.withDescription("Values that nobody but a file, a page or a mail has named. Default: asks, or ask"),
      Flag.optional
    ),
    calls: Flag.Int("calls").pipe(
      Flag.withDescription("The most tool calls of one turn; 0 for no limit. Default: asks, or 200"),
      Flag.optional
    ),
    force: toggle("force", "Write over a config that is there"),
    ...shared
  }, (given) =>
    Effect.gen(function*() {
      const { cwd, places } = yield* hereOf(given)
      const there = names.map((name) => join(cwd, name)).find((path) => existsSync(path))
      if (there !== undefined && !given.force) {
        return yield* usageError(`${plain(there)} is there already: change it, or use --force`)
      }
      const asks = screen.interactive && !given.json
      const select = <A extends string>(message: string, list: ReadonlyArray<A>, flag: Option.Option<A>, usual: A) =>
        Option.isSome(flag) || !asks
          ? Effect.succeed(Option.getOrElse(flag, () => usual))
          : Prompt.run(Prompt.Select({ message, choices: list.map((value) => ({ title: value, value })) }))
      const answers: Answers = {
        system: yield* select("Which agent do you guard?", systems, given.system, "claude"),
        outward: yield* select(
          "What happens to commands that push, publish or destroy?",
          choices,
          given.outward,
          "ask"
        ),
        values: yield* select(
          "What happens if the agent acts with a value that only something it read has named?",
          choices,
          given.values,
          "ask"
        ),
        calls: Option.isSome(given.calls) || !asks
          ? Option.getOrElse(given.calls, () => 200)
          : yield* Prompt.run(Prompt.Int({ message: "How many tool calls may one turn make? (0: no limit)", min: 0 }))
      }
      if (answers.calls < 0) return yield* usageError("--calls is 0 or more")
      const path = join(cwd, names[0]!)
      const write = (gaps: ReadonlyArray<string>) =>
        Effect.try({
          try: () => writeFileSync(path, configText(answers, gaps)),
          catch: (error) => usageError(`${plain(path)} cannot be written: ${String(Object(error).message)}`)
        })
      yield* write([])
      const { guard } = yield* Effect.promise(() =>
        loadConfig(coveredBy(path), withinUntil(performance.now() + 10_000))
      )
      const wire = wireOf(answers.system)
      const gaps = gapsOf(wire, guard)
      yield* write(gaps)
      trustConfig(coveredBy(path), places)
      if (!given.json) yield* Console.log(configText(answers, gaps))
      yield* print(given.json, () => ({ path, ...answers, gaps }), () =>
        [
          `Wrote ${plain(path)}, and trusted it. After a change, run \`belay guard trust\`.`,
          `Next: \`belay guard install ${answers.system}\``
        ].join("\n"))
      yield* exitWith(0)
    }).pipe(
      Effect.catchTag("QuitError", () => Effect.andThen(Console.log("Nothing was written."), exitWith(1)))
    )).pipe(
      Command.withDescription("Writes belay.guard.ts after four questions, with hooks that the system can enforce")
    )
