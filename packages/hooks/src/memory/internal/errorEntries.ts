/** Entries of the error knowledge, and how they are matched with errors. */
import type { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import { canonical, digest, type Json } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Pattern from "../../guardrail/Pattern.ts"

/** A kind of failure, and what is known about it. @category models @since 0.1.0 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}
/** The schema of an entry. @category schemas @since 0.1.0 */
export const Entry = Schema.Struct({
  id: Schema.String,
  /**
   * `transient`: it goes away by itself. `known-fix`: it has a fix. `novel`: nobody has explained it yet.
   * `environmental`: its cause is outside of the agent.
   */
  category: Schema.Literals(["transient", "known-fix", "novel", "environmental"]),
  /** An RE2 pattern that matches a part of the error or of its normalized form. */
  signature: Schema.String,
  /** The names of tools, where `*` stands for any characters, and an RE2 pattern that matches a part of the command. */
  scope: Schema.Struct({ tool: Schema.String, command: Schema.optionalKey(Schema.String) }),
  /** The steps that help. */
  resolution: Schema.Array(Schema.String),
  /** The share of attempts that succeeded after the model had read the resolution. */
  successRate: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  /** The number of these attempts. */
  attempts: Schema.Finite,
  /** How often the failure happened. */
  occurrences: Schema.Finite,
  /** When it happened last, in milliseconds since the epoch; 0 when it never happened. */
  lastMatchedAt: Schema.Finite
})

/** A compiled entry. */
export interface CompiledEntry {
  readonly entry: Entry
  readonly isFor: (tool: string, command: string) => boolean
  readonly matches: (error: string) => boolean
}

/** Compiles an entry. Fails with a `ConfigError` for an invalid pattern. */
export const compileEntry = (entry: Entry, key: string): Result.Result<CompiledEntry, ConfigError> => {
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
      matches: (error) => signature.test(error) || signature.test(normalizeError(error))
    })
  )
}

/** The longest text that is matched, in characters. */
const maxLength = 4_000

/**
 * Removes from an error text what differs between occurrences: ids, quoted names, paths and numbers become placeholders
 * such as `<path>`. The result is one line of at most 300 characters. Use it to recognize an error that happens again.
 *
 * @example
 * ```ts
 * import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
 *
 * ErrorKnowledge.normalizeError("cannot open /tmp/a1.log: code 13") // "cannot open <path>: code <n>"
 * ```
 * @category operations
 * @since 0.1.0
 */
export const normalizeError = checked(
  "ErrorKnowledge.normalizeError",
  ["error"],
  (error: string): string =>
    error.slice(0, maxLength)
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>")
      .replace(/"[^"\n]{0,200}"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{0,200}'/g, "<quoted>")
      .replace(/(?<![\w.@~-])(?:[A-Za-z]:\\|[\w.@~-]*\/)[^\s:,;()<>"'`]+/g, "<path>")
      .replace(/\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, "<hex>")
      .replace(/\d+(?:[.,:]\d+)*/g, "<n>")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, 300)
      .toWellFormed()
)

/** The entry for a failure without a matching entry. */
export const novelEntry = (tool: string, args: Json, error: string, now: number): Entry => {
  const normalized = normalizeError(error)
  const [program] = /^\S{1,200}(?=\s|$)/.exec(commandIn(args)?.trim() ?? "") ?? []
  const scope = program === undefined ? { tool } : { tool, command: `^\\s*${escapeRe2(program)}(\\s|$)` }
  return {
    id: `novel-${digest([tool, program ?? "", normalized])}`,
    category: "novel",
    signature: `^${escapeRe2(normalized)}`,
    scope,
    resolution: [],
    successRate: 0,
    attempts: 0,
    occurrences: 1,
    lastMatchedAt: now
  }
}

const escapeRe2 = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** The command of a call; for a call without one, all its arguments as a text. */
export const commandOf = (args: Json): string => commandIn(args) ?? canonical(args).slice(0, maxLength)

const commandIn = (args: Json): string | undefined => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined
  const field = ["command", "cmd", "script"].find((name) => Object.hasOwn(args, name))
  const value = field === undefined ? undefined : (args as { readonly [name: string]: Json })[field]
  if (typeof value === "string") return value.slice(0, maxLength)
  return Array.isArray(value) ? value.join(" ").slice(0, maxLength) : undefined
}
