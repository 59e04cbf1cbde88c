/**
 * Streams a model call. Hooks receive every delta before anybody else, and text that a hook buffers is published only
 * when that hook allows it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import { askHooksNow } from "../../../guard/internal/point/askHooks.ts"
import { stopOf } from "../../../guard/internal/state/turnEnd.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import { call, type DeltaSink, type LlmProvider } from "../../../port/LlmProvider.ts"
import type { AgentTurn } from "../running/turnParts.ts"
import { streamTooLong } from "./checkResponse.ts"

type Failure = AgentError | TurnEnded

/** Runs one attempt, streamed if the provider supports it. */
export const streamModel = (
  turn: AgentTurn,
  provider: LlmProvider,
  request: LlmRequest
): Effect.Effect<LlmResponse, Failure> => {
  if (provider.stream === undefined) {
    const answered = call(provider, request)
    return turn.agent.streams ? Effect.flatMap(answered, (response) => checkWhole(turn, response)) : answered
  }
  return turn.agent.streams
    ? streamThroughHooks(turn, provider.name, (sink) => call(provider, request, sink))
    : call(provider, request, (delta) => {
      noteDelta(turn)
      show(turn, delta)
    })
}

/** Notes when the first delta arrived. */
const noteDelta = ({ io }: AgentTurn): void => {
  if (io.firstDeltaAt === undefined && io.hasListeners) io.firstDeltaAt = performance.now()
}

/** Publishes a delta. */
const show = ({ io }: AgentTurn, delta: LlmDelta): void => {
  if (!io.hasDeltaListeners) return
  if (delta.type === "text") {
    io.shownText += delta.text
    io.publish({ type: "text-delta", text: delta.text })
  } else if (delta.type === "reasoning") io.publish({ type: "reasoning-delta", text: delta.text })
  else io.publish({ type: "tool-call-delta", id: delta.id, name: delta.name, argsText: delta.argsText })
}

/**
 * Publishes the part of an accepted answer that listeners have not seen. If the answer differs from what they have
 * seen, that text is retracted and the whole answer is published.
 */
export const showRest = ({ io }: AgentTurn, text: string): void => {
  if (io.shownText !== text && io.hasDeltaListeners) {
    if (!text.startsWith(io.shownText)) io.retract("the answer was changed after it was shown")
    const rest = text.slice(io.shownText.length)
    if (rest !== "") io.publish({ type: "text-delta", text: rest })
  }
  io.shownText = ""
}

/** Runs the `onLlmDelta` hooks for an answer that was not streamed. Its text is one delta. */
const checkWhole = (turn: AgentTurn, response: LlmResponse): Effect.Effect<LlmResponse, Failure> => {
  // An answer without a text is not checked: later steps refuse it, and one that is too large, as a whole.
  const text: unknown = (response as Partial<LlmResponse> | null)?.text
  if (typeof text !== "string" || text === "" || text.length > turn.agent.limits.textLength) {
    return Effect.succeed(response)
  }
  const delta: LlmDelta = { type: "text", text }
  const take = (outcome: Outcome<"onLlmDelta"> | undefined): Effect.Effect<LlmResponse, Failure> => {
    const stop = stopOf("onLlmDelta", outcome)
    if (stop !== undefined) return stop
    const buffer = deltaBuffer(turn)
    buffer.add(delta, outcome?.event ?? delta)
    return Effect.succeed(buffer.complete(response))
  }
  const outcome = askHooksNow(turn, "onLlmDelta", delta)
  return Effect.isEffect(outcome) ? Effect.flatMap(outcome, take) : take(outcome)
}

/** Streams an answer and runs the `onLlmDelta` hooks before listeners receive a delta. */
const streamThroughHooks = (
  turn: AgentTurn,
  provider: string,
  stream: (sink: DeltaSink) => Effect.Effect<LlmResponse, Failure>
): Effect.Effect<LlmResponse, Failure> =>
  Effect.withFiber((fiber) => {
    const cut = Deferred.makeUnsafe<never, Failure>()
    const buffer = deltaBuffer(turn)
    const take = (seen: LlmDelta, outcome: Outcome<"onLlmDelta"> | undefined): void => {
      const stop = stopOf("onLlmDelta", outcome)
      if (stop === undefined) buffer.add(seen, outcome?.event ?? seen)
      else Deferred.doneUnsafe(cut, stop)
    }
    const { limits } = turn.agent
    let streamed = 0
    const sink: DeltaSink = (delta) => {
      if (Deferred.isDoneUnsafe(cut)) return
      noteDelta(turn)
      streamed += delta.type === "tool-call" ? delta.argsText.length : delta.text.length
      if (streamed > limits.textLength) {
        Deferred.doneUnsafe(cut, Effect.fail(streamTooLong(provider, limits)))
        return
      }
      const seen = buffer.withTail(delta)
      const outcome = askHooksNow(turn, "onLlmDelta", seen)
      if (outcome === undefined || !Effect.isEffect(outcome)) return take(seen, outcome)
      const taken = Effect.map(outcome, (found) => take(seen, found))
      const promise = Effect.runPromiseWith(fiber.context)(taken, { signal: turn.io.signal })
      // If a provider does not await the promise, cancelling the turn must not end the process.
      promise.catch(() => {})
      return promise
    }
    // A decision about the last delta may arrive together with the end of the stream. It takes precedence over the
    // response.
    const untilCut = Effect.tap(stream(sink), () => Deferred.isDoneUnsafe(cut) ? Deferred.await(cut) : Effect.void)
    return Effect.map(Effect.raceFirst(untilCut, Deferred.await(cut)), buffer.complete)
  })

/** Buffers the end of the streamed text, as long as hooks require it. */
const deltaBuffer = (turn: AgentTurn) => {
  const sizeFor = bufferSize(turn)
  let tail = ""
  let released = ""
  let isChanged = false
  return {
    /** Returns the delta for the hooks: the buffered text followed by the new text. */
    withTail: (delta: LlmDelta): LlmDelta =>
      delta.type === "text" && tail !== "" ? { type: "text", text: tail + delta.text } : delta,
    /** Takes a delta with the changes of the hooks, and publishes all but the end of its text. */
    add: (seen: LlmDelta, delta: LlmDelta): void => {
      if (delta.type !== "text") return show(turn, delta)
      if (delta !== seen) isChanged = true
      const end = delta.text.length - sizeFor(delta.text)
      released += delta.text.slice(0, end)
      tail = delta.text.slice(end)
      if (end > 0) show(turn, { type: "text", text: delta.text.slice(0, end) })
    },
    /** Returns the response with the text of the changed deltas. */
    complete: (response: LlmResponse): LlmResponse => isChanged ? { ...response, text: released + tail } : response
  }
}

/** The number of characters to buffer of a text: the maximum that any hook requires. */
const bufferSize = (turn: AgentTurn): (text: string) => number => {
  let fixed = 0
  const needs: Array<(text: string) => number> = []
  for (const { hold } of turn.agent.chain.hooks) {
    if (hold === undefined || hold === "none") continue
    if (hold === "untilPass") fixed = Infinity
    else if (hold.from === undefined) fixed = Math.max(fixed, hold.chars)
    else {
      const { chars, from } = hold
      // A function that fails cannot tell, so everything that it may need is kept.
      needs.push((text) => {
        const start = Result.getOrElse(Result.try(() => from(text)), () => Number.NaN)
        if (start < 0) return 0
        return start >= 0 ? Math.min(chars, Math.max(0, text.length - start)) : chars
      })
    }
  }
  return (text) => Math.min(text.length, needs.reduce((most, need) => Math.max(most, need(text)), fixed))
}
