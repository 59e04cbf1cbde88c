/** The endpoint, the model and the key, from flags and from the environment. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

export interface EndpointSettings {
  /** Absent: an endpoint on this machine. */
  readonly baseUrl: string | undefined
  readonly model: string | undefined
  readonly apiKey: string | undefined
}

/** An empty variable counts as absent. */
const setting = (name: string) =>
  Effect.map(Config.option(Config.String(name)), (found) => Option.getOrUndefined(found) || undefined)

/** Flags count before variables. A key without an address is one of OpenAI. */
export const fromEnvironment = (
  flags: { readonly baseUrl: Option.Option<string>; readonly model: Option.Option<string> }
): Effect.Effect<EndpointSettings, Config.ConfigError> =>
  Effect.gen(function*() {
    const apiKey = yield* setting("OPENAI_API_KEY")
    const baseUrl = Option.getOrUndefined(flags.baseUrl) ?? (yield* setting("OPENAI_BASE_URL")) ??
      (apiKey === undefined ? undefined : "https://api.openai.com/v1")
    const model = Option.getOrUndefined(flags.model) ?? (yield* setting("OPENAI_MODEL"))
    return { apiKey, baseUrl, model }
  })
