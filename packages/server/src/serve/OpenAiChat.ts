/**
 * Serves an agent as a model of OpenAI chat completions: `POST …/chat/completions` and `GET …/models`.
 *
 * - The client sends the whole conversation with each request. It is what the agent reads, in a new session. With the
 *   header `x-session-id`, or `metadata.session_id`, the session is the client's of that name, which has its own
 *   history; the agent then reads the last message only.
 * - Tools of the agent run on the server, and the client does not see them. Tools of the client come back as
 *   `tool_calls`; their results continue the same turn.
 * - A question to a person is text. The next message answers it: `yes` approves, anything else denies.
 *
 * @since 0.1.0
 */
import type { Message } from "@belay/core/Message"
import { text } from "@belay/core/Message"
import type { Decision } from "@belay/core/RunState"
import { checkInstructions, checkTools, decide, isClientCall, pendingOf, send } from "./internal/act.ts"
import { type ChatRequest, readChat } from "./internal/chat/readChat.ts"
import { isYes, markOf, type Piece, piecesOf, questionOf } from "./internal/chat/writeChat.ts"
import { filesOf } from "./internal/content.ts"
import { fieldsOf } from "./internal/content.ts"
import { type Call, endpoint } from "./internal/endpoint.ts"
import type { Item, Part } from "./internal/follow.ts"
import {
  askIdOfAll,
  askingOf,
  keyOfRequest,
  sessionIdOf,
  type Token,
  tokenOf,
  tokenOfClientCall,
  tokenOfRequest
} from "./internal/identity.ts"
import { chatUsage, errorBody, errorOf, modelOf, seconds, sessionNameOf } from "./internal/openAi.ts"
import { decisionsOf } from "./internal/questions.ts"
import { invalid, Refusal } from "./internal/refusal.ts"
import { streamTurn, wholeTurn } from "./internal/respond.ts"
import type { Frame } from "./internal/sse.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Makes the handler. It can be mounted under any path. @category constructors @since 0.1.0 */
export const handler = (serve: Serve): Handler =>
  endpoint(serve, errorBody, async (call) => {
    const { request: { method }, url: { pathname } } = call
    if (pathname.endsWith("/models")) return models(serve)
    if (!pathname.endsWith("/chat/completions")) throw new Refusal("not-found", "there is nothing at this path")
    if (method !== "POST") throw new Refusal("method", "use POST")
    return await complete(serve, call)
  })

const models = ({ model }: Serve): Response =>
  Response.json({ object: "list", data: [{ id: model, object: "model", created: 0, owned_by: "belay" }] })

const complete = async (serve: Serve, call: Call): Promise<Response> => {
  const body = fieldsOf(await call.body())
  const chat = readChat(body, serve.maxTextLength)
  const tools = checkTools(serve, chat.tools)
  const { part, question, token } = await actOf(serve, call, { ...chat, tools }, sessionNameOf(call.request, body))
  const base = { id: `chatcmpl-${crypto.randomUUID()}`, created: seconds(), model: modelOf(serve, body) }
  const headers = { "x-session-id": token }
  const items = (given: AsyncIterable<Item>) => piecesOf(serve, token, given)
  if (part === undefined) return asText(base, chat, question ?? "", headers)
  if (!chat.isStream) {
    const whole = await wholeTurn(serve, call, part, (given) => wholeOf(base, items(given)))
    return Response.json(whole, { headers })
  }
  return streamTurn(serve, part, (given) => chunksOf(base, chat.withUsage, items(given)), {
    headers,
    done: "[DONE]",
    failed: (refusal) => ({ data: { error: errorOf(refusal) } })
  })
}

/** What a request does: a part of a session to read, or a question that is still open. */
interface Act {
  readonly token: Token
  readonly part?: Part
  readonly question?: string
}

