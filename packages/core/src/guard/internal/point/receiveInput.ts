/**
 * Reads the input of a turn, and runs the `preTurn` hooks: once for the message of the user, and once for each other
 * part of the input.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type AgentError, SessionError } from "../../../data/AgentError.ts"
import type { Message } from "../../../data/Message.ts"
import { defined } from "../../../data/option/Fields.ts"
import { checkKinds, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { TurnInput } from "../../../data/Turn.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { whyNotClientTools } from "../definition/clientTools.ts"
import { stopOf } from "../state/turnEnd.ts"
import { userMessage, withKeyOf } from "../state/turnState.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"
import { type CheckedParts, checkParts } from "./inputParts.ts"

const inputKinds: OptionKinds<TurnInput> = {
  message: "text",
  attachments: "list",
  metadata: "object",
  key: "text",
  steer: "any",
  before: "list",
  instructions: "text",
  tools: "list",
  part: "any"
}

const decode = Schema.decodeUnknownResult(TurnInput)

/** Returns the input, or the error that describes what is wrong with it, as in a program without types. */
export const readInput = (
  sessionId: string,
  input: string | TurnInput,
  { textLength }: { readonly textLength: number }
): TurnInput | SessionError => {
  const text = typeof input === "string" ? input : input?.message
  if (typeof text === "string" && text.length > textLength) {
    const message = `the message has ${text.length} characters, and at most ${textLength} are allowed: ` +
      "shorten it, or raise `limits.textLength`"
    return new SessionError({ sessionId, problem: "wrong-input", message })
  }
  if (typeof input === "string") return { message: input }
  const checked = checkKinds("input", input, inputKinds, ["message"])
  if (Result.isFailure(checked)) {
    const message = `${checked.failure.message}; a turn takes a text, or { message, attachments, metadata, key }`
    return new SessionError({ sessionId, problem: "wrong-input", message })
  }
  const { attachments, before, metadata, tools } = input
  if ((attachments ?? before ?? metadata ?? tools) === undefined) return input
  const decoded = decode(input)
  if (Result.isSuccess(decoded)) return input
  return new SessionError({ sessionId, problem: "wrong-input", message: `input: ${messageOf(decoded.failure)}` })
}

type Failure = AgentError | TurnEnded

/** What the model reads beside the message, and the answer of a hook. */
export interface ReceivedInput {
  /** What was said before. */
  readonly before?: ReadonlyArray<Message>
  /** The answer of a hook in place of the model. */
  readonly answer?: string
}

/** Checks the input of a turn, and keeps it in the state with the changes of the hooks. */
export const receiveInput = function*(turn: GuardTurn): Step<ReceivedInput, Failure> {
  const { state } = turn
  const hasParts = (state.input.before ?? state.input.instructions ?? state.input.tools) !== undefined
  const { answer, parts: { before, ...parts } } = hasParts ? yield* receiveParts(turn) : noParts
  const outcome = yield* askHooks(turn, "preTurn", state.input)
  const keepsMessage = outcome?.action._tag === "Abort" && outcome.action.keepMessage === true
  publishStart(turn, outcome, keepsMessage)
  state.input = withKeyOf(state.input, inputAfter(turn, outcome))
  if (keepsMessage) turn.session.messages.push(userMessage(state.input))
  const stop = stopOf("preTurn", outcome)
  if (stop !== undefined) return yield* stop
  if (hasParts) state.input = { ...state.input, ...parts }
  if (outcome === undefined && !hasParts) return {}
  return defined({ before, answer: outcome?.action._tag === "Respond" ? outcome.action.output.text : answer })
}

/** What is left of the other parts of an input, and the answer of a hook to one of them. */
interface Received {
  readonly parts: CheckedParts["parts"]
  readonly answer?: string
}

const noParts: Received = { parts: {} }

/**
 * Checks the other parts of the input, and takes them out of it, so that hooks see each part once. If a hook answers to
 * a part, the model reads none of them.
 */
const receiveParts = function*(turn: GuardTurn): Step<Received, Failure> {
  const { session, state } = turn
  const given = state.input
  const { before: _before, instructions: _instructions, tools, ...input } = given
  state.input = input
  const message = tools === undefined ? undefined : whyNotClientTools(turn.agent, tools)
  if (message !== undefined) {
    return yield* new SessionError({ sessionId: session.id, problem: "wrong-input", message })
  }
  const { parts, stop } = yield* checkParts(turn, given)
  if (stop?.action._tag === "Respond") return { parts, answer: stop.action.output.text }
  const stopped = stopOf("preTurn", stop)
  if (stopped !== undefined) {
    publishStart(turn, stop, false)
    return yield* stopped
  }
  if (parts.tools !== undefined) turn.takeClientTools(parts.tools)
  return { parts }
}

/** Listeners receive the message with the changes of the hooks, and no part of a rejected message. */
const publishStart = (turn: GuardTurn, outcome: Outcome<"preTurn"> | undefined, keepsMessage: boolean): void => {
  if (!turn.io.hasListeners) return
  const tag = outcome?.action._tag
  const isRefused = tag === "Reject" || (tag === "Abort" && !keepsMessage)
  const { message } = outcome?.event ?? turn.state.input
  turn.io.publish({ type: "turn-start", message: isRefused ? "" : message, resumed: false })
}

/**
 * Returns the input with the changes of the hooks. For a rejected turn, `onTurnError` hooks receive the same input, or
 * an empty one if a confidential hook rejected it.
 */
const inputAfter = (turn: GuardTurn, outcome: Outcome<"preTurn"> | undefined): TurnInput => {
  if (outcome === undefined) return turn.state.input
  const refusedBy = outcome.action._tag === "Reject" ? outcome.by : undefined
  const isHidden = refusedBy !== undefined &&
    turn.agent.chain.hooks.some(({ confidential, name }) => confidential === true && name === refusedBy)
  return isHidden ? { message: "" } : outcome.event
}
