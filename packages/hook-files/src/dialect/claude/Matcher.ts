/**
 * Matchers of settings files: which tools, sources or reasons a group of hooks is for.
 *
 * @since 0.1.0
 */
import * as Pattern from "../shared/pattern.ts"
import { type EventName, rowOf } from "./events.ts"

/** A compiled matcher. @category models @since 0.1.0 */
export interface Matcher {
  readonly test: (value: string) => boolean
  /** What is wrong with it, or what is read in another way than it is written. */
  readonly warning?: string
}

/**
 * Compiles a matcher. Nothing, `""` and `"*"` match everything; names made of letters, digits, `_`, `-` and spaces,
 * separated by `|` or `,`, match exactly; anything
 * else is a pattern that is searched for, in linear time. A text that is not a pattern matches nothing. One that RE2
 * cannot read (lookaround,
 * backreferences) matches everything, so that no guard is left out. At events without matchers it is ignored.
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
export const compile = (
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
  const compiled = Pattern.compile(matcher)
  if (typeof compiled === "function") return { test: compiled }
  const quoted = JSON.stringify(matcher)
  return compiled === "unsupported"
    ? {
      ...everything,
      warning: `${quoted} is no RE2 pattern (no lookaround, no backreferences), so it matches everything`
    }
    : { test: () => false, warning: `${quoted} is no pattern, so it matches nothing` }
}

const everything: Matcher = { test: () => true }
