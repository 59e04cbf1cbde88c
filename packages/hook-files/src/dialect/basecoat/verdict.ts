/** Merges the answers of all Base Coat hooks of one event. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import { redactText } from "@belay/hooks/Secrets"
import type { Answer, Block } from "./answer.ts"
import type { Handler } from "./events.ts"

export interface Verdict {
  readonly blocked?: Block
  /** Why a person has to decide: a hook that could have blocked may not run. */
  readonly asks?: string
  readonly input?: JsonObject
  readonly output?: Json
  readonly context: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  /** The hooks that failed. */
  readonly failures: ReadonlyArray<{ readonly hookId: string; readonly message: string }>
  readonly metadata: ReadonlyArray<JsonObject>
  /** The number of hooks of kind `policy` that ran. */
  readonly policies: number
}

/**
 * Merges the answers. Contexts are added unless a later hook overwrites them. If several hooks make the same kind of
 * change, the last one is used.
 */
export const merge = (answers: ReadonlyArray<Answer>, entries: ReadonlyArray<Handler>): Verdict => {
  const all = answers.map((answer, index) => ({ answer, entry: entries[index]! }))
  const deciding = all.filter(({ entry }) => entry.kind !== "telemetry").map(({ answer }) => answer)
  const last = <K extends keyof Answer>(key: K) => deciding.findLast((answer) => answer[key] !== undefined)?.[key]
  const from = deciding.findLastIndex(({ overwrite }) => overwrite)
  return {
    ...defined({
      blocked: last("blocked"),
      asks: last("asks"),
      input: last("input"),
      output: last("output")
    }),
    context: deciding.slice(Math.max(from, 0)).flatMap(({ context }) => context),
    warnings: all.flatMap(({ answer, entry }) => warningsOf(answer, answer.hookId || entry.key)),
    failures: all.flatMap(({ answer: { problem }, entry: { key } }) =>
      problem === undefined ? [] : [{ hookId: key, message: redactText(problem) }]
    ),
    metadata: answers.map(({ metadata }) => metadata),
    policies: all.filter(({ entry }) => entry.kind === "policy").length
  }
}

const warningsOf = ({ problem, problems }: Answer, hookId: string): ReadonlyArray<string> => [
  ...(problem === undefined ? [] : [`${hookId}: Hook failed: ${redactText(problem)}`]),
  ...problems.map((text) => `${hookId}: ${text}`)
]
