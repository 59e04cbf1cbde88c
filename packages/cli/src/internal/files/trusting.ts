/** `belay hooks trust` and `untrust` and their flags. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitWith, folder, print, sharedFlags, toggle, usageError } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"
import type { Usage } from "../usage.ts"
import { look, type Where, whereOf, type World } from "../world.ts"
import * as Trust from "./trust.ts"

const project = Argument.String("project").pipe(
  Argument.withDescription("The folder of the project. Default: --cwd"),
  Argument.optional
)

const placeOf = (where: Where, path: Option.Option<string>): Where =>
  Option.isSome(path) ? whereOf({ ...where, cwd: path.value }) : where

const worldOf = (where: Where): Effect.Effect<World, Usage> => {
  const world = look(where)
  return world.problem === undefined ? Effect.succeed(world) : Effect.fail(usageError(world.problem))
}

export const trust = (screen: Screen) =>
  Command.make("trust", { project, yes: toggle("yes", "Do not ask") }, (flags) =>
    Effect.gen(function*() {
      const { json, where } = yield* sharedFlags
      const place = placeOf(where, flags.project)
      yield* folder("project", place.cwd)
      const world = yield* worldOf(place)
      const [waiting] = world.untrusted
      if (waiting === undefined) {
        const own = world.files.some(({ items, source }) => source.ofProject && items.length > 0)
        const told = own ? `${world.where.cwd} is already trusted.` : `${world.where.cwd} has no hooks of its own.`
        return yield* print(json, () => Trust.json(world, own), () => plain(told))
      }
      if (!json) yield* Console.log(Trust.text(world, screen))
      const sure = flags.yes || (screen.interactive && !json &&
        (yield* Prompt.run(Prompt.Confirm({ message: "Trust exactly this? Any change asks again." })).pipe(
          Effect.catchTag("QuitError", () => Effect.succeed(false))
        )))
      if (sure) waiting.trust()
      yield* print(
        json,
        () => Trust.json(world, sure),
        () =>
          sure
            ? "\nTrusted. Any change of these files asks again."
            : screen.interactive
            ? "\nNot trusted."
            : "\nNot trusted: there is no terminal to ask on. Read the list, then use --yes."
      )
      yield* exitWith(sure ? 0 : 1)
    })).pipe(Command.withDescription("Shows what the hooks of a project would run, and trusts them after a yes"))

export const untrust = Command.make("untrust", { project }, (flags) =>
  Effect.gen(function*() {
    const { json, where } = yield* sharedFlags
    const world = yield* worldOf(placeOf(where, flags.project))
    const was = Trust.untrust(world)
    const { cwd } = world.where
    yield* print(json, () => ({ project: cwd, was: was ? "trusted" : "not trusted", trusted: false }), () =>
      plain(was ? `${cwd} is no longer trusted.` : `${cwd} was not trusted.`))
  })).pipe(Command.withDescription("Removes the decision about a project"))
