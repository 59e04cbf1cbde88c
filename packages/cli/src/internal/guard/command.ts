/** `belay guard`: the hooks of Belay inside command-line agents. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { optional } from "../flags.ts"
import type { Screen } from "../screen.ts"
import { doctor } from "./doctor.ts"
import { init } from "./init.ts"
import { install, uninstall } from "./install.ts"
import { log } from "./log.ts"
import { systems } from "./places.ts"
import { trust } from "./trust.ts"

/** An installed package runs a bundle of this instead, which starts faster. */
const run = Command.make("run", {
  system: Flag.Literals("system", systems).pipe(Flag.withDescription("The system that calls this command")),
  event: optional("event", "The event, for systems whose payloads do not name it"),
  limit: optional(
    "limit",
    "After how many seconds the guard must have decided. Default: 20, or less where a system waits less"
  ),
  config: optional("config", "The config. Default: belay.guard.ts, .js or .json of the folder, or of one above it")
}, () =>
  Effect.promise(async () => {
    const { command } = await import("./run/command.ts")
    await command(process.argv.slice(2), () => {})
  })).pipe(Command.withDescription("Decides about one payload of a system. Its settings call this command"))

export const guard = (screen: Screen) =>
  Command.make("guard").pipe(
    Command.withDescription(
      "Guards Claude Code, Codex, Cursor, Copilot, Gemini CLI, Factory and Windsurf with your hooks"
    ),
    Command.withSubcommands([
      init(screen),
      install(screen),
      uninstall(screen),
      trust(screen),
      doctor(screen),
      log(screen),
      run
    ])
  )
