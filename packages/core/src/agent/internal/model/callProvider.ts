/** Makes the request of a model step, calls a provider once, and counts the usage and the cost of the call. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AgentError } from "../../../data/AgentError.ts"
import { addUsd } from "../../../data/Cost.ts"
import { copyError } from "../../../data/internal/copyError.ts"
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { Message } from "../../../data/Message.ts"
import { isProviderError, Malformed } from "../../../data/ProviderError.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import * as Usage from "../../../data/Usage.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { call, type LlmProvider } from "../../../port/LlmProvider.ts"
import type { AgentTurn } from "../running/turnParts.ts"
import { readPartial, readResponse } from "./checkResponse.ts"
import { streamModel } from "./streamModel.ts"

/** Up to this number of messages, a request copies them immediately. Longer lists are copied when they are read. */
const smallConversation = 64

/** Makes the request of a step. Its cost does not depend on the number of messages. */
export const requestOf = (turn: AgentTurn): LlmRequest => {
  const { agent: { config, shownTools: tools }, messages: log, state: { input } } = turn
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

type Failure = AgentError | TurnEnded

/** The provider and the request of an attempt. */
export interface Target {
  readonly provider: LlmProvider
  readonly request: LlmRequest
}

/** Calls the provider. The caller counts the call when it has ended. */
export const callProvider = (turn: AgentTurn, { provider, request }: Target): Effect.Effect<LlmResponse, Failure> => {
  turn.state.cost.begin()
  // Nobody else reads deltas.
  return turn.agent.streams || turn.io.hasDeltaListeners
    ? streamModel(turn, provider, request)
    : call(provider, request)
}

/** Calls the provider and counts the call. */
export const countCall = (turn: AgentTurn, target: Target): Effect.Effect<LlmResponse, Failure> =>
  Effect.suspend(() =>
    Effect.matchEffect(callProvider(turn, target), {
      onSuccess: (response) => {
        const read = readResponse(target.provider.name, response, turn.agent.limits)
        return read instanceof Malformed
          ? Effect.fail(countFailure(turn, target, read))
          : Effect.succeed(countAnswer(turn, target, read))
      },
      onFailure: (error) => Effect.fail(countFailure(turn, target, error))
    })
  )

/** Counts a call that was answered. Returns the answer with its cost. */
export const countAnswer = (turn: AgentTurn, target: Target, response: LlmResponse): LlmResponse => {
  const usage = count(turn, target, response)
  return usage === undefined || usage === response.usage ? response : { ...response, usage }
}

/** Counts a call that failed. It has spent what it reports; one without a report failed before it began. */
export const countFailure = (turn: AgentTurn, target: Target, error: Failure): Failure => {
  if (!isProviderError(error)) {
    // A hook cut the stream off, so the vendor did not report the usage.
    count(turn, target, {})
    return error
  }
  if (error.partial === undefined) {
    turn.state.cost.endFree()
    return error
  }
  const partial = readPartial(error.partial)
  const usage = count(turn, target, partial)
  return partial === error.partial && (usage === undefined || usage === partial.usage)
    ? error
    : copyError(error, { partial: usage === undefined ? partial : { ...partial, usage } })
}

/** Adds a call to the turn. Returns its usage with its cost. */
const count = (
  turn: AgentTurn,
  target: Target,
  answer: Pick<Partial<LlmResponse>, "model" | "usage">
): Usage.Usage | undefined => {
  const { state } = turn
  const { provider, request } = target
  const usage = withCost(turn, target, answer)
  if (usage !== undefined) state.usage = Usage.add(state.usage, usage)
  state.cost.end(answer.model || request.model || provider.model || "unknown", usage)
  return usage
}

/** A vendor may answer with a more exact name of the model, for which the provider has no price. */
const withCost = (
  turn: AgentTurn,
  { provider, request }: Target,
  { model, usage }: Pick<Partial<LlmResponse>, "model" | "usage">
): Usage.Usage | undefined => {
  if (usage === undefined || usage.costUsd !== undefined || provider.costOf === undefined) return usage
  for (const name of [model, request.model ?? provider.model]) {
    if (name === undefined || name === "") continue
    const found = Result.try(() => provider.costOf!(usage, name))
    if (Result.isFailure(found)) {
      turn.io.warn(`${provider.name} cannot calculate the cost of a call: ${messageOf(found.failure)}`, "runtime")
      return usage
    }
    const { success: usd } = found
    if (usd !== undefined && Number.isFinite(usd) && usd >= 0) return { ...usage, costUsd: addUsd(0, usd) }
  }
  return usage
}
