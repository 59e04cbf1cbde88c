/** The answer of an entry of Cursor, and the verdict of all entries of an event. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../engine/Dialect.ts"
import type { Handler } from "./config.ts"

export interface Answer extends Dialect.Answer {
  /** Why the action is blocked. */
  readonly denied?: string
  /** Why a person has to decide. */
  readonly asks?: string
  /** The new input of a tool. */
  readonly input?: JsonObject
  /** The new output of a tool of an MCP server. */
  readonly output?: JsonObject
  readonly context?: string
  /** The message with which the agent continues. */
  readonly followUp?: string
  /** Variables for the later entries of the session. */
  readonly env?: { readonly [name: string]: string }
}

export interface Verdict {
  readonly denied?: string
  readonly asks?: string
  readonly input?: JsonObject
  readonly output?: JsonObject
  readonly contexts: ReadonlyArray<string>
  readonly followUp?: string
  readonly env: { readonly [name: string]: string }
  /** Warnings for the developer. */
  readonly conflicts: ReadonlyArray<string>
}

export const silent: Answer = { outcome: "success", messages: [], problems: [] }

export const noVerdict: Verdict = { contexts: [], env: {}, conflicts: [] }

/**
 * Merges the answers of all entries. One entry that denies is enough. Of several values the first one counts, because
 * the entries with the highest priority come first. A follow-up does not count after the limit of its entry.
 */
export const merge = (answers: ReadonlyArray<Answer>, entries: ReadonlyArray<Handler>, input: JsonObject): Verdict => {
  const loops = typeof input["loop_count"] === "number" ? input["loop_count"] : 0
  const first = <K extends keyof Answer>(key: K): Answer[K] | undefined =>
    answers.find((one) => one[key] !== undefined)?.[key]
  const all = (key: "denied" | "asks") => {
    const reasons = answers.flatMap((answer) => answer[key] ?? [])
    return reasons.length === 0 ? undefined : reasons.join("\n")
  }
  const isOver = (index: number) => loops >= (entries[index]?.loopLimit ?? Infinity)
  return {
    ...defined({
      denied: all("denied"),
      asks: all("asks"),
      input: first("input"),
      output: first("output"),
      followUp: answers.find(({ followUp }, index) => followUp !== undefined && !isOver(index))?.followUp
    }),
    contexts: answers.flatMap(({ context }) => context ?? []),
    env: Object.assign({}, ...answers.map(({ env }) => env ?? {}).reverse()),
    conflicts: [
      ...(answers.filter((answer) => answer.input !== undefined).length > 1
        ? ["several hooks returned updated_input: only the first value is used"]
        : []),
      ...answers.flatMap(({ followUp }, index) =>
        followUp !== undefined && isOver(index)
          ? [`a hook made the agent continue ${loops} times in a row, so it stops now`]
          : []
      )
    ]
  }
}
