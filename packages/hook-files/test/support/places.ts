/** A user, a project, and what is started for them. */
import * as HookChain from "@belay/core/HookChain"
import * as Command from "@belay/hook-files/Command"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as TestScope from "@belay/testing/TestScope"
import * as Effect from "effect/Effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { call } from "../../../../test/support/events.ts"
import { folder, write } from "./processes.ts"

export const settings = (command: string, more: object = {}, event = "PreToolUse") =>
  JSON.stringify({ ...more, hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } })

/** A user, a project, and a count of what was started. */
export const place = () => {
  const root = folder()
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  mkdirSync(cwd)
  mkdirSync(home)
  const trust = join(home, "trust")
  const started: Array<string> = []
  const run: Command.Runner = (request) =>
    Effect.andThen(Effect.sync(() => void started.push(request.command)), Command.run(request))
  const load = (options: HookFiles.Options = {}) => HookFiles.load({ cwd, home, trust, run, ...options })
  const fire = (loaded: HookFiles.Loaded) => {
    const notices: Array<string> = []
    const scope = TestScope.make({ cwd, notifyUser: (message) => void notices.push(message) })
    return Effect.map(
      HookChain.makeUnsafe(loaded.hooks).run("preToolCall", call("bash", { command: "ls" }), scope),
      ({ action }) => ({
        action: action as typeof action & { readonly reason?: string },
        warnings: scope.warnings,
        notices
      })
    )
  }
  const project = (text: string) => write(join(cwd, ".claude/settings.json"), text)
  return { root, cwd, home, trust, started, load, fire, project, canary: join(root, "canary") }
}
