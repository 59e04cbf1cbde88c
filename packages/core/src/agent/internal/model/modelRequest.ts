/** Makes the request of a model step. */
import type { LlmRequest } from "../../../data/LlmCall.ts"
import type { Message } from "../../../data/Message.ts"
import type { Turn } from "../running/turn.ts"

/** Up to this number of messages, a request copies them immediately. Longer lists are copied when they are read. */
const smallConversation = 64

/** Makes the request of a step. Its cost does not depend on the number of messages. */
export const requestOf = (turn: Turn): LlmRequest => {
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
