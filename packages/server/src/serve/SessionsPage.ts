/**
 * A page for people who look after a host: which sessions are stuck, dead, waiting or busy, and why, with what can be
 * done about it. It shows the sessions of all principals, so it needs to know who is an operator.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { checkServe, endpoint } from "./internal/endpoint.ts"
import { body, program, style } from "./internal/page/sessions.ts"
import { pageResponse } from "./internal/page/shell.ts"
import { answerSessions } from "./internal/sessions.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Options of `response`. @category models @since 0.1.0 */
export interface PageOptions {
  /** The path of the handler. Default `/api/sessions`. */
  readonly api?: string
  /** The title. Default `Sessions`. */
  readonly title?: string
}

/** Options of `handler`. @category models @since 0.1.0 */
export interface Options {
  /** Whether a principal may see and change the sessions of everybody. Others get status 403. */
  readonly operator: (principal: string) => boolean | Promise<boolean>
  /** The path at which the handler is. Default `/api/sessions`. */
  readonly api?: string
}

/**
 * Returns the page. It has no secrets, so anybody may load it: a person enters the token, or opens the page with
 * `#token=...` at the end of its address. It is then sent as a bearer token.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = checked(
  "SessionsPage.response",
  ["options"],
  ({ api = "/api/sessions", title = "Sessions" }: PageOptions = {}): Response =>
    pageResponse({ api, title, program, body: body(title), style })
)

const optionKinds: OptionKinds<Options> = { operator: "function", api: "text" }

/**
 * Answers the page. What a person cannot undo (cancel, drop, erase) is done only with `confirmed: true`. Throws a
 * `ConfigError` for wrong options.
 *
 * - `GET`: the sessions with something unfinished, with `?state=dead`, `stuck`, `busy` or `waiting` only those.
 * - `GET /{id}`: the conversation of a session.
 * - `POST /{id}`: `{ act, key, release, confirmed }`, where `act` is `retry`, `drop`, `cancel`, `release`, `move` or
 *   `erase`.
 *
 * @example
 * ```ts
 * import type { Host } from "@belay/server/Host"
 * import * as Serve from "@belay/server/Serve"
 * import * as SessionsPage from "@belay/server/SessionsPage"
 *
 * export const handlerFor = (host: Host, userOf: (request: Request) => string | undefined) => {
 *   const serve = Serve.make({ host, authorize: userOf })
 *   return Serve.route({
 *     "/api/sessions": SessionsPage.handler(serve, { operator: (user) => user === "ops@example.com" }),
 *     "/sessions": async () => SessionsPage.response()
 *   })
 * }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const handler = (serve: Serve, options: Options): Handler => {
  Result.getOrThrow(checkKinds("SessionsPage", options, optionKinds, ["operator"]))
  checkServe("SessionsPage", serve)
  const { api = "/api/sessions", operator } = options
  return endpoint(serve, ({ message }) => ({ error: message }), answerSessions(serve, api, operator))
}
