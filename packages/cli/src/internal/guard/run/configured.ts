/** What a config exports, checked: the options of a guard and of its command. */
import type { GuardOptions } from "@belay/guard/Guard"
import { Refusal } from "./refusal.ts"

/** The options of the command. */
export interface Configured {
  /** The options of the guard, without its store. */
  readonly guard: GuardOptions
  /** What happens if the guard itself fails. */
  readonly onFailure: "deny" | "allow"
  /** After how many days without a call a session is removed. */
  readonly keepDays: number
}

/** Checks what a config exports: a list of hooks, options, or a function that returns one of these. */
export const configuredBy = async (path: string, exported: unknown): Promise<Configured> => {
  const value: unknown = typeof exported === "function" ? await (exported as () => unknown)() : exported
  const options: unknown = Array.isArray(value) ? { hooks: value } : value
  if (typeof options !== "object" || options === null) {
    throw new Refusal(`${path} has no default export with hooks: write \`export default { hooks: [...] }\``)
  }
  if ("session" in options && "coverage" in options) {
    throw new Refusal(`${path} exports a guard: export its options, \`export default { hooks: [...] }\``)
  }
  const { keepDays = 30, onFailure = "deny", ...guard } = options as GuardOptions & Partial<Configured>
  if (!Array.isArray(guard.hooks) && guard.hookSources === undefined) {
    throw new Refusal(`${path} has no hooks: write \`export default { hooks: [...] }\``)
  }
  if (onFailure !== "deny" && onFailure !== "allow") {
    throw new Refusal(`${path}: onFailure is "deny" or "allow"`)
  }
  if (typeof keepDays !== "number" || !(keepDays > 0)) throw new Refusal(`${path}: keepDays is a number above 0`)
  return { guard, onFailure, keepDays }
}
