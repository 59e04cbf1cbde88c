/**
 * Sends HTTP requests only to allowed servers, so that a model that is tricked into requesting a URL cannot reach the
 * internal network.
 *
 * @since 0.1.0
 */
import * as Deadline from "@belay/core/Deadline"
import type { HttpResponse } from "@belay/core/Http"
import type { HttpClient } from "@belay/core/HttpClient"
import { checkKinds, checkOptions, invalidOption, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Connection from "./internal/connection.ts"
import { HttpFailed, HttpRefused } from "./internal/errors.ts"
import { type Answer, exchange } from "./internal/exchange.ts"
import { usesEnvProxy } from "./internal/nodeProxy.ts"
import * as Redirect from "./internal/redirect.ts"
import { type CheckedRequest, checkRequest, type RequestInit } from "./internal/requestInit.ts"
import { compilePolicy, parseTarget, type Policy, type Target } from "./internal/target.ts"

export { HttpFailed, HttpRefused } from "./internal/errors.ts"

export type { Peer, Resolved } from "./internal/connection.ts"
export type { RequestInit as Init } from "./internal/requestInit.ts"
export type { Policy, Target } from "./internal/target.ts"

/** Options of `HttpGuard.make`. @category models @since 0.1.0 */
export interface Options {
  /** Which servers may be reached. Default: every public host, with `https`. */
  readonly policy?: Policy
  /**
   * Returns the addresses of a name, as a promise or an Effect. It is called once for a request and once for every
   * redirect. Default: the resolver of the platform.
   */
  readonly resolve?: Connection.Resolve
  /** Opens a connection to a checked address, as a promise or an Effect of an open stream. Default: TCP. */
  readonly connect?: Connection.Connect
  /** The most redirects to follow, from 0 to 3. Each is checked like a new URL. Default 0: redirects are refused. */
  readonly maxRedirects?: number
  /** The most milliseconds until the answer is complete, with redirects. Default 10,000. */
  readonly timeoutMs?: number
  /** The most bytes of a decoded body. Default 1,048,576. */
  readonly maxBodyBytes?: number
  /** The most bytes of all headers of an answer. Default 65,536. */
  readonly maxHeaderBytes?: number
  /**
   * Whether `make` ignores that Node is configured to use a proxy. With `false` it throws then. The guard always
   * connects directly, because it cannot check which address a proxy connects to. To use a proxy, pass `connect`.
   * Default false.
   */
  readonly trustProxy?: boolean
}

/** A client for checked requests. @category models @since 0.1.0 */
export interface HttpGuard {
  /**
   * Sends a request and reads the whole answer. An answer with any status is a success. In async hooks: `await
   * ctx.promise(guard.request(url))`.
   */
  readonly request: (url: string, init?: RequestInit) => Effect.Effect<HttpResponse, HttpRefused | HttpFailed>
}

/**
 * Returns whether a URL may be requested. Names are not resolved, and a URL that cannot be read reliably is refused.
 * Throws a `ConfigError` for an invalid policy.
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
  parseTarget(url, Result.getOrThrow(compilePolicy(policy)))

const optionKinds: OptionKinds<Options> = {
  policy: "any",
  resolve: "function",
  connect: "function",
  maxRedirects: "number",
  timeoutMs: "number",
  maxBodyBytes: "number",
  maxHeaderBytes: "number",
  trustProxy: "flag"
}

/**
 * Makes a guard. A name is resolved once, all of its addresses must be public, and only these are connected to. No
 * connection is kept open, and no proxy is used. All failures are the same error. Throws a `ConfigError` for an invalid
 * option, and when Node is configured to use a proxy.
 *
 * @example
 * ```ts
 * import * as HttpGuard from "@belay/hooks/HttpGuard"
 *
 * const guard = HttpGuard.make({
 *   policy: { hosts: ["api.example.com", "*.docs.example.com"], loopback: ["127.0.0.1:8080"] },
 *   timeoutMs: 5_000
 * })
 * const page = guard.request("https://api.example.com/tickets", {
 *   method: "POST",
 *   body: "{}",
 *   headers: { "content-type": "application/json" }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): HttpGuard => {
  Result.getOrThrow(checkKinds("http-guard", options, optionKinds))
  const { bounds, connect, maxRedirects, resolve, rules, timeoutMs } = Result.getOrThrow(compileOptions(options))
  const sendOnce = (
    target: Target,
    request: CheckedRequest,
    deadline: number,
    connections: Connection.Connections
  ): Effect.Effect<Answer, HttpRefused | HttpFailed> =>
    Effect.gen(function*() {
      const addresses = yield* Connection.addressesOf(target, resolve)
      const socket = yield* Connection.openConnection(target, addresses, deadline, connect, connections)
      return yield* exchange(socket, target, request, bounds)
    }).pipe(hideCause(target))
  const send = Effect.fnUntraced(function*(
    first: Target,
    init: CheckedRequest,
    deadline: number,
    connections: Connection.Connections
  ) {
    let [target, request] = [first, init]
    for (let followed = 0;; followed++) {
      const answer = yield* sendOnce(target, request, deadline, connections)
      if (!Redirect.isRedirect(answer)) {
        const { body, headers, status } = answer
        return { status, headers, body, url: `${target.origin}${target.path}` }
      }
      const next = yield* Effect.fromResult(
        followed < maxRedirects
          ? Redirect.followRedirect(answer, target, request, rules)
          : Redirect.refuseRedirect(
            target,
            maxRedirects === 0 ? "redirects are not allowed" : `there are more than ${maxRedirects} redirects`
          )
      )
      target = next.target
      request = next.request
    }
  })
  return {
    request: (url, init = {}) =>
      Effect.gen(function*() {
        const target = yield* Effect.fromResult(parseTarget(url, rules))
        const request = yield* Effect.fromResult(checkRequest(init))
        const deadline = (yield* Deadline.now) + timeoutMs
        const connections = Connection.makeConnections()
        const fail = () => Effect.fail(failure(target))
        const answer = Deadline.until(send(target, request, deadline, connections), () => deadline, fail)
        return yield* Effect.onExit(
          init.signal === undefined ? answer : Effect.raceFirst(answer, whenAborted(init.signal, fail)),
          () => Effect.sync(connections.close)
        )
      })
  }
}

/**
 * Makes a guard for `AgentConfig.http`, so that hooks use it with `ctx.http`. Throws the same errors as `make`.
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
 *     await ctx.http({ url: "https://hooks.example.com/done", method: "POST", body: output.text })
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

/** Replaces every failure and defect by the same error. A refusal stays as it is. */
const hideCause =
  (target: Target) => <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, HttpRefused | HttpFailed> =>
    Effect.matchCauseEffect(effect, {
      onSuccess: Effect.succeed,
      onFailure: (cause) => {
        const refused = cause.reasons.find((reason) => reason._tag === "Fail" && reason.error instanceof HttpRefused)
        return Effect.fail(refused?._tag === "Fail" ? refused.error as HttpRefused : failure(target))
      }
    })

const whenAborted = <E>(signal: AbortSignal, fail: () => Effect.Effect<never, E>): Effect.Effect<never, E> =>
  Effect.callback((resume) => {
    const onAbort = () => resume(fail())
    if (signal.aborted) return onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", onAbort))
  })

const compileOptions = (options: Options) => {
  const {
    maxBodyBytes = 1_048_576,
    maxHeaderBytes = 65_536,
    maxRedirects = 0,
    timeoutMs = 10_000,
    trustProxy = false
  } = options
  return Result.gen(function*() {
    const rules = yield* compilePolicy(options.policy ?? {})
    yield* checkOptions(
      "http-guard",
      whole("maxRedirects", maxRedirects, 0, 3),
      whole("timeoutMs", timeoutMs, 1, 2_147_483_647),
      whole("maxBodyBytes", maxBodyBytes, 0, 1_073_741_824),
      whole("maxHeaderBytes", maxHeaderBytes, 1, 1_048_576)
    )
    if (usesEnvProxy() && !trustProxy) {
      const problem = "Node is configured to use the proxies of the environment, but the guard connects directly"
      return yield* invalidOption("http-guard.trustProxy", `${problem}; set it to true to start anyway`)
    }
    return {
      rules,
      maxRedirects,
      timeoutMs,
      bounds: { maxBodyBytes, maxHeaderBytes },
      resolve: options.resolve ?? Connection.platformResolver,
      connect: options.connect ?? Connection.connectByTcp
    }
  })
}
