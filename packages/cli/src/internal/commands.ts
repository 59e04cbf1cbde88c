/** The commands and their flags. */
import type { Dialect } from "@belay/hooks/Discovery"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { systems } from "./guide/systems.ts"
import * as List from "./list.ts"
import type { Screen } from "./screen.ts"
import { look, type Where, whereOf } from "./world.ts"

const dialects = systems.map(({ dialect }) => dialect)

const shared = {
  cwd: Flag.String("cwd").pipe(Flag.withDescription("The folder of the project. Default: this one"), Flag.optional),
  home: Flag.String("home").pipe(Flag.withDescription("The user's home folder"), Flag.optional),
  managed: Flag.String("managed").pipe(Flag.withDescription("The folder of settings that count for everybody on this machine"), Flag.optional),
  source: Flag.Literals("source", dialects as ReadonlyArray<Dialect>).pipe(
    Flag.withDescription("Only files of this system; may be said again"),
    Flag.atLeast(0)
  ),
  file: Flag.String("file").pipe(Flag.withDescription("Only this file; may be said again. --source says whose form it has"), Flag.atLeast(0)),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Write JSON"), Flag.withoutNegation, Flag.withDefault(false)),
  noHooks: Flag.Boolean("no-hooks").pipe(Flag.withDescription("Load nothing"), Flag.withoutNegation, Flag.withDefault(false))
}

const hooks = Command.make("hooks").pipe(
  Command.withSharedFlags(shared),
  Command.withDescription("Lists hook files, finds what is wrong with them, and tries them")
)

const given = Effect.map(hooks, (flags): { readonly where: Where; readonly json: boolean } => ({
  json: flags.json,
  where: whereOf({
    ...said("cwd", flags.cwd),
    ...said("home", flags.home),
    ...said("managed", flags.managed),
    dialects: flags.source,
    files: flags.file,
    off: flags.noHooks
  })
}))

const said = <K extends string>(key: K, value: Option.Option<string>): { readonly [P in K]?: string } =>
  Option.isSome(value) ? { [key]: value.value } as { readonly [P in K]: string } : {}

/** What the process ends with. */
const ended = (code: 0 | 1): Effect.Effect<void> => Effect.sync(() => void (process.exitCode = code))

const print = (isJson: boolean, json: () => unknown, text: () => string): Effect.Effect<void> =>
  Console.log(isJson ? JSON.stringify(json(), null, 2) : text())

const list = (screen: Screen) =>
  Command.make("list", {}, () =>
    Effect.gen(function*() {
      const { json, where } = yield* given
      const world = look(where)
      yield* print(json, () => List.json(world), () => List.text(world, screen))
      yield* ended(world.problem === undefined ? 0 : 1)
    })).pipe(Command.withDescription("Shows every file with hooks, its entries, and what each may do"))

export const belay = (screen: Screen) =>
  Command.make("belay").pipe(
    Command.withDescription("The command line of Belay"),
    Command.withSubcommands([hooks.pipe(Command.withSubcommands([list(screen)]))])
  )
