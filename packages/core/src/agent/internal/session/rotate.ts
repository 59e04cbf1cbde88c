/**
 * Going on in a fresh session when this one is full. The order is fixed: large loads are refused, preCompaction, the
 * handoff is kept, onSessionEnd(rotate),
 * the new session, onSessionStart with the handoff, postCompaction.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { refOf } from "../../../data/Artifact.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { failure, type ToolResult } from "../../../data/Tool.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { rejected } from "../turn/hookError.ts"
import type { Turn } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"
import { note, shortened, used } from "./compact.ts"
import { Session } from "./session.ts"

/** Characters of a tool's result that still fit while a rotation is due. */
const maxLoad = 4_000

/** Goes on in a fresh session, where the conversation can be made shorter at all. */
export const rotate = function*(turn: Turn): Effect.fn.Return<void, AgentError | TurnEnded> {
  const before = turn.session
  before.rotation = undefined
  const short = yield* shortened(turn, "rotation")
  if (short === undefined) return turn.warn("the session cannot be rotated: there is nothing to hand over", "runtime")
  const { budget, result: { messages, summary } } = short
  const after = new Session(nextId(before.id), {
    messages: [],
    state: before.state.snapshot(),
    turnNumber: before.turnNumber,
    injections: before.injections,
    ...(before.hasDurable ? { durable: before.durable.snapshot() } : {}),
    source: "rotate"
  })
  yield* kept(turn, summary, after.id)
  turn.publish({ type: "rotation", step: "handoff", from: before.id, to: after.id })

  const { phase } = turn
  turn.phase = "ended"
  if (turn.host.config.store !== undefined) yield* turn.save()
  turn.phase = phase
  const ending = turn.fold("onSessionEnd", { sessionId: before.id, reason: "rotate" })
  if (ending !== undefined && Effect.isEffect(ending)) yield* ending
  turn.publish({ type: "session-end", reason: "rotate" })

  turn.move(after)
  const folded = turn.fold("onSessionStart", {
    sessionId: after.id,
    source: "rotate",
    previous: before.id,
    context: messages
  })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  after.replace(messages)
  if (outcome?.action._tag === "Reject") return yield* rejected("onSessionStart", outcome)
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  if (outcome !== undefined) turn.rewrite(outcome.event.context, outcome.by ?? "runtime")
  turn.publish({ type: "session-start", source: "rotate" })

  const removedCount = before.messages.length -
    after.messages.filter((message) => before.messages.includes(message)).length
  turn.publish({ type: "compaction", removedCount, summary })
  const end = turn.fold("postCompaction", {
    removedCount,
    summary,
    budget: { ...budget, usedTokens: used(turn) },
    trigger: "rotation"
  })
  if (end !== undefined && Effect.isEffect(end)) yield* end
  note(turn)
}

/**
 * Keeps the handoff where a hook, a tool or a person finds it, and takes the artifacts along, to which the conversation
 * refers.
 */
const kept = (turn: Turn, summary: string, to: string): Effect.Effect<void> => {
  const { host: { artifacts }, session } = turn
  return Effect.catchCause(
    Effect.andThen(
      artifacts.write(session.id, "hook:handoff", summary, { by: "runtime", mimeType: "text/markdown" }),
      artifacts.copy(session.id, to)
    ),
    (cause) =>
      Effect.sync(() =>
        turn.warn(
          `the handoff and the artifacts of ${session.id} could not be taken along: ${messageOf(Cause.squash(cause))}`,
          "runtime"
        )
      )
  )
}

/** `s`, `s-r2`, `s-r3`. */
const nextId = (id: string): string => {
  const [, base = id, count = "1"] = /^(.*)-r(\d+)$/.exec(id) ?? []
  return `${base}-r${Number(count) + 1}`
}

/** Lets a tool's result in, or, while a rotation is due, a reference to it. */
export const load = (turn: Turn, callId: string, result: ToolResult): ToolResult => {
  if (turn.session.root.rotation === undefined || !result.ok) return result
  const content = typeof result.output === "string" ? result.output : JSON.stringify(result.output)
  if (content.length <= maxLoad) return result
  const key = `hook:load/${callId}`
  turn.keep(key, content, callId)
  return failure(
    `the context is nearly full: this result of ${content.length} characters was not loaded. It is ${refOf(key)}`
  )
}
