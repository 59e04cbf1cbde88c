/**
 * The model step of a turn:
 * 1. compacts the conversation, or continues in a fresh session
 * 2. saves the session
 * 3. runs the `preLlmCall` hooks
 * 4. calls the model, with retries and fallbacks (`attemptModel`)
 * 5. runs the `postLlmCall` hooks; if one gives feedback, starts again at 1
 * 6. keeps the answer: text is added to the conversation, tool calls open a step
 */
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmRequest, LlmResponse, PostLlmCallEvent } from "../../../data/LlmCall.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { abortOf, hookError, stopOf } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import { parkBeforeModel } from "../running/parkRequest.ts"
import { countUse, overLimit, stopAtLimit } from "../running/reachLimit.ts"
import type { Turn } from "../running/turn.ts"
import { fitWindow } from "../window/fitWindow.ts"
import { rotate } from "../window/rotate.ts"
import { attemptModel } from "./attemptModel.ts"
import { keepResponse } from "./keepResponse.ts"
import { type ModelAnswer, prepareRequest, requestOf } from "./modelRequest.ts"
import { deliverSteers, settleSteers } from "./steer.ts"
import { showRest } from "./streamModel.ts"

type Failure = AgentError | TurnEnded

/** Calls the model until the hooks accept an answer, and keeps the answer in the turn. */
export const callModel = function*(turn: Turn): Step<LlmResponse, Failure> {
  for (let retries = 0;; retries++) {
    const { agent: { config }, session, state } = turn
    const over = overLimit(turn, "steps")
    if (over !== undefined) return yield* stopAtLimit(turn, over, "steps")
    const failing = turn.root.state.failOpens === 0 ? undefined : overLimit(turn, "failOpens")
    if (failing !== undefined) return yield* stopAtLimit(turn, failing, "failOpens")
    countUse(turn, "steps", 1)
    const hasSteers = session.owner !== undefined && session.owner.steers.length > 0
    if (hasSteers) yield* deliverSteers(turn)
    state.stepNumber++
    addInjections(turn)
    if (config.window !== undefined || session.rotation !== undefined) yield* makeRoom(turn)
    if (turn.io.hasStore) yield* turn.io.commit
    if (hasSteers) settleSteers(turn)
    if (turn.isParking) {
      countUse(turn, "steps", -1)
      return yield* parkBeforeModel(turn)
    }
    const asked = requestOf(turn)
    const request = turn.hasHooks("preLlmCall") ? yield* prepareRequest(turn, asked) : asked
    const answer = "response" in request ? request : yield* attemptModel(turn, request)
    const post = turn.hasHooks("postLlmCall")
      ? yield* askHooks(turn, "postLlmCall", eventOf(request, answer))
      : undefined
    const abort = abortOf(post)
    if (abort !== undefined) {
      publishAnswer(turn, answer, undefined)
      return yield* abort
    }
    if (post?.action._tag === "Reject") yield* sendBack(turn, answer, post, retries)
    else {
      const response = post === undefined ? answer.response : post.event.response
      showRest(turn, response.text)
      publishAnswer(turn, answer, response)
      // Hooks may have changed the answer, or answered in place of the model.
      const isRead = answer.executed && response === answer.response && turn.agent.llmWrappers.length === 0
      return keepResponse(turn, response, isRead)
    }
  }
}

/** Runs a model call of a hook. Nothing of it is added to the conversation. */
export const callModelForHook = function*(
  turn: Turn,
  asked: LlmRequest,
  provider: string | undefined
): Step<LlmResponse, Failure> {
  const request = yield* prepareRequest(turn, asked)
  const answer = "response" in request ? request : yield* attemptModel(turn, request, provider)
  const post = yield* askHooks(turn, "postLlmCall", eventOf(request, answer))
  const stop = stopOf("postLlmCall", post)
  if (stop !== undefined) return yield* stop
  return post === undefined ? answer.response : post.event.response
}

/** Compacts the conversation if necessary, or continues in a fresh session if a hook requested one. */
const makeRoom = function*(turn: Turn): Step<void, Failure> {
  const { window } = turn.agent.config
  if (turn.session.rotation === undefined && window !== undefined) yield* fitWindow(turn, window)
  if (turn.session.rotation !== undefined) yield* rotate(turn)
  // Hooks may have injected text at those points. The model reads it with this request.
  addInjections(turn)
}

/** Moves the texts that hooks injected into the conversation, each as its own message. */
const addInjections = ({ messages, session }: Turn): void => {
  if (session.injections.length === 0) return
  for (const { hook, pinned, text } of session.injections) {
    messages.push({ role: "user", content: text, source: hook, ...(pinned === undefined ? {} : { pinned }) })
  }
  session.injections = []
}

const eventOf = (asked: LlmRequest | ModelAnswer, answer: ModelAnswer): PostLlmCallEvent => ({
  request: answer.request ?? ("response" in asked ? asked.request! : asked),
  response: answer.response,
  provider: answer.provider,
  attempt: answer.attempt,
  executed: answer.executed
})

/** Handles an answer that a hook rejected: with feedback, the model is called again; without it, the turn fails. */
const sendBack = function*(
  turn: Turn,
  answer: ModelAnswer,
  post: Outcome<"postLlmCall">,
  retries: number
): Step<void, Failure> {
  const { action, by = "hook", failure } = post
  if (action._tag !== "Reject") return
  turn.io.retract(action.reason)
  publishAnswer(turn, answer, undefined)
  const { feedback, retries: maxRetries = 1 } = action
  if (feedback === undefined || failure !== undefined || retries >= maxRetries) {
    return yield* hookError("postLlmCall", post)
  }
  turn.messages.push({ role: "user", content: feedback, source: by })
}

/** Publishes an answer after the hooks have accepted it. Of a rejected answer, only the cost is published. */
const publishAnswer = ({ io }: Turn, answer: ModelAnswer, accepted: LlmResponse | undefined): void => {
  const { attempt, durationMs, executed, firstDeltaMs, provider, response: { finishReason, id, model, usage } } = answer
  if (!executed || !io.hasListeners) return
  const { text, toolCalls } = accepted ?? { text: "", toolCalls: [] }
  const end = { type: "llm-end", provider, model, attempt, text, toolCalls, finishReason, usage, durationMs } as const
  io.publish({
    ...end,
    ...(id === undefined ? undefined : { responseId: id }),
    ...(firstDeltaMs === undefined ? undefined : { firstDeltaMs })
  })
}
