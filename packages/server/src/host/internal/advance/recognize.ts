/** Finds out what the conversation knows about a message whose outcome was not stored. */
import type { Message } from "@belay/core/Message"
import type { PendingAsk, RunState } from "@belay/core/RunState"
import { afterRotation, type SessionStore } from "@belay/core/SessionStore"
import { type Waiting, waitingOf } from "@belay/core/Waiting"
import * as Effect from "effect/Effect"
import type { Outcome } from "../../Outcome.ts"

/** Loads the state of a session, also if it continues under another id. */
export const loadState = (
  sessions: SessionStore,
  id: string,
  before: ReadonlyArray<string> = []
): Effect.Effect<RunState | undefined, unknown> =>
  Effect.flatMap(sessions.load(id), (state) => {
    // It is checked when it is used as a session.
    const { from, to } = Object(Object(state).movedTo) as Partial<NonNullable<RunState["movedTo"]>>
    // A session that leads back to itself was changed by somebody. It counts as not moved.
    const isMoved = from === id && to !== undefined && to !== id && !before.includes(to)
    if (!isMoved || state === undefined) return Effect.succeed(state)
    return Effect.map(loadState(sessions, to, [...before, id]), (next) => next ?? afterRotation(state))
  })

/** Whether another process has continued a session since this one opened it, which then waited for `seen`. */
export const isSuperseded = (seen: Waiting, state: RunState): boolean => !isSameWaiting(seen, waitingOf(state))

const isSameWaiting = (one: Waiting, other: Waiting): boolean =>
  one.type === "nothing" || other.type === "nothing"
    ? one.type === other.type
    : one.type === other.type && one.turnNumber === other.turnNumber && asksSame(one.pending, other.pending)

/** Whether two lists have the same questions. */
export const asksSame = (one: ReadonlyArray<PendingAsk>, other: ReadonlyArray<PendingAsk>): boolean =>
  one.length === other.length &&
  one.every(({ callId, fingerprint }, index) =>
    callId === other[index]?.callId && fingerprint === other[index]?.fingerprint
  )

/** Whether the conversation has the message with this key. */
export const hasMessage = ({ messages }: RunState, key: string): boolean => indexOf(messages, key) >= 0

const indexOf = (messages: ReadonlyArray<Message>, key: string): number =>
  messages.findLastIndex((message) => message.role === "user" && message.key === key)

/** Returns the outcome of a turn, or nothing if no turn of this message was ever stored or if it has not ended. */
export const outcomeOf = (state: RunState, key: string): Outcome | undefined => {
  const isLast = state.input.key === key
  const from = indexOf(state.messages, key)
  if (!isLast && from < 0) return undefined
  const { counts: _counts, messages, turnNumber, usage } = state
  const waiting = waitingOf(state)
  if (isLast && waiting.type === "limit") {
    const { limit, max, used } = waiting
    return { status: "limited", turnNumber, text: "", usage, limit, used, max }
  }
  if (isLast && waiting.type !== "nothing") return undefined
  const answer = isLast ? messages.at(-1) : answerAfter(messages, from)
  if (answer?.role !== "assistant" || answer.toolCalls !== undefined) return lost
  return { status: "completed", turnNumber, text: answer.content, usage: isLast ? usage : noUsage }
}

const noUsage = { inputTokens: 0, outputTokens: 0 }

/** Returns the last answer before the next message of the host. */
const answerAfter = (messages: ReadonlyArray<Message>, from: number): Message | undefined => {
  const end = messages.findIndex((message, index) =>
    index > from && message.role === "user" && message.key !== undefined
  )
  return messages.slice(from, end < 0 ? undefined : end)
    .findLast((message) => message.role === "assistant" && message.toolCalls === undefined)
}

/** What is known of a turn that has ended without an answer, whose outcome was not stored. */
const lost: Outcome = {
  status: "failed",
  error: {
    _tag: "OutcomeLost",
    message: "the turn ended without an answer, and its process ended before the reason was stored: " +
      "read the messages of the session, and send the message again with another key if it still matters"
  }
}
