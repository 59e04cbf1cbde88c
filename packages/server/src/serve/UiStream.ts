/**
 * Serves an agent to `useChat` of the AI SDK: the UI message stream, version 1. Below the path where it is mounted:
 *
 * | request | what it does |
 * | --- | --- |
 * | `POST` | sends a message, or answers questions, and streams the turn |
 * | `GET /{chat}/stream` | streams the turn that runs; 204 if none runs |
 * | `GET /{chat}` | returns the messages of the chat |
 * | `POST /{chat}/cancel` | cancels the turn that runs |
 *
 * Only the last message of a `POST` counts; the conversation is the one on the server. A question is a
 * `tool-approval-request`. Its answer counts if the question is open on the server.
 *
 * @since 0.1.0
 */
import type { Conversation } from "../host/Host.ts"
import { checkInstructions, checkTools, decide, pendingOf, send } from "./internal/act.ts"
import { type Call, endpoint } from "./internal/endpoint.ts"
import { type Part, withoutKnown } from "./internal/follow.ts"
import { keyOfText, sessionIdOf, type Token, tokenOf } from "./internal/identity.ts"
import { decisionsOf } from "./internal/questions.ts"
import { invalid, Refusal } from "./internal/refusal.ts"
import { streamTurn } from "./internal/respond.ts"
import type { Frame } from "./internal/sse.ts"
import { readUi } from "./internal/ui/readUi.ts"
import { assistantIdOf, storedMessages } from "./internal/ui/storedUi.ts"
import { uiChunks } from "./internal/ui/writeUi.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Options of the handler. @category models @since 0.1.0 */
export interface Options {
  /** The path where the handler is mounted. Default `/api/chat`. */
  readonly path?: string
  /** Whether clients see the decisions of hooks, as `data-hook` parts. They have the names of hooks. Default false. */
  readonly hooks?: boolean
}

/** Makes the handler. @category constructors @since 0.1.0 */
export const handler = (serve: Serve, options: Options = {}): Handler => {
  const { hooks = false, path = "/api/chat" } = options ?? {}
  return endpoint(serve, ({ message }) => ({ error: message }), async (call) => {
    const { request: { method }, url: { pathname } } = call
    const [root, chat, action, ...rest] = pathname.startsWith(path) ? pathname.slice(path.length).split("/") : ["no"]
    if (root !== "" || rest.length > 0 || (chat === "" && action !== undefined)) {
      throw new Refusal("not-found", "there is nothing at this path")
    }
    if (chat === undefined || chat === "") {
      if (method !== "POST") throw new Refusal("method", "use POST")
      return await post(serve, call, hooks)
    }
    const place = await placeOf(call, nameOf(chat))
    if (method === "POST" && action === "cancel") return await cancel(serve, place)
    if (method !== "GET") throw new Refusal("method", "use GET")
    const conversation = await serve.host.conversation(place.sessionId)
    if (action === undefined) return Response.json({ messages: await storedMessages(place.token, conversation) })
    if (action !== "stream") throw new Refusal("not-found", "there is nothing at this path")
    return resume(serve, call, place, conversation, hooks)
  })
}

const nameOf = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid("the path is not valid")
  }
}

/** The session of a chat. */
interface Place {
  readonly token: Token
  readonly sessionId: string
}

const placeOf = async ({ principal }: Call, chat: string): Promise<Place> => {
  const token = await tokenOf(chat)
  return { token, sessionId: await sessionIdOf(principal, token) }
}

const post = async (serve: Serve, call: Call, hooks: boolean): Promise<Response> => {
  const request = readUi(await call.body())
  const instructions = checkInstructions(serve, request.instructions, "messages")
  const place = await placeOf(call, request.id)
  const conversation = await serve.host.conversation(place.sessionId)
  const { answers, outputs } = request
  const decisions = await decisionsOf(place.sessionId, conversation, {
    answerOf: (id) => answers.find((one) => one.id === id),
    outputOf: (id) => outputs.get(id)
  })
  if (conversation !== undefined && Object.keys(decisions).length > 0) {
    const part = await decide(serve, { sessionId: place.sessionId, principal: call.principal }, conversation, decisions)
    return stream(serve, place, part, request.assistantId ?? assistantIdOf(conversation.key ?? "0"), hooks)
  }
  if (request.message === undefined) throw invalid("messages: no question with this id waits for an answer", "messages")
  // A new message takes the place of open questions.
  if (pendingOf(conversation).length > 0 && conversation?.key !== undefined) {
    await serve.host.cancel(place.sessionId, conversation.key)
  }
  const { files, id, text } = request.message
  const key = request.isAgain || id === "" ? crypto.randomUUID() : await keyOfText(JSON.stringify([id, text]))
  const sending = { message: text, attachments: files, tools: checkTools(serve, request.tools), instructions, key }
  const part = await send(serve, place.sessionId, call.principal, sending, call.request)
  return stream(serve, place, part, assistantIdOf(key), hooks)
}

const stream = (serve: Serve, { sessionId, token }: Place, part: Part, messageId: string, hooks: boolean): Response => {
  const turn = { token, messageId, hooks, conversation: () => serve.host.conversation(sessionId) }
  return streamTurn(
    serve,
    part,
    async function*(items): AsyncGenerator<Frame> {
      for await (const { from, made: data } of withoutKnown(items, (given) => uiChunks(serve, turn, given))) {
        yield { data, ...(from === undefined ? {} : { id: from }) }
      }
    },
    {
      headers: { "x-vercel-ai-ui-message-stream": "v1" },
      done: "[DONE]",
      failed: ({ message }) => ({ data: { type: "error", errorText: message } })
    }
  )
}

const resume = (
  serve: Serve,
  { request }: Call,
  place: Place,
  conversation: Conversation | undefined,
  hooks: boolean
): Response => {
  const open = conversation?.open ?? []
  const known = request.headers.get("last-event-id") ?? undefined
  const isKnown = known === undefined || known === "" ? {} : { known }
  const decision = open.find(({ kind }) => kind === "decide")
  const after = /^decide\.(\d+)\./.exec(decision?.key ?? "")?.[1]
  if (decision !== undefined && after !== undefined) {
    const part = { sessionId: place.sessionId, key: decision.key, after: Number(after), ...isKnown }
    return stream(serve, place, part, assistantIdOf(conversation?.key ?? "0"), hooks)
  }
  const message = open.find(({ kind, status }) => kind === "message" && status !== "suspended")
  // Somebody who has lost the stream gets the rest of it, also if the turn has ended since.
  const key = message?.key ?? (known === undefined ? undefined : conversation?.key)
  if (key === undefined || open.some(({ status }) => status === "suspended")) return new Response(null, { status: 204 })
  return stream(serve, place, { sessionId: place.sessionId, key, ...isKnown }, assistantIdOf(key), hooks)
}

const cancel = async ({ host }: Serve, { sessionId }: Place): Promise<Response> => {
  const open =
    (await host.conversation(sessionId))?.open.filter(({ kind }) => kind === "message" || kind === "steer") ?? []
  for (const { key } of open) await host.cancel(sessionId, key)
  return new Response(null, { status: 204 })
}
