/** Makes the text for the user: `revealText` hooks put confidential values back in. */
import * as Result from "effect/Result"
import { OutputMismatch } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { GuardTurn } from "./guardTurn.ts"

/** Returns the text for the user. A hook that fails reveals nothing. */
export const revealText = (turn: GuardTurn, text: string): string =>
  revealersOf(turn).reduce((known, hook) => {
    const made = Result.try(() => hook.revealText!(known, new Context(turn.scope, hook.name)))
    if (Result.isSuccess(made) && typeof made.success === "string") return made.success
    const why = Result.isFailure(made) ? messageOf(made.failure) : "it did not return a string"
    turn.io.warn(`revealText failed: ${why}`, hook.name)
    return known
  }, text)

/**
 * The answer of a sub-agent goes to a model, not to the user, so only the hooks of the sub-agent reveal values in it.
 */
const revealersOf = ({ agent: { revealers }, parent }: GuardTurn): ReadonlyArray<AgentHook<never>> =>
  parent === undefined ? revealers : revealers.filter((hook) => !parent.agent.chain.hooks.includes(hook))

/** Does the same for JSON, string by string, so that a revealed value cannot change the JSON around it. */
export const revealJson = (turn: GuardTurn, text: string): string => {
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

/** Makes the error without the messages of the schema, which could quote revealed values. */
export const withoutRevealed = ({ output, problems }: OutputMismatch, text: string): OutputMismatch =>
  new OutputMismatch({
    output,
    problems: problems.map(({ path }) => ({ path, message: "does not fit after values were revealed" })),
    text,
    message: `the answer does not fit output "${output}" with what was revealed`
  })
