/** The answer of a GitHub Copilot hook, and the verdict of all hooks of an event. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import type { ToolResult } from "@belay/core/Tool"
import type * as Dialect from "../../engine/Dialect.ts"

/** If several entries set one of these fields, the value of the last entry is used. */
export interface Wish {
  /** At `preToolUse`, if the entry does not deny. */
  readonly permission?: "allow" | "ask"
  readonly permissionReason?: string
  readonly args?: JsonObject
  /** At `permissionRequest`. */
  readonly behavior?: "allow" | "deny"
  readonly behaviorReason?: string
  readonly interrupt?: boolean
  /** When an agent stops: the prompt with which it continues, or false if it may stop. */
  readonly block?: string | false
  /** The new answer of a sub-agent. */
  readonly response?: string
  readonly result?: ToolResult
  readonly prompt?: string
  readonly transformed?: string
  readonly handling?: "retry" | "skip" | "abort"
  readonly retries?: number
  readonly stop?: string
}

export interface Answer extends Dialect.Answer {
  /** Why a prompt or a call is denied. */
  readonly denied?: string
  /** Why a person has to decide, even if other entries allow the call. */
  readonly asks?: string
  readonly context?: string
  readonly wish: Wish
  readonly progress: ReadonlyArray<JsonObject>
}

export interface Verdict extends Wish {
  /** The reasons of all entries that deny, one per line. */
  readonly denied?: string
  readonly contexts: ReadonlyArray<string>
}

export const silent: Answer = { outcome: "success", messages: [], problems: [], wish: {}, progress: [] }

/**
 * Merges the answers of all entries. One entry that denies is enough to deny. If an entry asks a person, another entry
 * cannot allow the call.
 */
export const merge = (answers: ReadonlyArray<Answer>): Verdict => {
  const denied = answers.flatMap((answer) => answer.denied ?? [])
  const { behavior, ...wish } = answers.reduce<Wish>((before, answer) => ({ ...before, ...answer.wish }), {})
  const asks = answers.find((answer) => answer.asks !== undefined)?.asks
  const asking = asks === undefined ? {} : { permission: "ask" as const, permissionReason: asks }
  return {
    ...wish,
    ...asking,
    ...defined({
      behavior: behavior === "allow" && asks !== undefined ? undefined : behavior,
      denied: denied.length === 0 ? undefined : denied.join("\n")
    }),
    contexts: answers.flatMap(({ context }) => context ?? [])
  }
}

/** The verdict if no entry runs. */
export const noVerdict: Verdict = { contexts: [] }
