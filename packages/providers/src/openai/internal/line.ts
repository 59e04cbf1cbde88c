/** A path of an endpoint that can be called: its address, its headers and the key. */
import { Auth, type ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Client from "./request/client.ts"
import * as Errors from "./response/errors.ts"
import type { Transport } from "./transport/transport.ts"

/** How a vendor is reached. */
export interface Access {
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | (() => PromiseLike<string>) | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly transport: (url: string) => Transport
}

/** Everything about a call that does not depend on its request. */
export interface Line {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: ReadonlyArray<string>
  readonly transport: Transport
}

/** Opens lines to one path. */
export interface Lines {
  /** Runs a call. After a refused key, a function that returns keys is asked once for another one. */
  readonly use: <A>(
    source: Errors.Source,
    call: (line: Line) => Effect.Effect<A, ProviderError>
  ) => Effect.Effect<A, ProviderError>
}

const secretHeaders = ["authorization", "api-key", "x-api-key"]

/** Returns the values of headers that must never appear in an error. */
export const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  secretHeaders.flatMap((header) => headers[header]?.replace(/^Bearer /, "") ?? [])

/** Creates the lines to a path. */
export const make = (access: Access, path: string): Lines => {
  const { apiKey } = access
  let opened: Omit<Line, "secrets"> | undefined
  let fixed: Line | undefined

  const open = Effect.fnUntraced(function*(source: Errors.Source) {
    const problem = Client.whyNotAddress(access.baseUrl)
    if (problem !== undefined) return yield* Errors.unsendable(source, problem, "baseUrl")
    opened ??= yield* Effect.try({
      try: () => {
        const { headers, url } = Client.readyFor(access, path)
        return { headers, transport: access.transport(url) }
      },
      catch: (error) => Errors.unsendable(source, messageOf(error))
    })
    return opened
  })
  /** Fetches the key and prepares the headers. A fixed key is used again. */
  const connect = Effect.fnUntraced(function*(source: Errors.Source) {
    const { headers, transport } = yield* open(source)
    const key = typeof apiKey !== "function" ? apiKey : yield* Effect.tryPromise({
      try: async () => apiKey(),
      catch: (error) => keyError(source, `the function \`apiKey\` failed: ${messageOf(error)}`)
    })
    if (key === "") return yield* keyError(source, "the API key is empty")
    if (typeof apiKey === "function" && typeof key !== "string") {
      return yield* keyError(source, "the function `apiKey` returned no text")
    }
    const all = yield* Effect.try({
      try: () => Client.withKey(headers, key),
      catch: () => keyError(source, "the API key has characters that are not allowed in a header")
    })
    const line: Line = { headers: all, secrets: secretsIn(all), transport }
    if (typeof apiKey !== "function") fixed = line
    return line
  })
  return {
    use: (source, call) => {
      if (fixed !== undefined) return call(fixed)
      return Effect.flatMap(
        connect(source),
        (line) =>
          typeof apiKey !== "function" ? call(line) : Effect.catch(call(line), (error) => {
            if (error._tag !== "Auth") return Effect.fail(error)
            // The key can have expired since it was fetched. Another one is worth one more attempt.
            return Effect.flatMap(
              connect(source),
              (fresh) => fresh.headers.authorization === line.headers.authorization ? Effect.fail(error) : call(fresh)
            )
          })
      )
    }
  }
}

const keyError = ({ model, provider }: Errors.Source, message: string): Auth =>
  new Auth({
    provider,
    message: Errors.redactKeys(`${provider}: ${message}`),
    ...(model === undefined ? {} : { model })
  })

/** The text of something that was thrown. */
export const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