const actOf = async (
  serve: Serve,
  { principal, request }: Call,
  chat: ChatRequest,
  name: string | undefined
): Promise<Act> => {
  const { answers, messages, tools } = chat
  const instructions = checkInstructions(serve, chat.instructions, "messages")
  const last = messages.at(-1)
  const mark = last?.role === "user" ? markOf(text(messages.at(-2) ?? last)) : undefined
  const named = name === undefined ? undefined : await tokenOf(name)
  const token = named ?? tokenOfClientCall(answers[0]?.id ?? "") ?? mark?.token ?? await tokenOfRequest(request)
  const sessionId = await sessionIdOf(principal, token)
  const conversation = named === undefined && answers.length === 0 && mark === undefined
    ? undefined
    : await serve.host.conversation(sessionId)
  const pending = pendingOf(conversation)
  const asking = askingOf(sessionId, conversation ?? { turnNumber: 0 })
  if (answers.length > 0) {
    const decisions = await decisionsOf(sessionId, conversation, {
      answerOf: () => undefined,
      outputOf: (id) => answers.find((one) => one.id === id)?.output
    })
    if (conversation === undefined || Object.keys(decisions).length === 0) {
      throw invalid("no tool call with this tool_call_id waits for a result", "messages")
    }
    return { token, part: await decide(serve, { sessionId, principal }, conversation, decisions) }
  }
  if (last?.role !== "user" || last.source !== undefined) {
    throw invalid("messages: the last message must be one of the user or of a tool", "messages")
  }
  const asks = pending.filter((ask) => !isClientCall(ask))
  if (conversation !== undefined && asks.length > 0) {
    if (mark?.asks === await askIdOfAll(asking, asks)) {
      const decision: Decision = isYes(text(last)) ? { type: "approve" } : { type: "deny", reason: text(last) }
      const decisions = Object.fromEntries(asks.map(({ callId }) => [callId, decision]))
      return { token, part: await decide(serve, { sessionId, principal }, conversation, decisions) }
    }
    if (named !== undefined) return { token, question: await questionOf(asking, asks) }
  }
  // The client goes on without the results of its tools.
  if (named !== undefined && pending.length > 0 && conversation?.key !== undefined) {
    await serve.host.cancel(sessionId, conversation.key)
  }
  // An answer to a question that is no longer open begins a new conversation, as any message without a session does.
  const own = named ?? await tokenOfRequest(request)
  const key = await keyOfRequest(request)
  const sending = {
    message: text(last),
    attachments: filesOfMessage(last),
    tools,
    instructions,
    // A session that has begun knows what was said before.
    ...(named !== undefined && (conversation?.messages.length ?? 0) > 0 ? {} : { history: messages.slice(0, -1) }),
    ...(key === undefined ? {} : { key })
  }
  return { token: own, part: await send(serve, await sessionIdOf(principal, own), principal, sending, request) }
}

const filesOfMessage = ({ content }: Message) => Array.isArray(content) ? filesOf(content) : []

interface Base {
  readonly id: string
  readonly created: number
  readonly model: string
}

async function* chunksOf(base: Base, withUsage: boolean, pieces: AsyncIterable<Piece>): AsyncGenerator<Frame> {
  const chunk = (delta: object, finishReason: string | null = null): Frame => ({
    data: {
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(withUsage ? { usage: null } : {})
    }
  })
  yield chunk({ role: "assistant", content: "" })
  for await (const piece of pieces) {
    switch (piece.type) {
      case "text":
        yield chunk({ content: piece.text })
        break
      case "reasoning":
        yield chunk({ reasoning_content: piece.text })
        break
      case "calls":
        yield chunk({ tool_calls: piece.calls.map((call, index) => ({ index, ...call })) })
        break
      case "end":
        yield chunk({}, piece.finishReason)
        if (withUsage) {
          yield { data: { ...base, object: "chat.completion.chunk", choices: [], usage: chatUsage(piece.usage) } }
        }
    }
  }
}

const wholeOf = async (base: Base, pieces: AsyncIterable<Piece>): Promise<object> => {
  let message: object = {}
  let reasoning = ""
  for await (const piece of pieces) {
    if (piece.type === "reasoning") reasoning += piece.text
    if (piece.type === "calls") message = { tool_calls: piece.calls }
    if (piece.type !== "end") continue
    const content = piece.text === "" && "tool_calls" in message ? null : piece.text
    const shown = reasoning === "" ? {} : { reasoning_content: reasoning }
    return completion(
      base,
      { role: "assistant", content, refusal: null, ...shown, ...message },
      piece.finishReason,
      chatUsage(piece.usage)
    )
  }
  throw new Refusal("failed", "the answer was cut off")
}

const completion = (base: Base, message: object, finishReason: string, usage: object): object => ({
  ...base,
  object: "chat.completion",
  choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
  usage
})

/** Answers with a question that is still open. No model is called. */
const asText = async (
  base: Base,
  { isStream, withUsage }: ChatRequest,
  question: string,
  headers: Readonly<Record<string, string>>
): Promise<Response> => {
  const usage = { inputTokens: 0, outputTokens: 0 }
  const pieces: ReadonlyArray<Piece> = [
    { type: "text", text: question },
    { type: "end", finishReason: "stop", usage, text: question }
  ]
  const given = (async function*() {
    yield* pieces
  })()
  if (!isStream) return Response.json(await wholeOf(base, given), { headers })
  const { sseResponse } = await import("./internal/sse.ts")
  return sseResponse(chunksOf(base, withUsage, given), { headers, done: "[DONE]", onLeave: () => {} })
}
