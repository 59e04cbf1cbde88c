/** A mistake in a file, and what to do about it. */
import type { Item } from "../world.ts"

export type Level = "error" | "warning" | "hint"

export interface Finding {
  readonly level: Level
  /** The name of the rule. */
  readonly rule: string
  readonly file: string
  readonly key: string
  readonly line?: number
  readonly what: string
  readonly why: string
  readonly fix: string
}

/** A finding of a rule, without its place. */
export type Said = Pick<Finding, "level" | "rule" | "what" | "why" | "fix">

export const said = (level: Level, rule: string, what: string, why: string, fix: string): Said => ({
  level,
  rule,
  what,
  why,
  fix
})

/** A rule about one entry. */
export type Rule = (item: Item) => ReadonlyArray<Said>
