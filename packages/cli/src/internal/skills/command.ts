/** `belay skills`: lists skills, trusts those of a project, and says what they ask for. */
import { nearest } from "@belay/core/NamePattern"
import type { UntrustedSkill } from "@belay/hook-files/SkillFiles"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitWith, print, toggle, usageError } from "../flags.ts"
import { count, plain, type Screen } from "../screen.ts"
import type { Usage } from "../usage.ts"
import { lookAtSkills, skillFlags, type SkillWorld } from "./look.ts"
import { lintAll, lintJson, lintText, listJson, listText, trustJson, trustText } from "./show.ts"

const name = Argument.String("name").pipe(
  Argument.withDescription("The name of a skill. Default: all"),
  Argument.optional
)

/** Fails if no skill has the name. */
const known = (wanted: Option.Option<string>, { all }: SkillWorld): Effect.Effect<(name: string) => boolean, Usage> => {
  if (Option.isNone(wanted)) return Effect.succeed(() => true)
  const names = all.map(({ skill }) => skill.name)
  if (names.includes(wanted.value)) return Effect.succeed((one) => one === wanted.value)
  const near = nearest(wanted.value, names)
  const hint = near === undefined ? "belay skills list shows them" : `did you mean ${near}?`
  return Effect.fail(usageError(`there is no skill ${plain(wanted.value)}; ${hint}`))
}

const list = (screen: Screen) =>
  Command.make("list", skillFlags, (flags) =>
    Effect.gen(function*() {
      const world = yield* lookAtSkills(flags)
      yield* print(flags.json, () => listJson(world), () => listText(world, screen))
    })).pipe(
      Command.withDescription("Shows the skills of the user, of plugins and of the project, and what they may use")
    )

const trust = (screen: Screen) =>
  Command.make("trust", { ...skillFlags, name, yes: toggle("yes", "Do not ask") }, (flags) =>
    Effect.gen(function*() {
      const { json } = flags
      const world = yield* lookAtSkills(flags)
      const isWanted = yield* known(flags.name, world)
      const waiting = world.untrusted.filter(({ skill }) => isWanted(skill.name))
      if (waiting.length === 0) {
        const own = world.skills.some(({ name: own, ofProject }) => ofProject && isWanted(own))
        const told = own ? "is already trusted." : "has no skills of its own that wait for a decision."
        return yield* print(json, () => trustJson([], own), () => `${plain(world.where.cwd)} ${told}`)
      }
      if (!json) {
        yield* Console.log(waiting.map((one) => trustText(one, world, screen)).join("\n\n"))
      }
      const possible = waiting.filter(({ problem }) => problem === undefined)
      const sure = possible.length > 0 && (flags.yes || (screen.interactive && !json && (yield* ask(possible))))
      if (sure) { for (const one of possible) one.trust() }
      yield* print(json, () => trustJson(waiting, sure), () => `\n${outcome(sure, possible.length, screen)}`)
      yield* exitWith(sure && possible.length === waiting.length ? 0 : 1)
    })).pipe(
      Command.withDescription("Shows the skills of a project that nobody has trusted, and trusts them after a yes")
    )

const ask = (possible: ReadonlyArray<UntrustedSkill>) =>
  Prompt.run(
    Prompt.Confirm({ message: `Trust exactly ${possible.length === 1 ? "this" : "these"}? Any change asks again.` })
  ).pipe(Effect.catchTag("QuitError", () => Effect.succeed(false)))

const outcome = (sure: boolean, possible: number, screen: Screen): string => {
  if (sure) return `Trusted ${count(possible, "skill")}. Any change of their files asks again.`
  if (possible === 0) return "Not trusted: none of them can be trusted as it is."
  return screen.interactive
    ? "Not trusted."
    : "Not trusted: there is no terminal to ask on. Read the list, then use --yes."
}

const lint = (screen: Screen) =>
  Command.make("lint", { ...skillFlags, name }, (flags) =>
    Effect.gen(function*() {
      const world = yield* lookAtSkills(flags)
      const isWanted = yield* known(flags.name, world)
      const linted = lintAll(world).filter(({ skill }) => isWanted(skill.name))
      yield* print(flags.json, () => lintJson(linted, world), () => lintText(linted, world, screen))
      const isWrong = linted.some(({ found }) => found.some(({ level }) => level === "error"))
      yield* exitWith(isWrong || (Option.isNone(flags.name) && world.warnings.length > 0) ? 1 : 0)
    })).pipe(
      Command.withDescription(
        "Says what skills ask for, and finds hidden text, orders to the model and use of the network. The exit " +
          "code is 1 if there are errors"
      )
    )

export const skills = (screen: Screen) =>
  Command.make("skills").pipe(
    Command.withDescription("Lists skills, trusts those of a project, and checks them"),
    Command.withSubcommands([list(screen), trust(screen), lint(screen)])
  )
