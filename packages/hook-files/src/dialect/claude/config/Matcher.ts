/**
 * Compiles the matchers of settings files. A matcher decides for which tools, sources or reasons a group of hooks runs.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import * as Pattern from "../../shared/pattern.ts"
import { type EventName, rowOf } from "../event/events.ts"

/** A compiled matcher. @category models @since 0.1.0 */
export interface Matcher {
  readonly test: (value: string) => boolean
  /** A warning for the author of the matcher, if it is invalid or not supported. */
  readonly warning?: string
}

/**
 * Compiles a matcher.
 *
 * - No matcher, `""` and `"*"` match everything. So does every matcher of an event that ignores matchers.
 * - A list of names, separated by `|` or `,`, matches exactly these names. Names consist of letters, digits, `_`, `-`
 *   and spaces.
 * - Any other text is a regular expression, which is searched for in linear time. If it is invalid, it matches nothing.
 *   If it is not supported (backreferences, and lookaround other than a lookahead after `^`), it matches everything, so
 *   that no check is skipped; for Codex, which supports no lookaround, it matches nothing. All of these have a
 *   `warning`.
 *
 * @example
 * ```ts
 * import * as Matcher from "@belay/hook-files/Matcher"
 *
 * Matcher.compile("Edit|Write", "PreToolUse").test("Write") // true
 * Matcher.compile("Edit", "PreToolUse").test("NotebookEdit") // false
 * Matcher.compile("Edit.*", "PreToolUse").test("NotebookEdit") // true
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const compile = checked("Matcher.compile", ["matcher", "event", "flavor"], (
  matcher: string | undefined,
  event: EventName,
  flavor: "claude" | "codex" = "claude"
): Matcher => {
  const { field, names } = rowOf(event)
  if (matcher === undefined || matcher.trim() === "" || matcher === "*" || field === undefined) return everything
  if (names === "literal") {
    const listed = new Set(matcher.split("|").map((name) => name.trim()))
    return { test: (path) => listed.has(path) || listed.has(path.slice(path.lastIndexOf("/") + 1)) }
  }
  if ((names === "strict" || flavor === "codex" ? /^[\w|]+$/ : /^[\w\- ,|]+$/).test(matcher)) {
    const listed = new Set(matcher.split(/[|,]/).map((name) => name.trim()))
    return { test: (value) => listed.has(value) }
  }
  const compiled = flavor === "codex" && /^\^\(\?[!=]/.test(matcher) ? "unsupported" : Pattern.compile(matcher)
  if (typeof compiled === "function") return { test: compiled }
  const quoted = JSON.stringify(matcher)
  return compiled === "unsupported" && flavor !== "codex"
    ? {
      ...everything,
      warning:
        `${quoted} is not a pattern that RE2 can read (backreferences, most lookaround), so it matches everything`
    }
    : { test: () => false, warning: `${quoted} is not a pattern, so it matches nothing` }
})

const everything: Matcher = { test: () => true }
