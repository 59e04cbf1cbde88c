/** The text of a result as only the user gets it: `revealText` hooks put confidential values back in. */
import * as Result from "effect/Result"
import { OutputMismatch } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { Turn } from "./turn.ts"

/** The text for the user. A hook that breaks reveals nothing. */
export const revealText = (turn: Turn, text: string): string =>
  revealersOf(turn).reduce((known, hook) => {
    const made = Result.try(() => hook.revealText!(known, new Context(turn.scope, hook.name)))
    if (Result.isSuccess(made) && typeof made.success === "string") return made.success
    const why = Result.isFailure(made) ? messageOf(made.failure) : "it did not return a string"
    turn.io.warn(`revealText failed: ${why}`, hook.name)
    return known
  }, text)

/** A sub-agent's answer goes to a model, not to the user: only its own hooks reveal something to it. */
const revealersOf = ({ agent: { revealers }, parent }: Turn): ReadonlyArray<AgentHook<never>> =>
  parent === undefined ? revealers : revealers.filter((hook) => !parent.agent.chain.hooks.includes(hook))

/** The same for JSON, string by string: a revealed value cannot change the JSON around it. */
export const revealJson = (turn: Turn, text: string): string => {
  let isChanged = false
  const read = Result.try(() =>
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== "string") return value
      const known = revealText(turn, value)
      isChanged ||= known !== value
      return known
    }) as unknown
  )
  return isChanged && Result.isSuccess(read) ? JSON.stringify(read.success) : text
}

/** A mismatch without the messages of the schema, which could quote what was revealed. */
export const withoutRevealed = ({ output, problems }: OutputMismatch, text: string): OutputMismatch =>
  new OutputMismatch({
    output,
    problems: problems.map(({ path }) => ({ path, message: "does not fit with what was revealed" })),
    text,
    message: `the answer does not fit output "${output}" with what was revealed`
  })
