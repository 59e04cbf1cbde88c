/**
 * Sends HTTP requests to servers that may be reached, and to no others: an agent that can be talked into a URL is not
 * talked into the network around it.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import { until } from "@belay/core/Deadline"
import type { HttpResponse } from "@belay/core/Http"
import type { HttpClient } from "@belay/core/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Asked from "./internal/asked.ts"
import * as Dial from "./internal/dial.ts"
import { HttpFailed, HttpRefused } from "./internal/errors.ts"
import { type Answer, exchange } from "./internal/exchange.ts"
import * as Proxy from "./internal/proxy.ts"
import * as Redirect from "./internal/redirect.ts"
import * as Read from "./internal/target.ts"

export { HttpFailed, HttpRefused } from "./internal/errors.ts"

/** What may be reached, as the host's own configuration says it. @category models @since 0.1.0 */
export type Policy = Read.Policy

/** A URL that may be requested, in parts. @category models @since 0.1.0 */
export type Target = Read.Target

/** How to ask: method, headers, body, and a signal that ends it. @category models @since 0.1.0 */
export type Init = Asked.Init

/** One answer of a resolver: an address and its family. @category models @since 0.1.0 */
export type Resolved = Dial.Resolved

/** Where a connection goes: an address, never a name. @category models @since 0.1.0 */
export type Peer = Dial.Peer

/** @category models @since 0.1.0 */
export interface Options {
  /** Default: every public host, by `https`. */
  readonly policy?: Policy
  /**
   * Finds the addresses of a name, as a promise or an Effect. Called once for a request, and once for every redirect.
   * Default: the platform's resolver.
   */
  readonly resolve?: Dial.Resolve
  /** Opens a connection to an address that was checked, as a promise or an Effect of an open stream. Default: TCP. */
  readonly connect?: Dial.Connect
  /** Redirects to follow, at most 3. Each is checked like a new URL. Default 0: a redirect is refused. */
  readonly maxRedirects?: number
  /** Milliseconds from the call to the last byte of the answer, redirects included. Default 10,000. */
  readonly timeoutMs?: number
  /** Bytes of an answer's body after decoding. Default 1,048,576. */
  readonly maxBodyBytes?: number
  /** Bytes of an answer's headers. Default 65,536. */
  readonly maxHeaderBytes?: number
  /**
   * Start although Node is told to use the proxies of the environment. The guard connects directly all the same: it
   * cannot check what a proxy
   * connects to. Go through one with a `connect` of your own. Default false.
   */
  readonly trustProxy?: boolean
}

/** @category models @since 0.1.0 */
export interface HttpGuard {
  /**
   * Sends a request and reads the whole answer; every status is an answer. In async hooks: `await
   * ctx.promise(guard.request(url))`.
   */
  readonly request: (url: string, init?: Init) => Effect.Effect<HttpResponse, HttpRefused | HttpFailed>
}

/**
 * Says whether a URL may be requested. It is parsed once, nothing is resolved, and what is not understood is refused.
 * Throws a `ConfigError` for a bad policy.
 *
 * @example
 * ```ts
 * import * as HttpGuard from "@belay/hooks/HttpGuard"
 *
 * HttpGuard.check("https://example.com/a") // a success with the target
 * HttpGuard.check("https://0x7f.1/") // a failure: it is a loopback address
 * HttpGuard.check("http://localhost:3000/", { loopback: ["localhost:3000"] }) // a success
 * ```
 * @category checking
 * @since 0.1.0
 */
export const check = (url: string, policy: Policy = {}): Result.Result<Target, HttpRefused> =>
  Read.read(url, Result.getOrThrow(Read.rulesOf(policy)))

