/** Parses a URL once, and decides whether it may be requested. Names are not resolved. */
import type { ConfigError } from "@belay/core/AgentError"
import { checkOptions } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { domainToUnicode } from "node:url"
import * as Address from "../Address.ts"
import { blockedPorts } from "./blockedPorts.ts"
import { HttpRefused } from "./errors.ts"

/** Which servers may be reached. @category models @since 0.1.0 */
export interface Policy {
  /** Whether `http` is allowed. Default false: only `https`, except for the servers of `loopback`. */
  readonly allowHttp?: boolean
  /**
   * The hosts that may be reached: `example.com`, or `*.example.com` for the names below it. Default: every public
   * host.
   */
  readonly hosts?: ReadonlyArray<string>
  /** The ports that may be reached. Default: all but those of well-known services that do not speak HTTP. */
  readonly ports?: ReadonlyArray<number>
  /**
   * Servers on this machine that may be reached, in addition to the lists above: `localhost:3000`, `127.0.0.1:3000` or
   * `[::1]:3000`. The URL must use the same spelling. Default none.
   */
  readonly loopback?: ReadonlyArray<string>
}

/** The parts of a URL that may be requested. @category models @since 0.1.0 */
export interface Target {
  /** The scheme, the host, and the port if it is not the default port of the scheme. */
  readonly origin: string
  readonly scheme: "http" | "https"
  /** In lower case and ASCII, without brackets and a trailing dot. */
  readonly host: string
  readonly port: number
  /** The path with the query. */
  readonly path: string
  /** `name`: it has to be resolved. `address`: it is public. `loopback`: the policy lists it. */
  readonly kind: "name" | "address" | "loopback"
}

/** A compiled policy. */
export interface Rules {
  readonly allowHttp: boolean
  readonly hosts: ReadonlyArray<{ readonly name: string; readonly below: boolean }> | undefined
  readonly ports: ReadonlySet<number> | undefined
  readonly loopback: ReadonlySet<string>
}

/** Parses a URL. Fails with an `HttpRefused` error when it may not be requested. */
export const parseTarget = (
  raw: string,
  { allowHttp, hosts, loopback, ports }: Rules
): Result.Result<Target, HttpRefused> => {
  if (typeof raw !== "string" || raw.length > maxLength) {
    return refuse("url", "a URL", `it is not a text of at most ${maxLength} characters`)
  }
  // URL parsers differ about invisible characters and backslashes.
  if (/[\s\\\p{C}\p{Z}]/u.test(raw)) return refuse("url", "a URL", "it has a space, a control character or a backslash")
  const [, written = "http", authority = ""] = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]+))?/i.exec(raw) ?? []
  const parsed = Result.try(() => new URL(raw))
  if (!/^https?$/i.test(written)) return refuse("scheme", "a URL", `the scheme ${written.slice(0, 20)} is not allowed`)
  if (authority === "" || Result.isFailure(parsed)) {
    return refuse("url", "a URL", "it is not a URL such as https://example.com/path")
  }
  const url = parsed.success
  if (authority.includes("@") || url.username !== "" || url.password !== "") {
    return refuse("userinfo", "a URL", "it has a user name in front of its host")
  }
  if (authority.includes("%")) return refuse("host", "a URL", "its host is percent-encoded")
  const host = Address.normalize(url.hostname)
  if (host === undefined) return refuse("host", "a URL", "its host cannot be read")
  const scheme = url.protocol === "http:" ? "http" : "https"
  const port = url.port === "" ? (scheme === "http" ? 80 : 443) : Number(url.port)
  const origin = `${scheme}://${host.includes(":") ? `[${host}]` : host}${url.port === "" ? "" : `:${url.port}`}`
  const target = (kind: Target["kind"]) =>
    Result.succeed<Target>({ origin, scheme, host, port, path: `${url.pathname}${url.search}`, kind })
  // The written form is compared, so that 127.0.0.1 in the policy does not allow 2130706433.
  if (loopback.has(`${authority.toLowerCase().replace(/:\d*$/, "")}:${port}`)) return target("loopback")
  const kind = Address.classify(host)
  if (kind !== "public" && kind !== "name") return refuse("address", origin, `it is a ${kind} address`)
  if (kind === "name" && !isName(host)) return refuse("host", origin, "its host is not a domain name")
  if (scheme === "http" && !allowHttp) return refuse("scheme", origin, "the scheme http is not allowed")
  if (port === 0 || blockedPorts.has(port) || ports?.has(port) === false) {
    return refuse("port", origin, `the port ${port} is not allowed`)
  }
  if (hosts?.some(({ below, name }) => below ? host.endsWith(`.${name}`) : host === name) === false) {
    return refuse("host", origin, "the host is not allowed")
  }
  return target(kind === "public" ? "address" : "name")
}

const maxLength = 8_192

const refuse = (reason: HttpRefused["reason"], what: string, why: string) =>
  Result.fail(new HttpRefused({ reason, message: `${what} may not be requested: ${why}` }))

/** Punycode that cannot be decoded is not a name. */
const isName = (host: string): boolean =>
  host.split(".").every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label)) &&
  (!host.includes("xn--") || !/(?:^|\.)xn--/.test(domainToUnicode(host)))

/** Compiles a policy. Fails with a `ConfigError`. */
export const compilePolicy = (policy: Policy): Result.Result<Rules, ConfigError> => {
  const { allowHttp = false, hosts, loopback = [], ports } = policy ?? {}
  const names = hosts?.map((text) => ({
    name: Address.normalize(text.replace(/^\*\./, "")),
    below: text.startsWith("*."),
    text
  }))
  const publicHost = "a public host such as example.com, or *.example.com"
  const httpPort = "a port from 1 to 65535 that is not the port of another well-known service"
  const server = "localhost:PORT, 127.0.0.1:PORT or [::1]:PORT"
  const checked = checkOptions(
    "http-guard.policy",
    ...(names ?? []).map(({ below, name, text }) => ["hosts", text, () => isHost(name, below), publicHost] as const),
    ...(ports ?? []).map((port) => ["ports", port, isHttpPort, httpPort] as const),
    ...loopback.map((text) => ["loopback", text, isServer, server] as const)
  )
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  return Result.succeed({
    allowHttp,
    hosts: names?.map(({ below, name = "" }) => ({ below, name })),
    ports: ports === undefined ? undefined : new Set(ports),
    loopback: new Set(loopback)
  })
}

const isHost = (name: string | undefined, below: boolean): boolean => {
  if (name === undefined) return false
  const kind = Address.classify(name)
  return kind === "name" ? isName(name) : kind === "public" && !below
}

const isHttpPort = (port: number): boolean =>
  Number.isInteger(port) && port >= 1 && port <= 65_535 && !blockedPorts.has(port)

const isServer = (text: string): boolean => {
  const port = Number(/^(?:localhost|127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})$/.exec(text)?.[1] ?? 0)
  return port > 0 && port <= 65_535
}
