/** The commands of `belay`. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { chat } from "../chat/command.ts"
import { demo } from "../demo/command.ts"
import { endpoint } from "../endpoint.ts"
import * as Doctor from "../files/doctor.ts"
import * as Explain from "../files/explain.ts"
import * as List from "../files/list.ts"
import * as Overview from "../files/overview.ts"
import { trust, untrust } from "../files/trusting.ts"
import { exitWith, type Flags, flagsOf, hooks, print, sharedFlags, unknown } from "../flags.ts"
import { flow } from "../flow/command.ts"
import { guard } from "../guard/command.ts"
import { guides } from "../guides.ts"
import { hostCommand } from "../host/command.ts"
import { sessions } from "../host/sessions.ts"
import { backtest } from "../inspect/backtest.ts"
import { inspect } from "../inspect/command.ts"
import type { Screen } from "../screen.ts"
import { serve } from "../serve/command.ts"
import { skills } from "../skills/command.ts"
import { test } from "../trial/command.ts"
import { look } from "../world.ts"

const list = (screen: Screen) =>
  Command.make("list", {}, () =>
    Effect.gen(function*() {
      const { json, where } = yield* sharedFlags
      const world = look(where)
      yield* print(json, () => List.json(world), () => List.text(world, screen))
      yield* exitWith(world.problem === undefined ? 0 : 1)
    })).pipe(Command.withDescription("Shows every file with hooks, its entries, and what each entry can do"))

const overview = (screen: Screen, flags: Flags) =>
  Effect.gen(function*() {
    const { json, where } = yield* flagsOf(flags)
    const world = look(where)
    const found = Doctor.findings(world, screen.path)
    yield* print(json, () => Overview.json(world, found), () => Overview.text(world, found, screen))
    yield* exitWith(world.problem === undefined ? 0 : 1)
  })

const doctor = (screen: Screen) =>
  Command.make("doctor", {}, () =>
    Effect.gen(function*() {
      const { json, where } = yield* sharedFlags
      const world = look(where)
      const found = Doctor.findings(world, screen.path)
      yield* print(json, () => Doctor.json(world, found), () => Doctor.text(world, found, screen))
      yield* exitWith(Doctor.hasErrors(found) ? 1 : 0)
    })).pipe(
      Command.withDescription(
        "Finds mistakes in hook files and in the scripts that they start. The exit code is 1 if there are errors"
      )
    )

const explain = (screen: Screen) =>
  Command.make("explain", {
    event: Argument.String("event").pipe(
      Argument.withDescription("An event of any system. Default: all events, one per line"),
      Argument.optional
    )
  }, ({ event }) =>
    Effect.gen(function*() {
      const { json, where: { dialects: wanted } } = yield* sharedFlags
      if (Option.isNone(event)) {
        const all = guides.filter(({ dialect }) => wanted.length === 0 || wanted.includes(dialect)).flatMap((
          { events }
        ) => events)
        return yield* print(json, () => Explain.json(all), () => Explain.index(wanted, screen))
      }
      const events = Explain.found(event.value, wanted)
      if (events.length === 0) return yield* unknown(event.value)
      yield* print(json, () => Explain.json(events), () => Explain.text(events, screen))
    })).pipe(
      Command.withDescription(
        "Explains an event in every system: the input, the answers, and an example"
      )
    )

export const belay = (screen: Screen) =>
  Command.make("belay").pipe(
    Command.withDescription("The command line of Belay"),
    Command.withSubcommands([
      demo(screen),
      chat(screen),
      flow(screen),
      endpoint,
      inspect(screen),
      backtest(screen),
      hooks.pipe(
        Command.withHandler((flags) => overview(screen, flags)),
        Command.withSubcommands([list(screen), doctor(screen), test(screen), trust(screen), untrust, explain(screen)])
      ),
      skills(screen),
      guard(screen),
      serve,
      hostCommand,
      sessions(screen)
    ])
  )
