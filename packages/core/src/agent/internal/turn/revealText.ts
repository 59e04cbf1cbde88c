/** What the user alone is given: the text of a result with what nobody else may see. */
import * as Result from "effect/Result"
import { OutputMismatch } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { Context as HookView } from "../../../hook/internal/context.ts"
import type { Turn } from "./turn.ts"

/** What an agent tells another is told to a model: it is given what is its own, and nothing of the tree's. */
const revealersOf = ({ host: { revealers }, parent }: Turn) =>
  parent === undefined ? revealers : revealers.filter((hook) => !parent.host.chain.hooks.includes(hook))

/** The text for the user alone. A hook that breaks reveals nothing. */
export const revealed = (turn: Turn, text: string): string =>
  revealersOf(turn).reduce((known, hook) => {
    const made = Result.try(() => hook.revealText!(known, new HookView(turn, hook.name)))
    if (Result.isSuccess(made) && typeof made.success === "string") return made.success
    turn.warn(
      `revealText failed: ${Result.isFailure(made) ? messageOf(made.failure) : "it answered no text"}`,
      hook.name
    )
    return known
  }, text)

/** The same for JSON, string by string: what a value holds cannot change what is around it. */
export const revealedJson = (turn: Turn, text: string): string => {
  let found = false
  const read = Result.try(() =>
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== "string") return value
      const known = revealed(turn, value)
      found ||= known !== value
      return known
    }) as unknown
  )
  return found && Result.isSuccess(read) ? JSON.stringify(read.success) : text
}

/** A mismatch without the words of the schema, which quote what was revealed. */
export const discreet = ({ output, problems }: OutputMismatch, text: string): OutputMismatch =>
  new OutputMismatch({
    output,
    problems: problems.map(({ path }) => ({ path, message: "does not fit with what was revealed" })),
    text,
    message: `the answer does not fit output "${output}" with what was revealed`
  })
