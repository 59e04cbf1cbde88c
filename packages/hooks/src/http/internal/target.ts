/** Reads a URL once, and says whether it may be requested. Nothing is resolved. */
import { ConfigError } from "@belay/core/AgentError"
import * as Result from "effect/Result"
import { domainToUnicode } from "node:url"
import * as Address from "../Address.ts"
import { HttpRefused } from "./errors.ts"
import { dangerous } from "./ports.ts"

/** What may be reached, as the host's own configuration says it. */
export interface Policy {
  /** Plain `http` too. Default false: `https` alone, but for the loopback servers named below. */
  readonly allowHttp?: boolean
  /**
   * The only hosts that may be reached: `example.com`, or `*.example.com` for the names below it. Default: every public
   * one.
   */
  readonly hosts?: ReadonlyArray<string>
  /** The only ports that may be reached. Default: all but those of well-known services that do not speak HTTP. */
  readonly ports?: ReadonlyArray<number>
  /**
   * Servers on this machine that may be reached, beside the lists above: `localhost:3000`, `127.0.0.1:3000` or
   * `[::1]:3000`, written so in the URL too.
   */
  readonly loopback?: ReadonlyArray<string>
}

/** A URL that may be requested, in parts. */
export interface Target {
  /** Scheme, host and port; the port only where it is not the scheme's. */
  readonly origin: string
  readonly scheme: "http" | "https"
  /** Lower case, ASCII, without brackets and trailing dot. */
  readonly host: string
  readonly port: number
  /** Path and query. */
  readonly path: string
  /** A `name` has to be resolved; an `address` is public; a `loopback` is named by the policy. */
  readonly kind: "name" | "address" | "loopback"
}

/** A policy whose lists are read. */
export interface Rules {
  readonly allowHttp: boolean
  readonly hosts: ReadonlyArray<{ readonly name: string; readonly below: boolean }> | undefined
  readonly ports: ReadonlySet<number> | undefined
  readonly loopback: ReadonlySet<string>
}

export const read = (raw: string, { allowHttp, hosts, loopback, ports }: Rules): Result.Result<Target, HttpRefused> => {
  if (typeof raw !== "string" || raw.length > longest) {
    return refuse("url", "a URL", `it is no text of at most ${longest} characters`)
  }
  // Parsers disagree about whatever is taken out of a URL unseen, or stands for a slash.
  if (/[\s\\\p{C}\p{Z}]/u.test(raw)) return refuse("url", "a URL", "it has a space, a control character or a backslash")
  const [, written = "http", authority = ""] = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]+))?/i.exec(raw) ?? []
  const parsed = Result.try(() => new URL(raw))
  if (!/^https?$/i.test(written)) return refuse("scheme", "a URL", `the scheme ${written.slice(0, 20)} is not allowed`)
  if (authority === "" || Result.isFailure(parsed)) {
    return refuse("url", "a URL", "it is no URL such as https://example.com/path")
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
  // As it is written, not as it is read: a policy that names 127.0.0.1 does not name 2130706433.
  if (loopback.has(`${authority.toLowerCase().replace(/:\d*$/, "")}:${port}`)) return target("loopback")
  const kind = Address.classify(host)
  if (kind !== "public" && kind !== "name") return refuse("address", origin, `it is a ${kind} address`)
  if (kind === "name" && !isName(host)) return refuse("host", origin, "its host is no domain name")
  if (scheme === "http" && !allowHttp) return refuse("scheme", origin, "the scheme http is not allowed")
  if (port === 0 || dangerous.has(port) || ports?.has(port) === false) {
    return refuse("port", origin, `the port ${port} is not allowed`)
  }
  if (hosts?.some(({ below, name }) => below ? host.endsWith(`.${name}`) : host === name) === false) {
    return refuse("host", origin, "the host is not allowed")
  }
  return target(kind === "public" ? "address" : "name")
}

const longest = 8_192

const refuse = (reason: HttpRefused["reason"], what: string, why: string) =>
  Result.fail(new HttpRefused({ reason, message: `${what} may not be requested: ${why}` }))

/** Punycode that stands for nothing stays what it is: no name. */
const isName = (host: string): boolean =>
  host.split(".").every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label)) &&
  (!host.includes("xn--") || !/(?:^|\.)xn--/.test(domainToUnicode(host)))

/** Reads the lists of a policy. */
export const rulesOf = (policy: Policy): Result.Result<Rules, ConfigError> => {
  const { allowHttp = false, hosts, loopback = [], ports } = policy
  const wrong = (key: keyof Policy, found: unknown, expected: string) =>
    Result.fail(
      new ConfigError({
        key: `http-guard.policy.${key}`,
        message: `http-guard.policy.${key}: ${JSON.stringify(found)} is wrong: expected ${expected}`
      })
    )
  const names = hosts?.map((text) => ({
    name: Address.normalize(text.replace(/^\*\./, "")),
    below: text.startsWith("*."),
    text
  }))
  const badName = names?.find(({ below, name }) => !isHost(name, below))
  if (badName !== undefined) return wrong("hosts", badName.text, "a public host such as example.com, or *.example.com")
  const badPort = ports?.find((port) => !Number.isInteger(port) || port < 1 || port > 65_535 || dangerous.has(port))
  if (badPort !== undefined) {
    return wrong("ports", badPort, "a port from 1 to 65535 that is not the port of another well-known service")
  }
  const badServer = loopback.find((text) => !isServer(text))
  if (badServer !== undefined) return wrong("loopback", badServer, "localhost:PORT, 127.0.0.1:PORT or [::1]:PORT")
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

const isServer = (text: string): boolean => {
  const port = Number(/^(?:localhost|127\.0\.0\.1|\[::1\]):([1-9]\d{0,4})$/.exec(text)?.[1] ?? 0)
  return port > 0 && port <= 65_535
}
