/** Asks a model inside the guard, until the turn may go on or end with the answer. */
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { GuardError } from "../GuardError.ts"
import type { Place } from "./place.ts"
import type { OwnAnswer, TurnInput } from "./turnInput.ts"

/** The answer of the model with the changes of the hooks, or an answer in its place. */
export type Answered =
  | { readonly type: "answer"; readonly response: LlmResponse }
  | { readonly type: "own"; readonly answer: OwnAnswer }

/** What a driver adds. */
export interface Asking {
  readonly place: Place
  readonly input: TurnInput
  /** The request of the driver. */
  readonly request: LlmRequest
  /** Asks the model with the request that the guard allows. */
  readonly call: (allowed: LlmRequest) => Promise<LlmResponse>
  /** Looks at the calls of an answer before they run. Default: all calls are left to the tools. */
  readonly check?: (response: LlmResponse) => Promise<Checked>
}

/** The answer whose calls may run, or the messages with which the model is asked again. */
export type Checked = LlmResponse | ReadonlyArray<Message>

const isRefused = (checked: Checked): checked is ReadonlyArray<Message> => Array.isArray(checked)

/** Throws a `GuardError` if the guard denies the request or the answer. */
export const answer = async ({ call, check, input, place, request }: Asking): Promise<Answered> => {
  const { session } = place
  const more: Array<Message> = []
  for (;;) {
    const messages = more.length === 0 ? request.messages : [...request.messages, ...more]
    const verdict = await session.callModel({ ...request, messages }, call).catch(stopOf)
    if (verdict.type === "deny") throw new GuardError(verdict)
    if (verdict.type === "stop") return stopped(input, verdict.reason)
    const { response } = verdict
    if (response.toolCalls.length > 0) {
      const checked = await check?.(response) ?? response
      if (!isRefused(checked)) {
        input.answered()
        return { type: "answer", response: checked }
      }
      more.push(...checked)
      continue
    }
    const said: Message = { role: "assistant", content: response.text }
    const end = await session.beforeStop({ text: response.text, messages: [...messages, said] })
    if (end.type === "deny") throw new GuardError(end)
    if (end.type === "stop") return stopped(input, end.reason)
    if (end.type === "allow") {
      input.end()
      // The user reads what hooks reveal. The model does not: later requests have the text without it.
      if (end.shown !== end.text) {
        const { reasoning = "" } = response
        const shown: Message = { ...said, content: end.shown, ...(reasoning === "" ? {} : { reasoning }) }
        place.noteChange(shown, { ...shown, content: end.text })
      }
      return { type: "answer", response: { ...response, text: end.shown } }
    }
    more.push(said, { role: "user", content: end.message })
  }
}

/**
 * Checks the answer of a turn that is the result of a tool, and returns what is shown of it. Throws a `GuardError` if
 * hooks refuse it.
 */
export const answerOfTool = async (place: Place, text: string): Promise<string> => {
  if (!place.acts("preStop", "postTurn", "revealText")) return text
  const end = await place.session.beforeStop({ text })
  switch (end.type) {
    case "allow":
      return end.shown
    case "stop":
      return end.reason
    case "deny":
      throw new GuardError(end)
    case "continue":
      throw new GuardError({
        type: "deny",
        by: "runtime",
        reason: `the result of the tool ends the turn: ${end.message}`
      })
  }
}

/** Returns the end of the turn with which a call has failed. */
const stopOf = (error: unknown): { readonly type: "stop"; readonly reason: string } => {
  if (error instanceof TurnStopped) return { type: "stop", reason: error.message }
  throw error
}

/** Ends the turn: the same message again begins another one. */
const stopped = (input: TurnInput, reason: string): Answered => {
  input.end()
  return { type: "own", answer: { text: reason, raw: "guard: stopped" } }
}

/** Makes the messages that tell the model why none of these calls has run. */
export const refusal = (
  { text, toolCalls }: LlmResponse,
  reasons: ReadonlyMap<string, string>
): ReadonlyArray<Message> => [
  { role: "assistant", content: text, toolCalls },
  ...toolCalls.map(({ id, name }): Message => ({
    role: "tool",
    toolCallId: id,
    toolName: name,
    content: reasons.get(id) ?? "not run: another call of this step was refused",
    isError: true
  }))
]

/** Passes a piece of text or of reasoning through the hooks that look at pieces. */
export const passText = async (place: Place, text: string, type: "text" | "reasoning" = "text"): Promise<string> => {
  if (!place.acts("onLlmDelta")) return text
  const verdict = await place.session.modelDelta({ type, text })
  if (verdict.type === "stop") throw new TurnStopped(verdict.reason)
  if (verdict.type !== "allow") throw new GuardError(verdict)
  return verdict.delta.type === type ? verdict.delta.text : text
}

/** A hook has ended the turn while the answer arrived. */
class TurnStopped extends Error {}
