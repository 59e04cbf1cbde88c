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
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { AssistantMessage, ToolCall } from "../../../data/Message.ts"
import {
  acceptAnswer,
  acceptForHook,
  type ModelAnswer,
  prepareRequest,
  publishAnswer,
  takeInjections
} from "../../../guard/internal/point/modelCall.ts"
import { openStep } from "../../../guard/internal/state/turnState.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { parkBeforeModel } from "../running/parkRequest.ts"
import { countUse, overLimit, stopAtLimit } from "../running/reachLimit.ts"
import type { ModelTurn } from "../running/turnParts.ts"
import { fitWindow } from "../window/fitWindow.ts"
import { rotate } from "../window/rotate.ts"
import { attemptModel } from "./attemptModel.ts"
import { requestOf } from "./callProvider.ts"
import { withReadableArgs } from "./checkResponse.ts"
import { deliverSteers, settleSteers } from "./steer.ts"
import { showRest } from "./streamModel.ts"

type Failure = AgentError | TurnEnded

/** Calls the model until the hooks accept an answer, and keeps the answer in the turn. */
export const callModel = function*(turn: ModelTurn): Step<LlmResponse, Failure> {
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
    if (!turn.hasHooks("postLlmCall")) return keepAnswer(turn, answer, answer.response)
    const accepted = yield* acceptAnswer(turn, request, answer, retries)
    if (accepted.type === "accepted") return keepAnswer(turn, answer, accepted.response)
    turn.messages.push({ role: "user", content: accepted.feedback, source: accepted.by })
  }
}

/** Keeps an answer that the hooks have accepted. */
const keepAnswer = (turn: ModelTurn, answer: ModelAnswer, response: LlmResponse): LlmResponse => {
  showRest(turn, response.text)
  publishAnswer(turn, answer, response)
  // Hooks may have changed the answer, or answered in place of the model.
  const isRead = answer.executed && response === answer.response && turn.agent.llmWrappers.length === 0
  return keepResponse(turn, response, isRead)
}

/** Runs a model call of a hook. Nothing of it is added to the conversation. */
export const callModelForHook = function*(
  turn: ModelTurn,
  asked: LlmRequest,
  provider: string | undefined
): Step<LlmResponse, Failure> {
  const request = yield* prepareRequest(turn, asked)
  const answer = "response" in request ? request : yield* attemptModel(turn, request, provider)
  return yield* acceptForHook(turn, request, answer)
}

/** Compacts the conversation if necessary, or continues in a fresh session if a hook requested one. */
const makeRoom = function*(turn: ModelTurn): Step<void, Failure> {
  const { window } = turn.agent.config
  if (turn.session.rotation === undefined && window !== undefined) yield* fitWindow(turn, window)
  if (turn.session.rotation !== undefined) yield* rotate(turn)
  // Hooks may have injected text at those points. The model reads it with this request.
  addInjections(turn)
}

/** Moves the texts that hooks injected into the conversation, each as its own message. */
const addInjections = (turn: ModelTurn): void => {
  if (turn.session.injections.length > 0) turn.messages.push(...takeInjections(turn))
}

/** Returns the answer with its tool calls as they are stored. `isRead` says that `readResponse` returned it. */
const keepResponse = (turn: ModelTurn, response: LlmResponse, isRead: boolean): LlmResponse => {
  const { messages, session, state } = turn
  const keepCall = (call: ToolCall, index: number) => withUniqueId(turn, isRead ? call : withReadableArgs(call), index)
  const hasCalls = response.toolCalls.length > 0
  const toolCalls = hasCalls ? response.toolCalls.map(keepCall) : response.toolCalls
  const message = messageOf(response, toolCalls)
  if (hasCalls) openStep(state, message, toolCalls)
  else messages.push(message)
  if (turn.agent.config.window !== undefined && response.usage !== undefined) {
    session.tokens = response.usage.inputTokens + response.usage.outputTokens
    session.countedMessages = messages.length
  }
  return hasCalls ? { ...response, toolCalls } : response
}

const messageOf = (
  { citations, files, metadata, reasoning, text }: LlmResponse,
  toolCalls: ReadonlyArray<ToolCall>
): AssistantMessage => {
  let message: AssistantMessage = { role: "assistant", content: text }
  if (toolCalls.length > 0) message = { role: "assistant", content: text, toolCalls }
  if (reasoning !== undefined) message = { ...message, reasoning }
  if (files !== undefined) message = { ...message, files }
  if (citations !== undefined) message = { ...message, citations }
  if (metadata !== undefined) message = { ...message, metadata }
  return message
}

/**
 * Some vendors leave ids empty or repeat them. In a transcript every id must be unique. An id with a slash would look
 * like the path to a call of a sub-agent, and a decision about one of them would count for both. `__proto__` cannot
 * be the key of an object, as decisions and durable state are.
 */
const withUniqueId = ({ session: { ids }, state }: ModelTurn, call: ToolCall, index: number): ToolCall => {
  let { id } = call
  for (let n = 0; id === "" || id.includes("/") || id === "__proto__" || ids.has(id); n++) {
    id = `call_${state.turnNumber}_${state.stepNumber}_${index}${n === 0 ? "" : `_${n}`}`
  }
  ids.add(id)
  return id === call.id ? call : { ...call, id }
}
