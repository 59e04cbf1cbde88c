/**
 * Rotation: continues a conversation in a fresh session when its session is full. The order is fixed:
 * 1. from the request for a rotation on, replaces large results by references (`limitLoad`)
 * 2. runs the `preCompaction` hooks and makes the handoff, a shorter conversation
 * 3. copies the handoff and the artifacts to the new session
 * 4. runs the `onSessionEnd` hooks with reason `rotate`
 * 5. starts the new session and runs the `onSessionStart` hooks with the handoff
 * 6. runs the `postCompaction` hooks
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { refOf } from "../../../data/Artifact.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import type { Message } from "../../../data/Message.ts"
import { defined } from "../../../data/option/Fields.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { failure, type ToolResult } from "../../../data/tool/Tool.ts"
import { notifyHooks } from "../../../guard/internal/point/askHooks.ts"
import { enterPhase } from "../../../guard/internal/state/turnState.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { nextOf } from "../../../port/Erasure.ts"
import type { WindowTurn } from "../running/turnParts.ts"
import { shorten } from "./compact.ts"
import { noteWindowLevel } from "./fitWindow.ts"
import { askStartHooks } from "./startSession.ts"
import { tokensOf } from "./tokens.ts"

type Failure = AgentError | TurnEnded

/** The longest tool result, in characters, that is still added to the conversation while a rotation is due. */
const maxLoad = 4_000

/** Rotates, if the conversation can be made shorter. */
export const rotate = function*(turn: WindowTurn): Step<void, Failure> {
  const before = turn.session
  before.rotation = undefined
  const shortened = yield* shorten(turn, "rotation")
  if (shortened === undefined) {
    return turn.io.warn("the session cannot be rotated: it cannot be made shorter", "runtime")
  }
  const { budget, result: { messages, summary } } = shortened
  const after = before.successor(nextOf(before.id))
  yield* keepHandoff(turn, summary, after.id)
  turn.io.publish({ type: "rotation", step: "handoff", from: before.id, to: after.id })
  yield* endSession(turn, after.id)
  turn.moveTo(after)
  yield* startSession(turn, before.id, messages)
  const keptCount = after.messages.filter((message) => before.messages.includes(message)).length
  const removedCount = before.messages.length - keptCount
  turn.io.publish({ type: "compaction", removedCount, summary })
  const event = {
    removedCount,
    summary,
    budget: { ...budget, usedTokens: tokensOf(turn) },
    trigger: "rotation"
  } as const
  yield* notifyHooks(turn, "postCompaction", event)
  noteWindowLevel(turn)
}

const about = { by: "runtime", mimeType: "text/markdown" }

/** Stores the handoff as an artifact, and copies the artifacts to which the conversation refers. */
const keepHandoff = (
  { agent: { artifacts }, io, session }: WindowTurn,
  summary: string,
  to: string
): Effect.Effect<void> =>
  Effect.catchCause(
    Effect.andThen(
      portEffect("write of artifacts", () => artifacts.write(session.id, "hook:handoff", summary, about)),
      portEffect("copy of artifacts", () => artifacts.copy(session.id, to))
    ),
    (cause) =>
      Effect.sync(() => {
        const why = messageOf(Cause.squash(cause))
        io.warn(`the handoff and the artifacts of ${session.id} could not be copied: ${why}`, "runtime")
      })
  )

/** Ends the old session in the store. The turn itself continues. */
const endSession = function*(turn: WindowTurn, next: string): Step<void, Failure> {
  const { phase } = turn.state
  turn.session.movedTo = phase === "ended" ? { to: next } : { to: next, phase }
  enterPhase(turn.state, "ended")
  if (turn.io.hasStore) yield* turn.io.commit
  enterPhase(turn.state, phase)
  yield* notifyHooks(turn, "onSessionEnd", { sessionId: turn.session.id, reason: "rotate" })
  turn.io.publish({ type: "session-end", reason: "rotate" })
}

const startSession = function*(
  turn: WindowTurn,
  previous: string,
  messages: ReadonlyArray<Message>
): Step<void, Failure> {
  const windowTokens = turn.agent.config.window?.tokens
  const event = {
    sessionId: turn.session.id,
    source: "rotate",
    previous,
    ...defined({ windowTokens }),
    context: messages
  } as const
  turn.session.replaceMessages(messages)
  const outcome = turn.hasHooks("onSessionStart") ? yield* askStartHooks(turn, event) : undefined
  if (outcome !== undefined) turn.rewrite(outcome.event.context, outcome.by ?? "runtime")
  turn.io.publish({ type: "session-start", source: "rotate" })
}

/**
 * Returns the content of a tool's result for the conversation. While a rotation is due, a large result is replaced by a
 * reference.
 */
export const limitLoad = (turn: WindowTurn, callId: string, result: ToolResult): ToolResult => {
  if (turn.session.root.rotation === undefined || turn.depth > 0 || !result.ok) return result
  const content = typeof result.output === "string" ? result.output : JSON.stringify(result.output)
  if (content.length <= maxLoad) return result
  const key = `hook:load/${callId}`
  turn.io.keepArtifact(key, content, callId)
  const reference = refOf(key)
  return failure(
    `the context is nearly full: this result of ${content.length} characters was not loaded. It is ${reference}`
  )
}
