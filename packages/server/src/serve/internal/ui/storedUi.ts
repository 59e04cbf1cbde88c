/** Shows a stored conversation as the messages of `useChat`. */
import { type ChangedArgs, type Message, text } from "@belay/core/Message"
import type { Conversation } from "../../../host/Host.ts"
import { isClientCall, pendingOf } from "../act.ts"
import { askIdOf, clientCallIdOf, type Token } from "../identity.ts"

interface UiMessage {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly parts: Array<object>
}

/** The id of the assistant's message in the turn of this key. */
export const assistantIdOf = (key: string): string => `answer-${key}`

/** Returns the messages. The answers of one turn are one message. Open questions are part of the last one. */
export const storedMessages = async (
  token: Token,
  conversation: Conversation | undefined
): Promise<ReadonlyArray<UiMessage>> => {
  const shown: Array<UiMessage> = []
  const results = resultsOf(conversation?.messages ?? [])
  let key = "0"
  const assistant = (): UiMessage => {
    const last = shown.at(-1)
    if (last?.role === "assistant") return last
    const made: UiMessage = { id: assistantIdOf(key), role: "assistant", parts: [] }
    shown.push(made)
    return made
  }
  for (const [index, message] of (conversation?.messages ?? []).entries()) {
    // What hooks have injected is not for the user.
    if (message.role === "tool" || (message.role === "user" && message.source !== undefined)) continue
    if (message.role === "user") {
      key = message.key ?? String(index)
      shown.push({ id: `question-${key}`, role: "user", parts: partsOf(message) })
    } else assistant().parts.push(...answerParts(message, results))
  }
  const pending = pendingOf(conversation)
  // The message of a turn that has a step open is stored with the turn.
  if (pending.length > 0) assistant().parts.push({ type: "step-start" })
  const asking = { token, turnNumber: conversation?.turnNumber ?? 0 }
  for (const ask of pending) {
    assistant().parts.push(
      !isClientCall(ask)
        ? {
          type: "dynamic-tool",
          toolName: ask.tool,
          toolCallId: ask.callId,
          state: "approval-requested",
          input: ask.args,
          approval: { id: await askIdOf(asking, ask), requestReason: ask.reason }
        }
        : {
          type: "dynamic-tool",
          toolName: ask.tool,
          toolCallId: await clientCallIdOf(asking, ask),
          state: "input-available",
          input: ask.args
        }
    )
  }
  return shown
}

type Results = ReadonlyMap<string, Extract<Message, { readonly role: "tool" }>>

const resultsOf = (messages: ReadonlyArray<Message>): Results =>
  new Map(messages.flatMap((message) => message.role === "tool" ? [[message.toolCallId, message] as const] : []))

const partsOf = ({ content }: Extract<Message, { readonly role: "user" }>): Array<object> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content.map((part) => ({ ...part }))

const answerParts = (
  { content, files = [], reasoning, toolCalls = [] }: Extract<Message, { readonly role: "assistant" }>,
  results: Results
): Array<object> => [
  { type: "step-start" },
  ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning, state: "done" }]),
  ...(content === "" ? [] : [{ type: "text", text: content, state: "done" }]),
  ...files.map((file) => ({ ...file })),
  ...toolCalls.map(({ args, changed, id, name }) => {
    const result = results.get(id)
    return {
      type: "dynamic-tool",
      toolName: name,
      toolCallId: id,
      input: args,
      ...(changed === undefined ? {} : { callProviderMetadata: changeOf(changed) }),
      ...(result?.isError === true
        ? { state: "output-error", errorText: text(result) }
        : { state: "output-available", output: result?.content ?? null })
    }
  })
]

/** Says who changed the arguments of a call, where the AI SDK has its metadata. */
export const changeOf = ({ by }: ChangedArgs): object => ({ belay: { changedBy: by } })
