/** Runs the hooks before and after a model call. */
import * as Effect from "effect/Effect"
import { type AgentError, HookRejected } from "../../../data/AgentError.ts"
import type { LlmRequest, LlmResponse, PostLlmCallEvent } from "../../../data/LlmCall.ts"
import type { Message } from "../../../data/Message.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { abortOf, hookError, stopOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"
import type { FailedWrap } from "./wrapAct.ts"

type Failure = AgentError | TurnEnded

/** The answer of the model, or of a hook that answered instead. */
export interface ModelAnswer {
  readonly response: LlmResponse
  readonly provider: string
  readonly attempt: number
  /** False when a hook answered. */
  readonly executed: boolean
  /** How long the call took; 0 if there are no listeners. */
  readonly durationMs: number
  /** How long the first delta of a streamed answer took. Absent if there are no listeners. */
  readonly firstDeltaMs?: number
  /** The request that was answered, if it is not the original one. */
  readonly request?: LlmRequest
}

/** Runs the `preLlmCall` hooks. Returns the request with their changes, or the answer of a hook. */
export const prepareRequest = function*(
  turn: GuardTurn,
  asked: LlmRequest
): Step<LlmRequest | ModelAnswer, AgentError | TurnEnded> {
  const outcome = yield* askHooks(turn, "preLlmCall", asked)
  if (outcome === undefined) return asked
  const stop = stopOf("preLlmCall", outcome)
  if (stop !== undefined) return yield* stop
  const { action, by = "hook", event } = outcome
  return action._tag === "Respond"
    ? { request: event, response: action.output, provider: by, attempt: 0, executed: false, durationMs: 0 }
    : event
}

/** Moves the texts that hooks injected into messages, in their order. */
export const takeInjections = ({ session }: GuardTurn): ReadonlyArray<Message> => {
  if (session.injections.length === 0) return []
  const taken = session.injections.map(({ hook, pinned, text }): Message => ({
    role: "user",
    content: text,
    source: hook,
    ...(pinned === undefined ? {} : { pinned })
  }))
  session.injections = []
  return taken
}

const eventOf = (asked: LlmRequest | ModelAnswer, answer: ModelAnswer): PostLlmCallEvent => ({
  request: answer.request ?? ("response" in asked ? asked.request! : asked),
  response: answer.response,
  provider: answer.provider,
  attempt: answer.attempt,
  executed: answer.executed
})

/** The hooks' decision about an answer: the accepted one, or that the model has to answer again. */
export type Accepted =
  | { readonly type: "accepted"; readonly response: LlmResponse }
  | { readonly type: "again"; readonly feedback: string; readonly by: string }

/** Runs the `postLlmCall` hooks. `retries` counts how often this answer was sent back. */
export const acceptAnswer = function*(
  turn: GuardTurn,
  request: LlmRequest | ModelAnswer,
  answer: ModelAnswer,
  retries: number
): Step<Accepted, Failure> {
  const post = yield* askHooks(turn, "postLlmCall", eventOf(request, answer))
  const abort = abortOf(post)
  if (abort !== undefined) {
    publishAnswer(turn, answer, undefined)
    return yield* abort
  }
  if (post?.action._tag === "Reject") return yield* sendBack(turn, answer, post, retries)
  return { type: "accepted", response: post === undefined ? answer.response : post.event.response }
}

/** Runs the `postLlmCall` hooks for a call that a hook makes. Its answer is not sent back. */
export const acceptForHook = function*(
  turn: GuardTurn,
  request: LlmRequest | ModelAnswer,
  answer: ModelAnswer
): Step<LlmResponse, Failure> {
  const post = yield* askHooks(turn, "postLlmCall", eventOf(request, answer))
  const stop = stopOf("postLlmCall", post)
  if (stop !== undefined) return yield* stop
  return post === undefined ? answer.response : post.event.response
}

/** Handles an answer that a hook rejected: with feedback, the model is called again; without it, the turn fails. */
const sendBack = function*(
  turn: GuardTurn,
  answer: ModelAnswer,
  post: Outcome<"postLlmCall">,
  retries: number
): Step<Accepted, Failure> {
  const { action, by = "hook", failure } = post
  turn.io.retract("reason" in action ? action.reason : "")
  publishAnswer(turn, answer, undefined)
  const { feedback, retries: maxRetries = 1 } = action._tag === "Reject" ? action : {}
  if (feedback === undefined || failure !== undefined || retries >= maxRetries) {
    return yield* hookError("postLlmCall", post)
  }
  return { type: "again", feedback, by }
}

/** Publishes an answer after the hooks have accepted it. Of a rejected answer, only the cost is published. */
export const publishAnswer = ({ io }: GuardTurn, answer: ModelAnswer, accepted: LlmResponse | undefined): void => {
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

/** Fails the call because a `wrapLlmCall` hook failed or rejected it. */
export const failedModelWrap = (provider: string): FailedWrap<LlmResponse> => ({
  broken: (hook, message) =>
    Effect.fail(
      new ProviderError.InvalidRequest({ provider, message: `hook ${hook} failed at wrapLlmCall: ${message}` })
    ),
  refused: (hook, { reason, userMessage }) => {
    const fields = { hook, point: "wrapLlmCall", reason, message: `${hook} rejected wrapLlmCall: ${reason}` }
    return Effect.fail(new HookRejected(userMessage === undefined ? fields : { ...fields, userMessage }))
  }
})
