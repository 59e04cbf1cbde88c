/** `belay guard trust`: shows a config and what it imports, and trusts it after a yes. */
import { folder as trustIn } from "@belay/hook-files/TrustStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { dirname, resolve } from "node:path"
import { exitWith, print, toggle, usageError } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"
import { hereOf, isSure, shared } from "./places.ts"
import { type Covered, coveredBy } from "./run/covered.ts"
import { findConfig, isTrusted, names } from "./run/find.ts"
import { loadConfig } from "./run/loadConfig.ts"
import type { Places } from "./run/places.ts"
import { messageOf } from "./run/refusal.ts"
import { withinUntil } from "./run/within.ts"

export const trust = (screen: Screen) =>
  Command.make("trust", {
    project: Argument.String("project").pipe(
      Argument.withDescription("The folder of the config, or the config. Default: --cwd"),
      Argument.optional
    ),
    yes: toggle("yes", "Do not ask"),
    ...shared
  }, (given) =>
    Effect.gen(function*() {
      const { cwd, places } = yield* hereOf(given)
      const place = resolve(cwd, Option.getOrElse(given.project, () => "."))
      const covered = yield* readConfig(place, places)
      const project = isConfig(place) ? dirname(place) : place
      const { files, path } = covered
      const isKnown = isTrusted(covered, places, project)
      if (isKnown) {
        return yield* print(given.json, () => ({ path, trusted: true }), () => `${plain(path)} is trusted already.`)
      }
      if (!given.json) {
        yield* Console.log(
          [...files].map(([file, text]) =>
            `${plain(file)}\n${text.split("\n").map((line) => `  ${plain(line)}`).join("\n")}`
          )
            .join("\n")
        )
      }
      const sure = yield* isSure(screen, given.yes, "Trust exactly this? Any change asks again.")
      if (sure) {
        trustConfig(covered, places)
        if (!isTrusted(covered, places, project)) {
          return yield* usageError(
            `${plain(places.trust)} lies in the project, which could change it: use another --home`
          )
        }
      }
      yield* print(
        given.json,
        () => ({ path, trusted: sure }),
        () => sure ? "Trusted. Any change of these files asks again." : "Not trusted. Read the files, then use --yes."
      )
      yield* exitWith(sure ? 0 : 1)
    })).pipe(Command.withDescription("Shows the config of a guard, and lets it run after a yes"))

/** Stores the decision. */
export const trustConfig = ({ fingerprint, path }: Covered, { trust: folder }: Places): void =>
  trustIn(folder).trust(dirname(path), fingerprint)

const isConfig = (place: string): boolean => names.some((name) => place.endsWith(name))

/** Reads the config of a folder, or a config. */
const readConfig = (place: string, { home }: Places) =>
  Effect.gen(function*() {
    const path = isConfig(place) ? place : findConfig(place, home)
    if (path === undefined) return yield* usageError(`there is no ${names.join(", ")} in ${plain(place)} or above it`)
    const covered = yield* Effect.try({
      try: () => coveredBy(path),
      catch: (error) => usageError(plain(messageOf(error)))
    })
    // Code runs only after the decision. A list of ready hooks runs nothing that could do harm.
    if (path.endsWith(".json")) {
      yield* Effect.tryPromise({
        try: () => loadConfig(covered, withinUntil(performance.now() + 10_000)),
        catch: (error) => usageError(plain(messageOf(error)))
      })
    }
    return covered
  })
