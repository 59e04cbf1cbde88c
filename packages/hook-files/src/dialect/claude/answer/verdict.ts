/** Merges the answers of all entries of one event. */
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import type { Answer } from "./answer.ts"

/** The merged answers of all entries of one event. @category models @since 0.1.0 */
export interface Verdict extends Omit<Answer, "outcome" | "problem" | "problems" | "isRefused" | "suppressOutput"> {
  /** Warnings for the developer about answers that contradict each other. */
  readonly conflicts: ReadonlyArray<string>
}

/** The permissions, the strongest first. */
const permissions = ["defer", "ask", "allow"] as const

const lastFields = ["updatedInput", "updatedOutput", "updatedMcpOutput"] as const

/**
 * Merges answers. Pass them in the order of the entries in the files, and not in the order in which they ended. If one
 * answer blocks, the verdict blocks. `defer` is stronger than `ask`, and `ask` is stronger than `allow`. If several
 * answers have a new input or output, the last one is used, and `conflicts` contains a warning. Reasons are joined with
 * `separator`.
 *
 * @category merging
 * @since 0.1.0
 */
export const merge = checked(
  "Outcome.merge",
  ["answers", "separator"],
  (answers: ReadonlyArray<Answer>, separator = "\n"): Verdict => {
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
        // A person decides about a deferred call, and must see its original arguments.
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
          ? [`${count} hooks returned ${key}: only the last value is used`]
          : []
      })
    }
  }
)

/**
 * Returns the reasons of all answers with the permission that is used. Refused entries all have the same reason, which
 * is returned once.
 */
const reasonFor = (permission: Answer["permission"], answers: ReadonlyArray<Answer>): string | undefined => {
  const same = answers.filter((answer) => answer.permission === permission && answer.permissionReason !== undefined)
  const refused = same.find(({ isRefused }) => isRefused === true)
  const reasons = same.flatMap((answer) =>
    answer.isRefused === true && answer !== refused ? [] : [answer.permissionReason!]
  )
  return reasons.length === 0 ? undefined : reasons.join("\n")
}
