/** The points of a model call, as a driver passes them on. */
import * as Effect from "effect/Effect"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import { whyInvalid } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import * as Usage from "../../../data/Usage.ts"
import type { GivenAnswer } from "../../Driver.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { ModelAnswerVerdict, ModelDeltaVerdict, ModelRequestVerdict } from "../../Verdict.ts"
import { askHooks } from "../point/askHooks.ts"
import {
  acceptAnswer,
  failedModelWrap,
  type ModelAnswer,
  prepareRequest,
  publishAnswer,
  takeInjections
} from "../point/modelCall.ts"
import { wrapAct } from "../point/wrapAct.ts"
import { abortOf, stopOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import type { Bare, Conversation, Failure } from "./conversation.ts"
import { withPlaced } from "./keptState.ts"
import type { SessionTurn } from "./sessionTurn.ts"

/** The request of the driver with the changes of the hooks, or the answer of a hook. */
const prepare = function*(
  conversation: Conversation,
  asked: LlmRequest
): Step<LlmRequest | ModelAnswer, AgentError | TurnEnded> {
  const turn = yield* conversation.turn()
  const given = yield* endStep(conversation, turn, asked.messages)
  turn.state.stepNumber++
  const messages = withPlaced(conversation.session, given, takeInjections(turn))
  const request = messages === asked.messages ? asked : { ...asked, messages }
  return turn.hasHooks("preLlmCall") ? yield* prepareRequest(turn, request) : request
}

/**
 * Runs the `postStep` hooks when the results of a step go to the model. They may end the turn, or rewrite the history
 * for this request.
 */
const endStep = function*(
  conversation: Conversation,
  turn: SessionTurn,
  messages: LlmRequest["messages"]
): Step<LlmRequest["messages"], TurnEnded> {
  const isEnd = turn.state.toolCalls > conversation.toolCallsSeen
  conversation.toolCallsSeen = turn.state.toolCalls
  if (!isEnd || !turn.hasHooks("postStep")) return messages
  const budget = { usedTokens: 0, windowTokens: 0 }
  const outcome = yield* askHooks(turn, "postStep", { messages, usage: turn.state.usage, budget })
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  const rewritten = outcome?.event.messages ?? messages
  const why = rewritten === messages ? undefined : whyInvalid(rewritten)
  if (why === undefined) return rewritten
  turn.io.warn(`the new history was refused: ${why}`, outcome?.by ?? "hook")
  return messages
}

/** Before the model is asked. */
export const modelRequest = function*(
  conversation: Conversation,
  asked: LlmRequest
): Step<Bare<ModelRequestVerdict>, Failure> {
  const prepared = yield* prepare(conversation, asked)
  const turn = yield* conversation.turn()
  if (!("response" in prepared)) {
    conversation.request = prepared
    return { type: "allow", request: prepared }
  }
  const accepted = yield* accept(conversation, turn, prepared, prepared)
  return accepted.type === "again"
    // The hook that answered is asked about its own answer: sending it back would give the same one.
    ? { type: "deny", reason: accepted.feedback, by: accepted.by }
    : { type: "respond", response: accepted.response }
}

/** After the model has answered. */
export const modelAnswer = function*(
  conversation: Conversation,
  { provider = "model", request = conversation.request, response }: GivenAnswer
): Step<Bare<ModelAnswerVerdict>, Failure> {
  const turn = yield* conversation.turn()
  const asked = request ?? emptyRequest
  const answer: ModelAnswer = { response, provider, attempt: 1, executed: true, durationMs: 0, request: asked }
  count(turn, response)
  const accepted = yield* accept(conversation, turn, asked, answer)
  return accepted.type === "again" ? accepted : { type: "allow", response: accepted.response }
}

const emptyRequest: LlmRequest = Object.freeze({ messages: [], tools: [], parameters: {} })

const count = ({ state }: SessionTurn, { model, usage }: LlmResponse): void => {
  state.llmCalls++
  state.cost.begin()
  state.cost.end(model, usage)
  if (usage !== undefined) state.usage = Usage.add(state.usage, usage)
}

const accept = function*(
  conversation: Conversation,
  turn: SessionTurn,
  request: LlmRequest | ModelAnswer,
  answer: ModelAnswer
): ReturnType<typeof acceptAnswer> {
  const accepted = turn.hasHooks("postLlmCall")
    ? yield* acceptAnswer(turn, request, answer, conversation.retries)
    : { type: "accepted", response: answer.response } as const
  conversation.retries = accepted.type === "again" ? conversation.retries + 1 : 0
  if (accepted.type === "accepted") publishAnswer(turn, answer, accepted.response)
  return accepted
}

/** A piece of a streamed answer. */
export const modelDelta = function*(
  conversation: Conversation,
  delta: LlmDelta
): Step<Bare<ModelDeltaVerdict>, Failure> {
  const turn = yield* conversation.turn()
  const outcome = turn.hasHooks("onLlmDelta") ? yield* askHooks(turn, "onLlmDelta", delta) : undefined
  const stop = stopOf("onLlmDelta", outcome)
  if (stop !== undefined) return yield* stop
  const passed = outcome?.event ?? delta
  if (passed.type === "text") turn.io.publish({ type: "text-delta", text: passed.text })
  return { type: "allow", delta: passed }
}

/** The error of a model call, until the hooks that wrap it have seen it. */
class CallFailed extends PortFailed {}

/** Asks the model inside the hooks, until they accept an answer. */
export const callModel = function*(
  conversation: Conversation,
  asked: LlmRequest,
  call: (request: LlmRequest) => PromiseLike<LlmResponse>
): Step<Bare<Exclude<ModelAnswerVerdict, { readonly type: "again" }>>, Failure> {
  for (let request = asked;;) {
    const prepared = yield* prepare(conversation, request)
    const turn = yield* conversation.turn()
    const answer = "response" in prepared ? prepared : yield* askModel(turn, prepared, call)
    if (answer.executed) count(turn, answer.response)
    const accepted = yield* accept(conversation, turn, prepared, answer)
    if (accepted.type === "accepted") return { type: "allow", response: accepted.response }
    const { by, feedback } = accepted
    request = { ...request, messages: [...request.messages, { role: "user", content: feedback, source: by }] }
  }
}

const askModel = function*(
  turn: SessionTurn,
  request: LlmRequest,
  call: (request: LlmRequest) => PromiseLike<LlmResponse>
): Step<ModelAnswer, Failure> {
  const act = (one: LlmRequest) =>
    Effect.tryPromise({
      try: async () => await call(one),
      catch: (cause) => new CallFailed({ port: "model", message: messageOf(cause), cause })
    })
  const startedAt = performance.now()
  turn.io.publish({ type: "llm-start", provider: "model", model: request.model, attempt: 1 })
  const wrapped = wrapAct<LlmRequest, LlmResponse>({
    turn,
    method: "wrapLlmCall",
    hooks: turn.agent.llmWrappers,
    failed: failedModelWrap("model"),
    act
  })
  const response = yield* wrapped(request)
  const durationMs = performance.now() - startedAt
  return { response, provider: response.model, attempt: 1, executed: true, durationMs, request }
}

/** The error with which the driver's own call failed, if it is one. */
export const ownErrorOf = (error: unknown): { readonly cause: unknown } | undefined =>
  error instanceof CallFailed ? { cause: error.cause } : undefined
