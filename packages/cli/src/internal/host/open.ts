/** Opens the host of a config file for a command. */
import type { Host } from "@belay/server/Host"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { usageError } from "../flags.ts"
import { loadServed } from "../serve/load.ts"
import type { CommandError, Usage } from "../usage.ts"

/** The config files that are found without a name. */
const defaults = ["belay.config.ts", "belay.config.mjs", "belay.config.js"]

/** Opens the host until the scope closes. */
export const openHost = (config: string | undefined): Effect.Effect<Host, CommandError | Usage, Scope.Scope> =>
  Effect.gen(function*() {
    const path = config ?? defaults.find((name) => existsSync(name))
    if (path === undefined) {
      return yield* usageError(
        `there is no ${defaults[0]} here: name a module whose default export is a host, or { agent, store }`
      )
    }
    const served = yield* loadServed(path)
    if (!("host" in served)) {
      return yield* usageError(`${path} exports an agent without a store: export default { agent, store }`)
    }
    const { close, host } = served
    if (close !== undefined) {
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(Effect.tryPromise(close), "5 seconds")))
    }
    return host
  })
