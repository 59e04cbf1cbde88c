/** Merges the answers of all Base Coat hooks of one event. */
import type { Json, JsonObject } from "@belay/core/Json"
import { redactText } from "@belay/hooks/Secrets"
import { defined } from "../../internal/defined.ts"
import type { Answer, Block } from "./answer.ts"
import type { Handler } from "./events.ts"

export interface Verdict {
  readonly blocked?: Block
  /** Why a person decides, in place of a hook that could have blocked and may not run. */
  readonly asks?: string
  readonly input?: JsonObject
  readonly output?: Json
  readonly context: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  /** Hooks that broke. */
  readonly failures: ReadonlyArray<{ readonly hookId: string; readonly message: string }>
  readonly metadata: ReadonlyArray<JsonObject>
  /** How many hooks of the kind `policy` ran. */
  readonly policies: number
}

/** Context adds up unless a later hook overwrites it; of several changes the last counts. */
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
