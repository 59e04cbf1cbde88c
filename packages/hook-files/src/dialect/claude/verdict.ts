/** Merges the answers of all entries of one event. */
import { defined } from "../../internal/defined.ts"
import type { Answer } from "./answer.ts"

/** What all entries of one event decide together. @category models @since 0.1.0 */
export interface Verdict extends Omit<Answer, "outcome" | "problem" | "problems" | "isRefused" | "suppressOutput"> {
  /** Answers that contradict each other, for the developer. */
  readonly conflicts: ReadonlyArray<string>
}

/** The order in which permissions count. */
const permissions = ["defer", "ask", "allow"] as const

const lastFields = ["updatedInput", "updatedOutput", "updatedMcpOutput"] as const

/**
 * Merges answers, in the order of the configuration. Any that blocks blocks; `defer` counts before `ask`, and `ask`
 * before `allow`; of several new inputs or outputs the last counts, with a warning. The order in which the entries
 * ended makes no difference.
 *
 * @category merging
 * @since 0.1.0
 */
export const merge = (answers: ReadonlyArray<Answer>, separator = "\n"): Verdict => {
  const reasons = answers.flatMap(({ blocked }) => blocked ?? [])
  const stops = answers.flatMap(({ stop }) => stop ?? [])
  const permission = permissions.find((one) => answers.some((answer) => answer.permission === one))
  const last = <K extends keyof Answer>(key: K): Answer[K] | undefined =>
    answers.findLast((answer) => answer[key] !== undefined)?.[key]
  const watched = answers.flatMap(({ watch }) => watch === undefined ? [] : [watch])
  return {
    ...defined({
      blocked: reasons.length === 0 ? undefined : reasons.join(separator),
      stop: stops.length === 0 ? undefined : stops.join("\n"),
      permission,
      permissionReason: reasonFor(permission, answers),
      // A call that is deferred is decided about as it stands.
      updatedInput: permission === "defer" ? undefined : last("updatedInput"),
      updatedOutput: last("updatedOutput"),
      updatedMcpOutput: last("updatedMcpOutput"),
      retry: answers.some(({ retry }) => retry === true) || undefined,
      interrupt: answers.some(({ interrupt }) => interrupt === true) || undefined,
      permissions: last("permissions"),
      title: last("title"),
      terminal: last("terminal"),
      answer: last("answer"),
      watch: watched.length === 0 ? undefined : [...new Set(watched.flat())]
    }),
    context: answers.flatMap(({ context }) => context),
    messages: answers.flatMap(({ messages }) => messages),
    conflicts: lastFields.flatMap((key) => {
      const count = answers.filter((answer) => answer[key] !== undefined).length
      return count > 1 && (key !== "updatedInput" || permission !== "defer")
        ? [`${count} hooks gave ${key}: the last of them counts`]
        : []
    })
  }
}

/** The reasons for the permission that counts. Entries that may not run all have the same reason. */
const reasonFor = (permission: Answer["permission"], answers: ReadonlyArray<Answer>): string | undefined => {
  const same = answers.filter((answer) => answer.permission === permission && answer.permissionReason !== undefined)
  const refused = same.find(({ isRefused }) => isRefused === true)
  const reasons = same.flatMap((answer) =>
    answer.isRefused === true && answer !== refused ? [] : [answer.permissionReason!]
  )
  return reasons.length === 0 ? undefined : reasons.join("\n")
}
