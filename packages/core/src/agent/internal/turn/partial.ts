/** Adds to the error of a turn what the turn had said and spent before. */
import * as Context from "effect/Context"
import { type AgentError, HookFailed, HookRejected } from "../../../data/AgentError.ts"
import { copyError } from "../../../data/internal/copyError.ts"
import type { Message } from "../../../data/Message.ts"
import { isProviderError } from "../../../data/ProviderError.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { TurnPartial } from "../../../data/TurnPartial.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/** Receives what a cancelled turn had done, because an interruption has no error to which it can be added. */
export const CancelledTurn = Context.Reference<{ partial?: TurnPartial } | undefined>("@belay/core/CancelledTurn", {
  defaultValue: () => undefined
})

/** Returns the error with `partial`. Other turns may fail with the same error, so it is not changed. */
export const withPartial = (turn: AgentTurn, error: AgentError): AgentError =>
  turn.parent === undefined ? copyError(error, { partial: partialOf(turn, error) }) : error

/** Notes what a cancelled turn had done. */
export const noteCancelled = (turn: AgentTurn): void => {
  const { io: { services }, parent } = turn
  const cancelled = services === undefined || parent !== undefined ? undefined : Context.get(services, CancelledTurn)
  if (cancelled !== undefined) cancelled.partial = partialOf(turn)
}

/**
 * Returns the reason of a cancellation with `partial`. Only an object can have it. A reason that already cancelled
 * another turn becomes the cause of a new error.
 */
export const reasonWithPartial = (reason: unknown, partial: TurnPartial | undefined): unknown => {
  if (partial === undefined || typeof reason !== "object" || reason === null) return reason
  const isFree = Object.isExtensible(reason) && !("partial" in reason)
  const error = isFree ? reason : new Error(messageOf(reason), { cause: reason })
  if (!isFree && reason instanceof Error) Object.defineProperty(error, "name", { value: reason.name })
  return Object.defineProperty(error, "partial", { value: partial, enumerable: true })
}

/** Errors are often logged, so confidential values are not revealed in them. */
const partialOf = (turn: AgentTurn, error?: AgentError): TurnPartial => ({
  text: textBefore(turn, error),
  ...turn.spent,
  messages: turn.messages.slice()
})

const textBefore = (turn: AgentTurn, error: AgentError | undefined): string => {
  const { agent: { streams }, io: { shownText }, messages, state: { input, phase } } = turn
  // The last text is that of an earlier turn.
  if (phase === "start") return ""
  const isHookError = error instanceof HookRejected || error instanceof HookFailed
  if (isHookError && error.point === "postTurn") return ""
  // Hooks that check deltas have not seen the whole text of the provider.
  const arrived = isProviderError(error) && !streams ? error.partial?.text ?? shownText : shownText
  if (arrived !== "") return arrived
  const last = messages.findLast((message) =>
    (message.role === "assistant" && message.content !== "") || isInput(message, input)
  )
  return last?.role === "assistant" ? last.content : ""
}

/** Whether the turn began with this message. Messages that reached the running turn are others. */
const isInput = (message: Message, { message: text }: TurnInput): boolean => {
  if (message.role !== "user" || message.source !== undefined) return false
  const { content } = message
  return content === text || (typeof content === "object" && content[0]?.type === "text" && content[0].text === text)
}
