/** Reads the options of the hook, and says what is wrong with them. */
import { ConfigError } from "@belay/core/AgentError"
import { matcher, nearest } from "@belay/core/NamePattern"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import { propertiesOf } from "./text/schemas.ts"
import { kindsBy, type Label, type Labels, preciseFirst, type ToolKind } from "./toolKind.ts"

/** The rank of an argument. */
export type Rank = "decisive" | "content"

/** The options that say what tools and arguments are. */
export interface Labelling {
  readonly sources?: { readonly [tool: string]: Label | ReadonlyArray<Label> }
  readonly sinks?: { readonly [tool: string]: "local" }
  readonly arguments?: { readonly [toolAndArgument: string]: Rank }
}

/** What a tool is called, and its arguments. */
type Described = Pick<ToolMeta, "name" | "inputSchema">

/** What a configuration says about tools and arguments. */
export interface Configuration {
  readonly kindOf: (tool: ToolMeta) => ToolKind
  readonly rankOf: (tool: string, argument: string) => Rank | undefined
  /** The label of texts that a hook injects, and of memories. */
  readonly labelOfText: (source: string) => ReadonlyArray<Label>
  /** Describes what the configuration says about tools and arguments that do not exist. */
  readonly whyUnknown: (tools: ReadonlyArray<Described>) => string | undefined
}

const labels: ReadonlyArray<Label> = ["trusted", "directory", "untrusted", "public", "private", "secret"]

/** Texts that do not come from tools: `hook:name` is what a hook injects, `memory` what is recalled. */
const isText = (name: string): boolean => name.startsWith("hook:") || name === "memory"

const fail = (key: string, why: string): never =>
  Result.getOrThrow(Result.fail(new ConfigError({ key, message: `${key}: ${why}` })))

/** A JavaScript program may pass anything; `checkOptions` then names it. */
const isOne = (given: Label | ReadonlyArray<Label>): given is Label => !Array.isArray(given)

/** Reads the options. Throws a `ConfigError` that names the tool or the argument. */
export const configure = (owner: string, options: Labelling): Configuration => {
  const sources = Object.entries(options.sources ?? {}).flatMap(([tool, given]) => {
    const all: ReadonlyArray<Label> = isOne(given) ? [given] : given
    Result.getOrThrow(checkOptions(owner, ...all.map((one) => oneOf(`sources["${tool}"]`, one, labels))))
    return all.map((label) => [tool, label] as const)
  })
  const sinks = Object.entries(options.sinks ?? {})
  Result.getOrThrow(checkOptions(owner, ...sinks.map(([tool, one]) => oneOf(`sinks["${tool}"]`, one, ["local"]))))
  const ranks = Object.entries(options.arguments ?? {})
  Result.getOrThrow(
    checkOptions(owner, ...ranks.map(([name, one]) => oneOf(`arguments["${name}"]`, one, ["decisive", "content"])))
  )
  const wrongName = ranks.find(([name]) => !/^[^.]+\.[^.]+$/.test(name))
  if (wrongName !== undefined) {
    fail(`${owner}.arguments["${wrongName[0]}"]`, "expected the tool and the argument, as in \"send_mail.to\"")
  }
  const contradiction = contradictionIn(sources, (pattern, name) => pattern === name || matcher(pattern)(name))
  if (contradiction !== undefined) fail(`${owner}.sources`, contradiction)
  const given: Labels = {
    sources: sources.filter(([tool]) => !isText(tool)),
    local: sinks.map(([tool]) => tool)
  }
  const rankRules = ranks.toSorted(([one], [other]) => preciseFirst(one, other)).map(([name, rank]) => {
    const [tool = "", argument = ""] = name.split(".")
    return { matches: matcher(tool), argument, rank }
  })
  return {
    kindOf: kindsBy(given),
    rankOf: (tool, argument) => rankRules.find((rule) => rule.argument === argument && rule.matches(tool))?.rank,
    labelOfText: (source) => sources.flatMap(([name, label]) => name === source ? [label] : []),
    whyUnknown: (tools) => whyUnknown(owner, given, ranks.map(([name]) => name), tools)
  }
}

/** A secret source must not vouch for values: what it returns would be free to leave. */
const contradictionIn = (
  sources: Labels["sources"],
  matches: (pattern: string, name: string) => boolean
): string | undefined => {
  for (const [secret, label] of sources) {
    if (label !== "secret") continue
    const other = sources.find(([tool, one]) =>
      (one === "trusted" || one === "public") && (matches(tool, secret) || matches(secret, tool))
    )
    if (other !== undefined) return `"${secret}" is secret and also ${other[1]}; give it one of the two`
  }
  return undefined
}

const whyUnknown = (
  owner: string,
  { local, sources }: Labels,
  ranks: ReadonlyArray<string>,
  tools: ReadonlyArray<Described>
): string | undefined => {
  const names = tools.map(({ name }) => name)
  const missing = (option: string, pattern: string): string | undefined => {
    if (names.some(matcher(pattern))) return undefined
    const close = nearest(pattern, names)
    return `${owner}.${option}["${pattern}"]: the agent has no such tool` +
      (close === undefined ? "" : `; did you mean "${close}"?`)
  }
  for (const [pattern] of sources) {
    const why = missing("sources", pattern)
    if (why !== undefined) return why
  }
  for (const pattern of local) {
    const why = missing("sinks", pattern)
    if (why !== undefined) return why
  }
  for (const rank of ranks) {
    const [pattern = "", argument = ""] = rank.split(".")
    const found = tools.filter(({ name }) => matcher(pattern)(name))
    if (found.length === 0) return missing("arguments", pattern)
    if (found.some(({ inputSchema }) => Object.hasOwn(propertiesOf(inputSchema), argument))) continue
    const close = nearest(argument, found.flatMap(({ inputSchema }) => Object.keys(propertiesOf(inputSchema))))
    return `${owner}.arguments["${rank}"]: ${found[0]!.name} has no argument "${argument}"` +
      (close === undefined ? "" : `; did you mean "${close}"?`)
  }
  for (const name of names) {
    const own = sources.filter(([pattern]) => matcher(pattern)(name)).map(([, label]) => [name, label] as const)
    const contradiction = contradictionIn(own, (pattern, one) => pattern === one)
    if (contradiction !== undefined) return `${owner}.sources: ${contradiction}`
  }
  return undefined
}
