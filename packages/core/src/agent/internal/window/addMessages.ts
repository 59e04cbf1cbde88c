/** Adds messages that come from memory, or that a session starts with, to a conversation. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Message, whyInvalid } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/**
 * Adds the messages, with the changes of the `concealMessages` hooks. If a provider would refuse the conversation, the
 * messages are left out.
 */
export const addMessages = (
  turn: AgentTurn,
  given: ReadonlyArray<Message>,
  by: string,
  concealers = turn.agent.concealers
): void => {
  const { io, session } = turn
  const concealed = Result.try(() =>
    concealers.reduce(
      (messages, hook) => hook.concealMessages!(messages, new Context(turn.scope, hook.name)),
      given
    )
  )
  if (Result.isFailure(concealed)) {
    const why = messageOf(concealed.failure)
    return io.warn(`the messages of ${by} were left out, concealMessages failed: ${why}`, "runtime")
  }
  const messages = concealed.success
  const why = Array.isArray(messages)
    ? whyNotMessages(messages) ?? whyInvalid(messages) ?? session.findIdClash(messages)
    : "expected an array of messages"
  if (why !== undefined) return io.warn(`${by} gave messages that were refused: ${why}`, "runtime")
  // A spread of very many would not fit on the stack.
  for (const message of messages) session.messages.push(message)
  session.addIds(messages)
}

const decode = Schema.decodeUnknownResult(Schema.Array(Message))

/** Messages may come from a store, or from a program without types. */
const whyNotMessages = (messages: ReadonlyArray<unknown>): string | undefined => {
  const decoded = decode(messages)
  return Result.isFailure(decoded) ? messageOf(decoded.failure) : undefined
}
