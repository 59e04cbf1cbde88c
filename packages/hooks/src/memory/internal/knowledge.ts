/** Entries of the error knowledge, and the texts they are matched with. */
import type { ConfigError } from "@belay/core/AgentError"
import { canonical, digest, type Json } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Pattern from "../../guardrail/Pattern.ts"

/** One kind of failure, and what is known of it. @category models @since 0.1.0 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}
/** @category schemas @since 0.1.0 */
export const Entry = Schema.Struct({
  id: Schema.String,
  /** It passes by itself, has a fix, was never explained, or lies in the surroundings. */
  category: Schema.Literals(["transient", "known-fix", "novel", "environmental"]),
  /** An RE2 pattern, searched for in the error and in its normalised form. */
  signature: Schema.String,
  /** Tool names, where `*` stands for any characters, and an RE2 pattern that is searched for in the command. */
  scope: Schema.Struct({ tool: Schema.String, command: Schema.optionalKey(Schema.String) }),
  /** What helps, step by step. */
  resolution: Schema.Array(Schema.String),
  /** The share of attempts that succeeded after the model had read the resolution. */
  successRate: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  /** How many attempts that were. */
  attempts: Schema.Finite,
  /** How often it happened. */
  occurrences: Schema.Finite,
  /** Milliseconds since the epoch; 0 when it never happened. */
  lastMatchedAt: Schema.Finite
})

/** An entry, ready to be matched. */
export interface Compiled {
  readonly entry: Entry
  readonly isFor: (tool: string, command: string) => boolean
  readonly matches: (error: string) => boolean
}

export const compile = (entry: Entry, key: string): Result.Result<Compiled, ConfigError> => {
  const { command } = entry.scope
  const tool = matcher(entry.scope.tool)
  return Result.map(
    Result.all([
      Pattern.compile([entry.signature], `${key}.signature`),
      Pattern.compile(command === undefined ? [] : [command], `${key}.scope.command`)
    ]),
    ([signature, commands]) => ({
      entry,
      isFor: (name, text) => tool(name) && (command === undefined || commands.test(text)),
      matches: (error) => signature.test(error) || signature.test(normalised(error))
    })
  )
}

/** Longest text that is looked at. */
const longest = 4_000

/**
 * An error without what differs from time to time: ids, quoted names, paths, numbers, in one line of at most 300
 * characters.
 */
export const normalised = (error: string): string =>
  error.slice(0, longest)
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>")
    .replace(/"[^"\n]{0,200}"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{0,200}'/g, "<quoted>")
    .replace(/(?<![\w.@~-])(?:[A-Za-z]:\\|[\w.@~-]*\/)[^\s:,;()<>"'`]+/g, "<path>")
    .replace(/\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, "<hex>")
    .replace(/\d+(?:[.,:]\d+)*/g, "<n>")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 300)
    .toWellFormed()

/** The entry for a failure that nobody has seen before. */
export const novel = (tool: string, args: Json, error: string, now: number): Entry => {
  const form = normalised(error)
  const [program] = /^\S{1,200}(?=\s|$)/.exec(commandIn(args)?.trim() ?? "") ?? []
  const scope = program === undefined ? { tool } : { tool, command: `^\\s*${quote(program)}(\\s|$)` }
  return {
    id: `novel-${digest([tool, program ?? "", form])}`,
    category: "novel",
    signature: `^${quote(form)}`,
    scope,
    resolution: [],
    successRate: 0,
    attempts: 0,
    occurrences: 1,
    lastMatchedAt: now
  }
}

const quote = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** What a call is known by: the command that it runs, or all its arguments. */
export const commandOf = (args: Json): string => commandIn(args) ?? canonical(args).slice(0, longest)

const commandIn = (args: Json): string | undefined => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined
  const found = ["command", "cmd", "script"].find((field) => Object.hasOwn(args, field))
  const value = found === undefined ? undefined : (args as { readonly [field: string]: Json })[found]
  if (typeof value === "string") return value.slice(0, longest)
  return Array.isArray(value) ? value.join(" ").slice(0, longest) : undefined
}
