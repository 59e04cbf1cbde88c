/** `belay endpoint`: an OpenAI-compatible endpoint on this machine, with a rule-based model. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { optional } from "./flags.ts"
import { commandError } from "./usage.ts"

export const endpoint = Command.make("endpoint", {
  port: Flag.Int("port").pipe(Flag.withDescription("The port. Default: a free one"), Flag.withDefault(0)),
  key: optional("key", "The key that requests must have. Default: any")
}, ({ key, port }) =>
  Effect.gen(function*() {
    // Loaded here, so that other commands start faster.
    const Endpoint = yield* Effect.promise(() => import("@belay/testing/Endpoint"))
    const running = yield* Effect.tryPromise({
      try: () => Endpoint.start({ port, ...(Option.isSome(key) ? { apiKey: key.value } : {}) }),
      catch: (error) => commandError(`the endpoint could not start: ${String(Object(error).message)}`)
    })
    yield* Console.log(`OPENAI_BASE_URL=${running.url}`)
    yield* Console.error("Any OpenAI client can use it. Ctrl-C ends it.")
    return yield* Effect.ensuring(Effect.never, Effect.promise(() => running.close()))
  })).pipe(Command.withDescription("Starts an OpenAI-compatible endpoint on this machine, with a rule-based model"))
