/** Messages from elsewhere: what memory recalls, and what a session begins with. */
import * as Result from "effect/Result"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { type Message, whyInvalid } from "../../../data/Message.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { Turn } from "../turn/turn.ts"

/** Adds messages to the conversation, as the hooks that conceal leave them, when a provider would take them. */
export const admit = (turn: Turn, given: ReadonlyArray<Message>, by: string): void => {
  const concealed = Result.try(() =>
    turn.host.concealers.reduce(
      (messages, hook) => hook.concealMessages!(messages, new Context(turn, hook.name)),
      given
    )
  )
  if (Result.isFailure(concealed)) {
    return turn.warn(`what ${by} gave was left out, concealMessages failed: ${messageOf(concealed.failure)}`, "runtime")
  }
  const { session } = turn
  const messages = concealed.success
  const why = !Array.isArray(messages)
    ? "expected an array of messages"
    : whyInvalid(messages) ?? session.clash(messages)
  if (why !== undefined) return turn.warn(`${by} gave messages that were refused: ${why}`, "runtime")
  session.messages.push(...messages)
  session.admit(messages)
}
