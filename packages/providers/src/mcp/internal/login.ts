/** Logs in at a server that wants OAuth, with the provider of `McpOAuth`. */
import type { OAuthClientProvider } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { McpError } from "./error.ts"
import { messageOf } from "./lost.ts"

/** How to log in at a server. @category models @since 0.2.0 */
export interface McpOAuth {
  /** The provider of `@modelcontextprotocol/client` that has the tokens. */
  readonly provider: OAuthClientProvider
  /** Whether the server wants a person to log in. */
  readonly isAsked?: () => boolean
  /** Brings back the last tokens, if a refusal that came late has removed them. */
  readonly recover?: () => Promise<void>
  /**
   * Lets a person log in at the address that the provider was sent to, and returns the address to which the browser was
   * redirected. Absent if no person can log in.
   */
  readonly logIn?: Effect.Effect<URL, string>
}

/** Exchanges the answer of the authorization server for tokens. */
export type FinishLogin = (answer: URLSearchParams) => Promise<void>

export const logInWith = (server: string, oauth: McpOAuth, finish: FinishLogin): Effect.Effect<void, McpError> => {
  const { logIn } = oauth
  const failed = (message: string) => new McpError({ server, message: `cannot log in at "${server}": ${message}` })
  return logIn === undefined
    ? Effect.fail(failed("somebody must log in in a browser, so give `McpOAuth.make` the option `onAuthorize`"))
    : Effect.flatMap(
      Effect.mapError(logIn, failed),
      ({ searchParams }) =>
        Effect.tryPromise({ try: () => finish(searchParams), catch: (error) => failed(messageOf(error)) })
    )
}

/** Compares texts in constant time. */
export const isSameText = (one: string, other: string): boolean => {
  const { createHash, timingSafeEqual } = process.getBuiltinModule("node:crypto")
  const hash = (text: string) => createHash("sha256").update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}

/** Reads the address to which a browser was redirected. */
export const readAddress = (address: unknown): Result.Result<URL, string> =>
  (typeof address === "string" || address instanceof URL) && URL.canParse(String(address))
    ? Result.succeed(new URL(address))
    : Result.fail("`onAuthorize` must return the whole address to which the browser was redirected")
