/**
 * Sends an event to a server by HTTP. The result has the form of a command's result.
 *
 * @since 0.1.0
 */
import type { HttpClient } from "@belay/core/HttpClient"
import { type JsonObject, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { env } from "node:process"
import type { Finished } from "../process/Command.ts"
import { broke, type Ended, maxOutput, said, within } from "./internal/within.ts"

/** The request. @category models @since 0.1.0 */
export interface Request {
  readonly url: string
  /**
   * `$NAME` and `${NAME}` are replaced by variables of the host that `allowedEnvVars` lists. Other variables are empty.
   */
  readonly headers?: { readonly [name: string]: string }
  readonly allowedEnvVars?: ReadonlyArray<string>
  /** The event, which is sent as JSON. */
  readonly body: JsonObject
  /** Timeout for the whole answer, in milliseconds. */
  readonly timeoutMs: number
  /** Allowed URLs, in which `*` matches any characters. Default: all URLs that the client accepts. */
  readonly allowedUrls?: ReadonlyArray<string>
  /**
   * Variables that requests may use if their own `allowedEnvVars` lists them too. Default: all that a request lists.
   */
  readonly hostEnvVars?: ReadonlyArray<string>
}

/**
 * Posts an event. An answer 2xx without a body or with a JSON object becomes exit code 0 with the body as standard
 * output. Every other answer, a redirect or no answer becomes exit code 1 with the reason as standard error, so a
 * status never blocks. It never fails.
 *
 * @example
 * ```ts
 * import * as Http from "@belay/hook-files/Http"
 * import * as HttpGuard from "@belay/hooks/HttpGuard"
 *
 * const audit = Http.run({
 *   url: "https://hooks.example.com/audit",
 *   headers: { authorization: "Bearer $AUDIT_TOKEN" },
 *   allowedEnvVars: ["AUDIT_TOKEN"],
 *   body: { hook_event_name: "PreToolUse", tool_name: "Bash" },
 *   timeoutMs: 30_000
 * }, HttpGuard.client())
 * ```
 * @category running
 * @since 0.1.0
 */
export const run = (request: Request, client: HttpClient): Effect.Effect<Finished> =>
  within(
    request.timeoutMs,
    Effect.suspend(() => {
      const { allowedUrls, body, url } = request
      if (allowedUrls !== undefined && !isAllowed(url, allowedUrls)) {
        return Effect.succeed(broke("its URL is not among the allowed ones"))
      }
      const headers = headersOf(request)
      if (Result.isFailure(headers)) return Effect.succeed(broke(headers.failure))
      return Effect.map(
        client.request({ url, method: "POST", headers: headers.success, body: JSON.stringify(body) }),
        answered
      )
    })
  )

/**
 * Creates the client for the requests of one handler. It reaches public servers by `https`. If the handler is from a
 * file of the user, it also reaches the server on this machine that the URL names (`http://localhost:9000`,
 * `127.0.0.1`, `[::1]`). It ignores proxies of the environment. Throws a `ConfigError` for an invalid option.
 *
 * @category constructors
 * @since 0.1.0
 */
export const clientFor = (url: string, trusted: "user" | "project", options: HttpGuard.Options = {}): HttpClient => {
  const { policy = {} } = options
  const server = trusted === "user" ? serverOf(url) : undefined
  const loopback = [...policy.loopback ?? [], ...(server === undefined ? [] : [server])]
  return HttpGuard.client({
    timeoutMs: longest,
    maxBodyBytes: 4 * maxOutput,
    trustProxy: true,
    ...options,
    policy: { ...policy, loopback }
  })
}

/**
 * The variable that tells programs to use a proxy, if it is set. Guards ignore it, because they cannot check where a
 * proxy connects to.
 *
 * @category checking
 * @since 0.1.0
 */
export const proxyOf = (variables: { readonly [name: string]: string | undefined } = env): string | undefined =>
  ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].find((name) =>
    (variables[name] ?? "") !== ""
  )

/** Each request sets its own timeout. */
const longest = 2_147_483_647

/** The server on this machine that a URL names, in the form of a policy. */
const serverOf = (url: string): string | undefined => {
  const [, scheme = "", host = "", port] =
    /^(https?):\/\/(localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?(?:[/?#]|$)/i.exec(url) ?? []
  if (host === "" || Number(port ?? 1) > 65_535) return undefined
  return `${host.toLowerCase()}:${port ?? (scheme.toLowerCase() === "https" ? 443 : 80)}`
}

/** Compares the parsed URL, not its text, because parsing removes parts such as `..` from the path. */
const isAllowed = (url: string, patterns: ReadonlyArray<string>): boolean => {
  const parsed = Result.try(() => new URL(url))
  if (Result.isFailure(parsed)) return false
  const { hash, href, origin, search } = parsed.success
  const bare = href.slice(0, href.length - hash.length)
  const fits = matcher(patterns)
  return fits(bare) || (bare === `${origin}/${search}` && fits(`${origin}${search}`))
}

const headersOf = ({ allowedEnvVars = [], headers = {}, hostEnvVars = allowedEnvVars }: Request) => {
  const made = new Map([["content-type", "application/json"]])
  const valueOf = (name: string) => allowedEnvVars.includes(name) && hostEnvVars.includes(name) ? env[name] ?? "" : ""
  for (const [name, text] of Object.entries(headers)) {
    const value = text.replaceAll(
      /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g,
      (_all, braced?: string, bare?: string) => valueOf(braced ?? bare ?? "")
    )
    if (/[\r\n\0]/.test(name + value)) {
      return Result.fail(`the header ${JSON.stringify(name).slice(0, 80)} has a line break`)
    }
    made.set(name.toLowerCase(), value.trim())
  }
  return Result.succeed(Object.fromEntries(made))
}

const answered = ({ body, status }: { readonly body: string; readonly status: number }): Ended => {
  if (status < 200 || status > 299) return broke(`the server answered with status ${status}`)
  const text = body.trim()
  if (text === "" || text.length > maxOutput) return said(text)
  const json = text.startsWith("{") ? Result.getOrUndefined(Result.try((): unknown => JSON.parse(text))) : undefined
  return json === undefined || whyNot(json) !== undefined
    ? broke("the server answered with something that is no JSON object")
    : said(text)
}