/**
 * Makes a guard. A name is resolved once, all of its addresses must be public, and only these are connected to; nothing
 * is kept open, no proxy is used.
 * What goes wrong on the way is one error of one shape. Throws a `ConfigError` for a bad option, and where Node is told
 * to use a proxy.
 *
 * @example
 * ```ts
 * import * as HttpGuard from "@belay/hooks/HttpGuard"
 *
 * const guard = HttpGuard.make({ policy: { hosts: ["api.example.com", "*.docs.example.com"], loopback: ["127.0.0.1:8080"] }, timeoutMs: 5_000 })
 * const page = guard.request("https://api.example.com/tickets", { method: "POST", body: "{}", headers: { "content-type": "application/json" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): HttpGuard => {
  const { bounds, connect, maxRedirects, resolve, rules, timeoutMs } = Result.getOrThrow(settingsOf(options))
  const hop = (
    target: Target,
    asked: Asked.Asked,
    due: number,
    opened: Dial.Open
  ): Effect.Effect<Answer, HttpRefused | HttpFailed> =>
    Effect.gen(function*() {
      const addresses = yield* Dial.addressesOf(target, resolve)
      const socket = yield* Dial.dial(target, addresses, due, connect, opened)
      return yield* exchange(socket, target, asked, bounds)
    }).pipe(same(target))
  const all = Effect.fnUntraced(function*(first: Target, init: Asked.Asked, due: number, opened: Dial.Open) {
    let [target, asked] = [first, init]
    for (let followed = 0;; followed++) {
      const answer = yield* hop(target, asked, due, opened)
      if (!Redirect.isRedirect(answer)) {
        const { body, headers, status } = answer
        return { status, headers, body, url: `${target.origin}${target.path}` }
      }
      const next = yield* Effect.fromResult(
        followed < maxRedirects
          ? Redirect.follow(answer, target, asked, rules)
          : Redirect.refuse(target, maxRedirects === 0 ? "no redirect is" : `more than ${maxRedirects} are too many`)
      )
      target = next.target
      asked = next.asked
    }
  })
  return {
    request: (url, init = {}) =>
      Effect.gen(function*() {
        const target = yield* Effect.fromResult(Read.read(url, rules))
        const asked = yield* Effect.fromResult(Asked.read(init))
        const due = (yield* Clock.currentTimeMillis) + timeoutMs
        const opened = Dial.open()
        const failed = () => Effect.fail(failure(target))
        const answered = until(all(target, asked, due, opened), () => due, failed)
        return yield* Effect.onExit(
          init.signal === undefined ? answered : Effect.raceFirst(answered, aborted(init.signal, failed)),
          () => Effect.sync(opened.close)
        )
      })
  }
}

/**
 * Makes the client that hooks reach with `ctx.http`: a guard as `AgentConfig.http` wants it. Throws what `make` throws.
 *
 * @example
 * ```ts
 * import { createAgent, defineHook } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import * as HttpGuard from "@belay/hooks/HttpGuard"
 *
 * const report = defineHook({
 *   name: "report",
 *   postTurn: async ({ output }, ctx) => {
 *     await ctx.promise(ctx.http({ url: "https://hooks.example.com/done", method: "POST", body: output.text }))
 *   }
 * })
 * const agent = (provider: LlmProvider) =>
 *   createAgent({ provider, hooks: [report], http: HttpGuard.client({ policy: { hosts: ["hooks.example.com"] } }) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const client = (options: Options = {}): HttpClient => {
  const guard = make(options)
  return { request: ({ url, ...init }) => guard.request(url, init) }
}

const failure = ({ origin }: Target) => new HttpFailed({ origin, message: `the request to ${origin} failed` })

/** Whatever went wrong, defects of a resolver or connector too, is the same error; a refusal stays one. */
const same = (target: Target) => <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, HttpRefused | HttpFailed> =>
  Effect.matchCauseEffect(effect, {
    onSuccess: Effect.succeed,
    onFailure: (cause) => {
      const refused = cause.reasons.find((reason) => reason._tag === "Fail" && reason.error instanceof HttpRefused)
      return Effect.fail(refused?._tag === "Fail" ? refused.error as HttpRefused : failure(target))
    }
  })

const aborted = <E>(signal: AbortSignal, failed: () => Effect.Effect<never, E>): Effect.Effect<never, E> =>
  Effect.callback((resume) => {
    const onAbort = () => resume(failed())
    if (signal.aborted) return onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", onAbort))
  })

const settingsOf = (options: Options) => {
  const {
    maxBodyBytes = 1_048_576,
    maxHeaderBytes = 65_536,
    maxRedirects = 0,
    timeoutMs = 10_000,
    trustProxy = false
  } = options
  const wrong = (key: keyof Options, message: string) =>
    Result.fail(new ConfigError({ key: `http-guard.${key}`, message: `http-guard.${key}: ${message}` }))
  const count = (
    key: "maxBodyBytes" | "maxHeaderBytes" | "timeoutMs" | "maxRedirects",
    found: number,
    least: number,
    most: number
  ) =>
    Number.isInteger(found) && found >= least && found <= most
      ? Result.succeed(found)
      : wrong(key, `expected a whole number from ${least} to ${most}, found ${String(found)}`)
  return Result.gen(function*() {
    const rules = yield* Read.rulesOf(options.policy ?? {})
    yield* count("maxRedirects", maxRedirects, 0, 3)
    yield* count("timeoutMs", timeoutMs, 1, 2_147_483_647)
    yield* count("maxBodyBytes", maxBodyBytes, 0, 1_073_741_824)
    yield* count("maxHeaderBytes", maxHeaderBytes, 1, 1_048_576)
    if (Proxy.isAsked() && !trustProxy) {
      return yield* wrong(
        "trustProxy",
        "Node is told to use the proxies of the environment, which the guard does not use: say true to start all the same"
      )
    }
    return {
      rules,
      maxRedirects,
      timeoutMs,
      bounds: { maxBodyBytes, maxHeaderBytes },
      resolve: options.resolve ?? Dial.platform,
      connect: options.connect ?? Dial.tcp
    }
  })
}
