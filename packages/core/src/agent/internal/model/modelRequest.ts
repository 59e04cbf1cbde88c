/** Makes the request of a model step, and runs the `preLlmCall` hooks for it. */
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { Message } from "../../../data/Message.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { stopOf } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { Turn } from "../running/turn.ts"

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

/** Up to this number of messages, a request copies them immediately. Longer lists are copied when they are read. */
const smallConversation = 64

/** Makes the request of a step. Its cost does not depend on the number of messages. */
export const requestOf = (turn: Turn): LlmRequest => {
  const { agent: { config, dispatcher: { tools } }, messages: log, state: { input } } = turn
  const { model, parameters = noParameters } = config
  const instructions = input.instructions === undefined
    ? config.instructions
    : withClientInstructions(config.instructions, input.instructions)
  const length = log.length
  let copy: ReadonlyArray<Message> | undefined
  const request: LlmRequest = length <= smallConversation ? { messages: log.slice(), tools, parameters } : {
    get messages() {
      return copy ??= log.slice(0, length)
    },
    tools,
    parameters
  }
  if (model === undefined && instructions === undefined) return request
  return Object.assign(
    request,
    model === undefined ? undefined : { model },
    instructions === undefined ? undefined : { instructions }
  )
}

/** The instructions of the agent come first. */
const withClientInstructions = (own: string | undefined, client: string): string =>
  own === undefined ? client : `${own}\n\n${client}`

const noParameters = Object.freeze({})

/** Runs the `preLlmCall` hooks. Returns the request with their changes, or the answer of a hook. */
export const prepareRequest = function*(
  turn: Turn,
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
