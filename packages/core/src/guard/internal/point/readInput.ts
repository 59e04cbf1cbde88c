/** Reads the input of a turn, which a program without types may have got wrong. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SessionError } from "../../../data/AgentError.ts"
import { checkKinds, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { TurnInput } from "../../../data/Turn.ts"

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

/** Returns the input, or the error that describes what is wrong with it. */
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
