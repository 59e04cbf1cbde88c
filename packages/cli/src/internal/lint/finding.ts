/** What is wrong with a file, and what to do about it. */

export type Level = "error" | "warning" | "hint"

export interface Finding {
  readonly level: Level
  /** The rule that found it. */
  readonly rule: string
  readonly file: string
  readonly key: string
  readonly line?: number
  readonly what: string
  readonly why: string
  readonly fix: string
}

/** What a rule says; where is known already. */
export type Said = Pick<Finding, "level" | "rule" | "what" | "why" | "fix">

export const said = (level: Level, rule: string, what: string, why: string, fix: string): Said => ({
  level,
  rule,
  what,
  why,
  fix
})
