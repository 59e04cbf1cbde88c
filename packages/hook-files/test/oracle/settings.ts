/**
 * All settings, and what Claude Code does with them, as its documentation describes it. `recorded.json` has what the
 * program itself did, which counts.
 */
import recorded from "./recorded.json" with { type: "json" }
import type { Outcome, Setting } from "./setting.ts"
import { events } from "./settings/events.ts"
import { pairs } from "./settings/pairs.ts"
import { permissions } from "./settings/permissions.ts"
import { preToolUse } from "./settings/preToolUse.ts"

const tried = new Map<string, Partial<Outcome>>(Object.entries(recorded.outcomes))

export const settings: ReadonlyArray<Setting> = [...preToolUse, ...events, ...pairs, ...permissions].map((setting) => ({
  ...setting,
  expected: { ...setting.expected, ...tried.get(setting.name) }
}))

/** The settings that were tried with the program. */
export const recordedNames: ReadonlyArray<string> = [...tried.keys()]
