/** What the commands of the guard share: systems, folders and questions. */
import { all, named, type Wire } from "@belay/hook-files/Wires"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { folder, optional } from "../flags.ts"
import type { Screen } from "../screen.ts"
import { type Places, placesIn } from "./run/places.ts"

/** The names of the systems. */
export const systems: ReadonlyArray<string> = all.map(({ system }) => system)

export const shared = {
  cwd: optional("cwd", "The folder of the project. Default: this folder"),
  home: optional("home", "The user's home folder"),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Write JSON"), Flag.withoutNegation, Flag.withDefault(false))
}

interface Given {
  readonly cwd: Option.Option<string>
  readonly home: Option.Option<string>
}

/** Where a command works. */
export interface Here {
  readonly cwd: string
  readonly places: Places
}

export const hereOf = Effect.fnUntraced(function*({ cwd, home }: Given) {
  const here: Here = {
    cwd: resolve(Option.getOrElse(cwd, () => process.cwd())),
    places: placesIn(resolve(Option.getOrElse(home, () => homedir())))
  }
  yield* folder("--cwd", here.cwd)
  return here
})

/** The table of a system. The flags accept only names of systems. */
export const wireOf = (system: string): Wire => named(system)!

/** Asks for a yes. Without a terminal there is none. */
export const isSure = (screen: Screen, yes: boolean, message: string) =>
  yes || !screen.interactive
    ? Effect.succeed(yes)
    : Prompt.run(Prompt.Confirm({ message })).pipe(Effect.catchTag("QuitError", () => Effect.succeed(false)))
