/** `belay guard install` and `uninstall`: the few lines of a system's own settings that call the guard. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import { difference } from "../difference.ts"
import { exitWith, optional, print, toggle } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"
import type { Usage } from "../usage.ts"
import { withEntries, withoutEntries } from "./entries.ts"
import { hereOf, isSure, shared, systems, wireOf } from "./places.ts"
import { fileOf, programOf, textOf, write } from "./settings.ts"

const flags = {
  system: Argument.Literals("system", systems).pipe(Argument.withDescription(`One of ${systems.join(", ")}`)),
  user: toggle("user", "Change the settings of the user, for all projects. Default: those of the project"),
  yes: toggle("yes", "Do not ask"),
  ...shared
}

export const install = (screen: Screen) =>
  Command.make("install", {
    ...flags,
    program: optional("program", "How the system starts belay. Default: belay, or its path")
  }, (given) =>
    change(screen, given, (wire, file, text) =>
      withEntries(
        wire,
        file,
        text,
        Option.getOrElse(given.program, () => programOf(screen.path))
      ))).pipe(
      Command.withDescription(
        "Makes a system ask the guard: shows the change of its settings, and writes it after a yes"
      )
    )

export const uninstall = (screen: Screen) =>
  Command.make("uninstall", flags, (given) => change(screen, given, withoutEntries)).pipe(
    Command.withDescription("Removes the lines that install has written. Other lines stay as they are")
  )

interface Given extends Pick<Parameters<typeof hereOf>[0], "cwd" | "home"> {
  readonly system: string
  readonly user: boolean
  readonly yes: boolean
  readonly json: boolean
}

type Change = (
  wire: ReturnType<typeof wireOf>,
  file: string,
  text: string
) => Result.Result<string | undefined, Usage>

const change = Effect.fnUntraced(function*(screen: Screen, given: Given, changed: Change) {
  const { json, system, user, yes } = given
  const { cwd, places } = yield* hereOf(given)
  const wire = wireOf(system)
  const file = user ? fileOf(wire, "user", places.home) : fileOf(wire, "project", cwd)
  const before = yield* Effect.fromResult(textOf(file))
  const after = yield* Effect.fromResult(changed(wire, file, before))
  if (after === before) {
    return yield* print(json, () => ({ file, changed: false }), () => `${plain(file)} needs no change.`)
  }
  if (!json) {
    yield* Console.log([plain(file), ...difference(before, after ?? "", 400).map(plain)].join("\n"))
  }
  const sure = yield* isSure(screen, yes, after === undefined ? "Remove this file?" : "Write this?")
  if (sure) yield* Effect.fromResult(write(file, after))
  yield* print(
    json,
    () => ({ file, changed: sure }),
    () => sure ? "\nWritten." : "\nNot written. Use --yes to write it."
  )
  yield* exitWith(sure ? 0 : 1)
})
