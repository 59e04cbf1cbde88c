/**
 * Serves an agent over AG-UI 1.0: a `POST` with the input of a run answers with its events.
 *
 * The thread is the session. Only the last message of the input counts; the conversation is the one on the server. The
 * model reads `context` and `state` before the message, if they have changed. A
 * question is an interrupt; `resume` answers it: `approved`, `reason`, `args`, `always` and `field` in its payload.
 * Tools of the client, if the server takes them, are left unanswered in a run; the next run has their results.
 *
 * @since 0.1.0
 */
import type { Message } from "@belay/core/Message"
import type { Conversation } from "../host/Host.ts"
import { checkInstructions, checkTools, decide, pendingOf, send } from "./internal/act.ts"
import { readAgUi } from "./internal/agUi/readAgUi.ts"
import { agUiEvents } from "./internal/agUi/writeAgUi.ts"
import { type Call, endpoint } from "./internal/endpoint.ts"
import type { Part } from "./internal/follow.ts"
import { keyOfText, sessionIdOf, tokenOf } from "./internal/identity.ts"
import { decisionsOf } from "./internal/questions.ts"
import { invalid, Refusal } from "./internal/refusal.ts"
import { streamTurn } from "./internal/respond.ts"
import type { Frame } from "./internal/sse.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Makes the handler. It can be mounted under any path. @category constructors @since 0.1.0 */
export const handler = (serve: Serve): Handler =>
  endpoint(serve, ({ kind, message }) => ({ error: { code: kind, message } }), async (call) => {
    if (call.request.method !== "POST") throw new Refusal("method", "use POST")
    return await run(serve, call)
  })

const run = async (serve: Serve, call: Call): Promise<Response> => {
  const request = readAgUi(await call.body())
  const { answers, message, outputs, runId, threadId } = request
  const tools = checkTools(serve, request.tools)
  const instructions = checkInstructions(serve, request.instructions, "messages")
  const token = await tokenOf(threadId)
  const sessionId = await sessionIdOf(call.principal, token)
  const conversation = await serve.host.conversation(sessionId)
  const decisions = await decisionsOf(sessionId, conversation, {
    answerOf: (id) => answers.get(id),
    outputOf: (id) => outputs.get(id)
  })
  const stream = (part: Part): Response =>
    streamTurn(serve, part, async function*(items): AsyncGenerator<Frame> {
      for await (const data of agUiEvents(serve, { threadId, runId, token }, items)) yield { data }
    }, { failed: ({ kind, message: text }) => ({ data: { type: "RUN_ERROR", message: text, code: kind } }) })
  if (conversation !== undefined && Object.keys(decisions).length > 0) {
    return stream(await decide(serve, { sessionId, principal: call.principal }, conversation, decisions))
  }
  if (answers.size > 0) throw invalid("no interrupt with this id waits", "resume")
  if (message === undefined) {
    throw invalid("no interrupt and no tool call with this id waits, and the last message is not one of the user")
  }
  // A new message takes the place of open questions.
  if (pendingOf(conversation).length > 0 && conversation?.key !== undefined) {
    await serve.host.cancel(sessionId, conversation.key)
  }
  const key = await keyOfText(JSON.stringify([runId, message.text]))
  const before = contextFor(conversation, request.context)
  const sending = { message: message.text, attachments: message.files, tools, instructions, before, key }
  return stream(await send(serve, sessionId, call.principal, sending, call.request))
}

/** The model reads the context and the state of the client when they have changed. */
const contextFor = (conversation: Conversation | undefined, content: string): ReadonlyArray<Message> => {
  const last = conversation?.messages.findLast((message) => message.role === "user" && message.source === source)
  return content === "" || last?.content === content ? [] : [{ role: "user", content, source }]
}

/** Marks what the client sends along with a message. */
const source = "client"
