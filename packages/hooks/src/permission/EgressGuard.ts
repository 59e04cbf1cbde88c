/**
 * Rejects tool calls whose arguments name a host, a scheme or an address that is not allowed.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { invalidOption } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Address from "../http/Address.ts"
import { operationsOf } from "./internal/callOperations.ts"
import { commandTargets } from "./internal/commandTargets.ts"
import { type NetworkTarget, targetsIn } from "./internal/networkTargets.ts"
import { decompose } from "./internal/shell/decompose.ts"
import { callOf } from "./internal/toolGuard.ts"

/** Options of `EgressGuard.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Schemes that a URL may have. Default `http` and `https`. */
  readonly schemes?: ReadonlyArray<string>
  /**
   * Hosts that are allowed: `example.com`, `*.example.com` (names below it), `example.com:8443`, or `*` for every
   * public host. A host that is not public is allowed only when it is listed in full, preferably with its port:
   * `localhost:3000`. Default `*`.
   */
  readonly allow?: ReadonlyArray<string>
  /** Hosts that are not allowed, written like those of `allow`. They take precedence over `allow`. Default none. */
  readonly deny?: ReadonlyArray<string>
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  schemes: "textList",
  allow: "textList",
  deny: "textList"
}

/**
 * Rejects a tool call whose arguments name a host that is not allowed: in URLs anywhere in a text, in arguments that
 * are a host, and in commands that use the network. Loopback, private, link-local, metadata and reserved addresses are
 * rejected in every spelling, and so is a host that cannot be read. Throws a `ConfigError` for an invalid host.
 *
 * It does not resolve names, and a command can build a URL at run time. For tools that fetch, use `HttpGuard` as well.
 *
 * @example
 * ```ts
 * import * as EgressGuard from "@belay/hooks/EgressGuard"
 *
 * const guard = EgressGuard.make({
 *   allow: ["api.example.com", "*.docs.example.com", "localhost:3000"],
 *   deny: ["old.docs.example.com"]
 * })
 * const onlyPublic = EgressGuard.make({ tools: ["fetch", "shell"] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("egress-guard", options, optionKinds)
  const name = options.name ?? "egress-guard"
  const { allow, deny, schemes } = Result.getOrThrow(compileOptions(options, name))
  const isEveryHost = deny.length === 0 && allow.some((rule) => rule.host === undefined && rule.port === undefined)
  const problemWith = ({ host, isFile, port, scheme, userinfo }: NetworkTarget): string | undefined => {
    if (isFile === true) return isEveryHost ? undefined : "the hosts in this file are not known"
    if (scheme !== undefined && !schemes.has(scheme)) return `the scheme ${scheme} is not allowed`
    if (host === undefined) return "its host cannot be read"
    if (userinfo) return "it has a user name in front of its host"
    const kind = Address.classify(host)
    if (kind === "invalid") return "its host cannot be read"
    if (deny.some((rule) => matches(rule, host, port, kind))) return `${host} is denied`
    if (allow.some((rule) => matches(rule, host, port, kind))) return undefined
    return kind === "public" || kind === "name" ? `${host} is not allowed` : `${host} is a ${kind} address`
  }
  return HookDefaults.apply(options, {
    name,
    priority: 20,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event) => {
      const check = (target: NetworkTarget) => {
        const problem = problemWith(target)
        return problem === undefined ? undefined : `${target.text.slice(0, 200)} may not be reached: ${problem}`
      }
      const lines = shellLinesOf(event)
      const refusal = lines.length === 0
        ? firstTarget(event.args, "", noLines, check)
        : firstIn(lines.flatMap(({ targets }) => targets), check) ??
          firstTarget(event.args, "", new Set(lines.flatMap(({ isRead, line }) => isRead ? [line] : [])), check)
      return refusal === undefined ? undefined : HookAction.reject(refusal)
    }
  })
}

const noLines: ReadonlySet<string> = new Set()

interface ShellLine {
  readonly line: string
  /** All of its commands are known. */
  readonly isRead: boolean
  readonly targets: ReadonlyArray<NetworkTarget>
}

/** The shell lines of a call, with the hosts that their commands name. */
const shellLinesOf = (event: PreToolCallEvent): ReadonlyArray<ShellLine> =>
  operationsOf(callOf(event)).flatMap(({ kind, value }) => {
    if (kind !== "shell" || value === undefined) return []
    const commands = decompose(value)
    return [{ line: value, isRead: commands.unknown === undefined, targets: [...commandTargets(commands)] }]
  })

type Check = (target: NetworkTarget) => string | undefined

const firstIn = (targets: Iterable<NetworkTarget>, check: Check): string | undefined => {
  for (const target of targets) {
    const found = check(target)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Calls `check` with the targets in all texts and keys of a JSON value, until it returns something, and returns it.
 * The commands in the texts of `lines` have been read before.
 */
const firstTarget = (
  value: Json,
  key: string,
  lines: ReadonlySet<string>,
  check: Check
): string | undefined => {
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value)
    return firstIn(targetsIn(text, key, !lines.has(text)), check)
  }
  if (typeof value !== "object" || value === null) return undefined
  const isList = Array.isArray(value)
  for (const name of Object.keys(value)) {
    // It is an object or a list, so any of its keys may be read.
    const item = (value as { readonly [name: string]: Json })[name]!
    const found = (isList ? undefined : firstTarget(name, "", lines, check)) ??
      firstTarget(item, isList ? key : name, lines, check)
    if (found !== undefined) return found
  }
  return undefined
}

interface HostRule {
  /** `undefined` for `*`, which is every host. */
  readonly host: string | undefined
  /** The rule is for the names below the host, not for the host itself. */
  readonly below: boolean
  readonly port: string | undefined
}

const matches = (rule: HostRule, host: string, port: string, kind: Address.Kind): boolean => {
  if (rule.port !== undefined && rule.port !== port) return false
  const normalized = Address.normalize(host)
  if (rule.host !== undefined && !rule.below) return normalized === rule.host
  // A star never allows a host that is not public.
  return (kind === "public" || kind === "name") &&
    (rule.host === undefined || normalized?.endsWith(`.${rule.host}`) === true)
}

const compileOptions = (options: Options, name: string) => {
  const { allow = ["*"], deny = [], schemes = ["http", "https"] } = options
  return Result.gen(function*() {
    const invalid = schemes.find((scheme) => !/^[a-z][a-z0-9+.-]*$/.test(scheme))
    if (invalid !== undefined) {
      return yield* invalidOption(
        `${name}.schemes`,
        `expected a scheme such as https, found ${JSON.stringify(invalid)}`
      )
    }
    return {
      allow: yield* Result.all(allow.map((host) => compileHost(host, `${name}.allow`))),
      deny: yield* Result.all(deny.map((host) => compileHost(host, `${name}.deny`))),
      schemes: new Set(schemes)
    }
  })
}

const compileHost = (text: string, key: string): Result.Result<HostRule, ConfigError> => {
  const [, star, host, port] = /^(?:(\*)(?:\.|$))?(\[[^\]]*\]|[^*:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  const normalized = host === undefined || host === "" ? undefined : Address.normalize(host)
  const isEveryHost = star !== undefined && host === ""
  if (normalized === undefined && !isEveryHost) {
    const expected = "expected example.com, *.example.com, example.com:8443 or *"
    return invalidOption(key, `${expected}, found ${JSON.stringify(text)}`)
  }
  return Result.succeed({ host: normalized, below: star !== undefined, port })
}
