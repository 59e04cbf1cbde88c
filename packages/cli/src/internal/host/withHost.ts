/** Uses the host of a config file, and the flags of all commands that do. */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Host } from "@belay/server/Host"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { optional, toggle } from "../flags.ts"
import { Usage } from "../usage.ts"

export const shared = {
  config: optional("config", "A module that exports a host, or { agent, store, engine }. Default: belay.config.ts"),
  json: toggle("json", "Write JSON")
}

export interface Shared {
  readonly config: Option.Option<string>
  readonly json: boolean
}

/** Uses the host of the config file. Wrong input of a host is wrong usage. */
export const withHost = <A, E>({ config }: Shared, use: (host: Host) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.gen(function*() {
    // Loaded here, so that other commands start faster.
    const { openHost } = yield* Effect.promise(() => import("./open.ts"))
    const host = yield* openHost(Option.getOrUndefined(config))
    return yield* Effect.mapError(
      use(host),
      (error) => Object(error).problem === "wrong-input" ? new Usage({ message: messageOf(error) }) : error
    )
  }))
