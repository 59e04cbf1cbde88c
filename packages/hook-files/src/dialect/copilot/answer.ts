/** The answer of a GitHub Copilot hook, and the verdict of all hooks of an event. */
import type { JsonObject } from "@belay/core/Json"
import type { ToolResult } from "@belay/core/Tool"
import type * as Dialect from "../../Dialect.ts"
import { defined } from "../../internal/defined.ts"

/** Fields of which the last entry that sets them counts. */
export interface Wish {
  /** At `preToolUse`, where the entry does not deny. */
  readonly permission?: "allow" | "ask"
  readonly permissionReason?: string
  readonly args?: JsonObject
  /** At `permissionRequest`. */
  readonly behavior?: "allow" | "deny"
  readonly behaviorReason?: string
  readonly interrupt?: boolean
  /** When an agent stops: the prompt that keeps it going, or false. */
  readonly block?: string | false
  /** The answer of a sub-agent. */
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
  /** Why a person decides, whatever other entries allow. */
  readonly asks?: string
  readonly context?: string
  readonly wish: Wish
  readonly progress: ReadonlyArray<JsonObject>
}

export interface Verdict extends Wish {
  /** The reasons of all entries that deny, a line each. */
  readonly denied?: string
  readonly contexts: ReadonlyArray<string>
}

export const silent: Answer = { outcome: "success", messages: [], problems: [], wish: {}, progress: [] }

/** Any entry that denies denies, and no entry allows what another one asks about. */
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

/** The verdict where no entry runs. */
export const noVerdict: Verdict = { contexts: [] }
