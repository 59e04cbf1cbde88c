/**
 * Keeps tools from reaching hosts they should not: schemes, hosts and addresses in the arguments of tool calls.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Address from "../http/Address.ts"
import { type Target, targetsOf } from "./internal/targets.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Schemes that a URL may have. Default `http` and `https`. */
  readonly schemes?: ReadonlyArray<string>
  /**
   * Hosts that may be reached: `example.com`, `*.example.com` (names below it), `example.com:8443`, or `*` for every
   * public one. An address or name that
   * is not public may be reached only where it is written here in full, best with its port: `localhost:3000`. Default
   * `*`.
   */
  readonly allow?: ReadonlyArray<string>
  /** Hosts that may not be reached, written like those of `allow`. They go before it. */
  readonly deny?: ReadonlyArray<string>
}

/**
 * Rejects a tool call whose arguments name a host that may not be reached: in URLs anywhere in a text, in arguments
 * that are a host, and in commands
 * that use the network. Loopback, private, link-local, metadata and reserved addresses are refused in every spelling,
 * and so is what cannot
 * be read. Names are not resolved here, and a command can build a URL where nobody sees it: a tool that fetches needs a
 * guard of its own.
 * Throws a `ConfigError` for a bad host.
 *
 * @example
 * ```ts
 * import * as EgressGuard from "@belay/hooks/EgressGuard"
 *
 * const guard = EgressGuard.make({ allow: ["api.example.com", "*.docs.example.com", "localhost:3000"], deny: ["old.docs.example.com"] })
 * const onlyPublic = EgressGuard.make({ tools: ["fetch", "shell"] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "egress-guard"
  const { allow, deny, schemes } = Result.getOrThrow(check(options, name))
  const whyNot = ({ host, port, scheme, userinfo }: Target): string | undefined => {
    if (scheme !== undefined && !schemes.has(scheme)) return `the scheme ${scheme} is not allowed`
    if (host === undefined) return "its host cannot be read"
    if (userinfo) return "it has a user name in front of its host"
    const kind = Address.classify(host)
    if (kind === "invalid") return "its host cannot be read"
    if (deny.some((rule) => fits(rule, host, port, kind))) return `${host} is denied`
    if (allow.some((rule) => fits(rule, host, port, kind))) return undefined
    return kind === "public" || kind === "name" ? `${host} is not allowed` : `${host} is a ${kind} address`
  }
  return HookDefaults.apply(options, {
    name,
    priority: 20,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: ({ args }) => {
      for (const target of everyTarget(args)) {
        const why = whyNot(target)
        if (why !== undefined) return HookAction.reject(`${target.text.slice(0, 200)} may not be reached: ${why}`)
      }
      return undefined
    }
  })
}

/** The targets of all texts in JSON, by the key under which they stand. */
function* everyTarget(value: Json, key = ""): Iterable<Target> {
  if (typeof value === "string") yield* targetsOf(value, key)
  else if (typeof value === "number") yield* targetsOf(String(value), key)
  else if (Array.isArray(value)) { for (const item of value as ReadonlyArray<Json>) yield* everyTarget(item, key) }
  else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      yield* targetsOf(name, "")
      yield* everyTarget(item, name)
    }
  }
}

interface Rule {
  /** Absent for `*`. */
  readonly host: string | undefined
  /** Names below the host, not the host itself. */
  readonly below: boolean
  readonly port: string | undefined
}

const fits = (rule: Rule, host: string, port: string, kind: Address.Kind): boolean => {
  if (rule.port !== undefined && rule.port !== port) return false
  const read = Address.normalize(host)
  if (rule.host !== undefined && !rule.below) return read === rule.host
  // A star never opens what is not public.
  return (kind === "public" || kind === "name") && (rule.host === undefined || read?.endsWith(`.${rule.host}`) === true)
}

const check = (options: Options, name: string) => {
  const { allow = ["*"], deny = [], schemes = ["http", "https"] } = options
  const wrong = (key: string, message: string) =>
    Result.fail(new ConfigError({ key: `${name}.${key}`, message: `${name}.${key}: ${message}` }))
  const rules = (key: "allow" | "deny", given: ReadonlyArray<string>) =>
    Result.all(given.map((text): Result.Result<Rule, ConfigError> => {
      const [, star, host, port] = /^(?:(\*)(?:\.|$))?(\[[^\]]*\]|[^*:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
      const read = host === undefined || host === "" ? undefined : Address.normalize(host)
      return (star === undefined || host !== "") && read === undefined
        ? wrong(key, `${JSON.stringify(text)} is no host: expected example.com, *.example.com, example.com:8443 or *`)
        : Result.succeed({ host: read, below: star !== undefined, port })
    }))
  return Result.gen(function*() {
    const bad = schemes.find((scheme) => !/^[a-z][a-z0-9+.-]*$/.test(scheme))
    if (bad !== undefined) {
      return yield* wrong("schemes", `${JSON.stringify(bad)} is no scheme: expected a name such as https`)
    }
    return { allow: yield* rules("allow", allow), deny: yield* rules("deny", deny), schemes: new Set(schemes) }
  })
}
