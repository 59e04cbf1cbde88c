/**
 * A streamed LLM call: every delta passes the hooks before anybody sees it, and held-back text is shown only when it
 * may be.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { ProviderError } from "../../../data/ProviderError.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { DeltaSink, LlmProvider } from "../../../port/LlmProvider.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { rejected } from "../turn/hookError.ts"
import type { Turn } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"

type Failure = AgentError | TurnEnded

/** One attempt, streamed where the provider can. */
export const streamed = (
  turn: Turn,
  provider: LlmProvider,
  request: LlmRequest
): Effect.Effect<LlmResponse, Failure> => {
  if (turn.host.streams) return guarded(turn, provider, request)
  return provider.stream === undefined
    ? provider.complete(request)
    : provider.stream(request, (delta) => show(turn, delta))
}

/** Publishes a delta. */
const show = (turn: Turn, delta: LlmDelta): void => {
  if (!turn.listened) return
  if (delta.type === "text") {
    turn.shown += delta.text
    turn.publish({ type: "text-delta", text: delta.text })
  } else if (delta.type === "reasoning") turn.publish({ type: "reasoning-delta", text: delta.text })
  else turn.publish({ type: "tool-call-delta", id: delta.id, name: delta.name, argsText: delta.argsText })
}

/**
 * Brings what was shown in line with what stands: the held-back rest is shown, or everything is taken back and shown
 * anew.
 */
export const reconcile = (turn: Turn, text: string): void => {
  if (!turn.listened || turn.shown === text) return
  if (!text.startsWith(turn.shown)) turn.retract("the answer was changed after it was shown")
  const rest = text.slice(turn.shown.length)
  if (rest !== "") turn.publish({ type: "text-delta", text: rest })
}

const guarded = (turn: Turn, provider: LlmProvider, request: LlmRequest): Effect.Effect<LlmResponse, Failure> =>
  Effect.withFiber((fiber) => {
    const cut = Deferred.makeUnsafe<never, Failure>()
    const hold = holdOf(turn)
    let tail = ""
    let released = ""
    let changed = false

    /** Shows what the hooks let through, but for the last `hold` characters of text. */
    const pass = (seen: LlmDelta, delta: LlmDelta): void => {
      if (delta.type !== "text") return show(turn, delta)
      if (delta !== seen) changed = true
      const end = Math.max(0, delta.text.length - hold)
      released += delta.text.slice(0, end)
      tail = delta.text.slice(end)
      if (end > 0) show(turn, { type: "text", text: delta.text.slice(0, end) })
    }
    const settle = (seen: LlmDelta, outcome: Outcome<"onLlmDelta"> | undefined): void => {
      if (outcome?.action._tag === "Reject") Deferred.doneUnsafe(cut, Effect.fail(rejected("onLlmDelta", outcome)))
      else if (outcome?.action._tag === "Abort") {
        Deferred.doneUnsafe(cut, ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! }))
      } else pass(seen, outcome?.event ?? seen)
    }
    const sink: DeltaSink = (delta) => {
      if (Deferred.isDoneUnsafe(cut)) return
      const seen = delta.type === "text" && tail !== "" ? { type: "text" as const, text: tail + delta.text } : delta
      const outcome = turn.fold("onLlmDelta", seen)
      if (outcome === undefined || !Effect.isEffect(outcome)) return settle(seen, outcome)
      return Effect.runPromiseWith(fiber.context)(Effect.map(outcome, (found) => settle(seen, found)), {
        signal: turn.signal
      })
    }
    const act: Effect.Effect<LlmResponse, ProviderError> = provider.stream !== undefined
      ? provider.stream(request, sink)
      : Effect.tap(
        provider.complete(request),
        ({ text }) => Effect.promise(async () => text === "" ? undefined : sink({ type: "text", text }))
      )
    return Effect.map(
      // A verdict on the last delta comes with the end of the stream: it counts before the response does.
      Effect.raceFirst(
        Effect.tap(act, () => Deferred.isDoneUnsafe(cut) ? Deferred.await(cut) : Effect.void),
        Deferred.await(cut)
      ),
      (response) => changed ? { ...response, text: released + tail } : response
    )
  })

/** How many characters are held back: the most that any hook asks for. */
const holdOf = (turn: Turn): number => {
  const wishes = turn.host.chain.hooks.map(({ hold }) =>
    hold === undefined || hold === "none" ? 0 : hold === "untilPass" ? Infinity : Math.max(0, hold.chars)
  )
  return Math.max(0, ...wishes)
}
