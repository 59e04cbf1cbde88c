/**
 * Serves an agent over the Responses API of OpenAI: `POST …/responses`, and `GET …/responses/{id}` to read one.
 *
 * - `previous_response_id` or `conversation` continues a session. A session is one line: a response that is not the
 *   last one continues the session as it is now.
 * - Tools of the agent are `mcp_call` items. A question to a person is an `mcp_approval_request`, and is answered with
 *   an `mcp_approval_response`. Calls of the client's tools are `function_call` items.
 * - With `GET …/responses/{id}?stream=true&starting_after=n` a stream goes on after the event with that number.
 *
 * @since 0.1.0
 */
import type { Status } from "../host/Host.ts"
import { checkInstructions, checkTools, decide, isClientCall, pendingOf, send } from "./internal/act.ts"
import { fieldsOf } from "./internal/content.ts"
import { type Call, endpoint } from "./internal/endpoint.ts"
import type { Item, Part } from "./internal/follow.ts"
import {
  isToken,
  keyOfRequest,
  newToken,
  sessionIdOf,
  type Token,
  tokenOf,
  tokenOfRequest
} from "./internal/identity.ts"
import { errorBody, modelOf, seconds, sessionNameOf } from "./internal/openAi.ts"
import { decisionsOf } from "./internal/questions.ts"
import { invalid, Refusal } from "./internal/refusal.ts"
import { streamTurn, wholeTurn } from "./internal/respond.ts"
import { readResponses, type ResponsesRequest } from "./internal/responses/readResponses.ts"
import {
  cutsOf,
  framesOf,
  type ResponseBase,
  responseEvents,
  responseOf,
  wholeOf
} from "./internal/responses/writeResponses.ts"
import type { Handler, Serve } from "./Serve.ts"

/** Makes the handler. It can be mounted under any path. @category constructors @since 0.1.0 */
export const handler = (serve: Serve): Handler =>
  endpoint(serve, errorBody, async (call) => {
    const { request: { method }, url: { pathname } } = call
    const [, id, action] = /\/responses(?:\/([^/]+)(?:\/(cancel))?)?\/?$/.exec(pathname) ?? ["", ""]
    if (id === "") throw new Refusal("not-found", "there is nothing at this path")
    if (id === undefined && method === "POST") return await create(serve, call)
    if (id !== undefined && action === "cancel" && method === "POST") return await cancel(serve, call, id)
    if (id !== undefined && action === undefined && method === "GET") return await read(serve, call, id)
    throw new Refusal("method", "this method is not allowed here")
  })

/** A response and the part of a session that it is about. */
interface Target {
  readonly id: string
  readonly token: Token
  readonly part: Part
}

const create = async (serve: Serve, call: Call): Promise<Response> => {
  const body = fieldsOf(await call.body())
  const request = readResponses(body, serve.maxTextLength)
  const tools = checkTools(serve, request.tools)
  const name = request.conversation ?? sessionNameOf(call.request, body)
  const target = await actOf(serve, call, { ...request, tools }, name)
  const base = baseOf(target.id, modelOf(serve, body), request.previous)
  if (request.isStream) return stream(serve, target, base)
  if (request.isBackground) {
    return Response.json(responseOf(base, { status: "in_progress", output: [], background: true }))
  }
  return Response.json(await whole(serve, call, target, base))
}

const baseOf = (id: string, model: string, previous: string | undefined): ResponseBase => ({
  id,
  created_at: seconds(),
  model,
  previous_response_id: previous ?? null
})

const stream = (serve: Serve, { part, token }: Target, base: ResponseBase, after?: number): Response =>
  streamTurn(serve, part, (items: AsyncIterable<Item>) => framesOf(responseEvents(serve, token, base, items), after), {
    failed: ({ message }) => ({ event: "error", data: { type: "error", code: "server_error", message, param: null } })
  })

const whole = async (serve: Serve, call: Call, { part, token }: Target, base: ResponseBase): Promise<object> =>
  await wholeTurn(serve, call, part, (items) => wholeOf(responseEvents(serve, token, base, items, true))) ?? {}

const actOf = async (
  serve: Serve,
  call: Call,
  request: ResponsesRequest,
  name: string | undefined
): Promise<Target> => {
  const { answers, approvals, history, message, previous, tools } = request
  const instructions = checkInstructions(serve, request.instructions, "instructions")
  const isNew = previous === undefined && name === undefined
  const token = previous === undefined
    ? name === undefined ? await tokenOfRequest(call.request) : await tokenOf(name)
    : partOfId(previous)?.token
  if (token === undefined) throw new Refusal("not-found", "there is no response with this id", "previous_response_id")
  const sessionId = await sessionIdOf(call.principal, token)
  const conversation = isNew ? undefined : await serve.host.conversation(sessionId)
  if (previous !== undefined && conversation === undefined) {
    throw new Refusal("not-found", "there is no response with this id", "previous_response_id")
  }
  const idOf = (rest: string) => `resp_${token}.${rest}`
  if (answers.length > 0 || approvals.length > 0) {
    const decisions = await decisionsOf(sessionId, conversation, {
      answerOf: (id) => approvals.find((one) => one.id === id),
      outputOf: (id) => answers.find((one) => one.id === id)?.output
    })
    if (conversation !== undefined && Object.keys(decisions).length > 0) {
      // The turn that goes on does not read the message, and nothing that a person said may be lost.
      if (message !== undefined) throw invalid("input: send the message after the response to this answer", "input")
      const part = await decide(
        serve,
        { sessionId, principal: call.principal },
        conversation,
        decisions,
        (after, asks) => idOf(`${asks}.${after}`)
      )
      return { id: part.key, token, part }
    }
    if (message === undefined) throw invalid("no question and no tool call with this id waits for an answer", "input")
  }
  if (message === undefined) throw invalid("input: the last item must be a message of the user, or an answer", "input")
  const pending = pendingOf(conversation)
  if (pending.some((ask) => !isClientCall(ask))) {
    throw new Refusal("conflict", "the previous response waits for an mcp_approval_response", "input")
  }
  // The client goes on without the results of its tools.
  if (pending.length > 0 && conversation?.key !== undefined) await serve.host.cancel(sessionId, conversation.key)
  const id = idOf((await keyOfRequest(call.request) ?? newToken()).slice(1))
  const sending = { message: message.text, attachments: message.files, tools, history, instructions, key: id }
  return { id, token, part: await send(serve, sessionId, call.principal, sending, call.request) }
}

/** Reads the id of a response. */
const partOfId = (id: string): { readonly token: Token; readonly after: number | undefined } | undefined => {
  const [, token = "", after] = /^resp_([\w-]{23})\.[\w-]{22}(?:\.(\d{1,15}))?$/.exec(id) ?? []
  return isToken(token) ? { token, after: after === undefined ? undefined : Number(after) } : undefined
}

const targetOf = async ({ principal }: Call, id: string): Promise<Target> => {
  const { after, token } = partOfId(id) ?? {}
  if (token === undefined) throw new Refusal("not-found", "there is no response with this id")
  const sessionId = await sessionIdOf(principal, token)
  return { id, token, part: { sessionId, key: id, ...(after === undefined ? {} : { after }) } }
}

const read = async (serve: Serve, call: Call, id: string): Promise<Response> => {
  const target = await targetOf(call, id)
  const status = await serve.host.status(target.part.sessionId, id)
  if (status === undefined) throw new Refusal("not-found", "there is no response with this id")
  const isRunning = status.status === "waiting" || status.status === "begun"
  const isPast = !isRunning && await isOfEarlierTurn(serve, target.part, status)
  const part = { ...target.part, isPast }
  const base = baseOf(id, serve.model, undefined)
  const { searchParams } = call.url
  if (searchParams.get("stream") === "true") {
    const after = Number(searchParams.get("starting_after") ?? -1)
    if (!Number.isSafeInteger(after)) throw invalid("starting_after: expected the number of an event", "starting_after")
    return stream(serve, { ...target, part: { ...part, cuts: cutsOf(after) } }, base, after)
  }
  return Response.json(
    isRunning
      ? responseOf(base, { status: "in_progress", output: [] })
      : await whole(serve, call, { ...target, part }, base)
  )
}

/** Whether a turn has begun since. The events of a session begin with its last turn. */
const isOfEarlierTurn = async (
  { host }: Serve,
  { after, key, sessionId }: Part,
  { outcome }: Status
): Promise<boolean> => {
  const last = await host.conversation(sessionId)
  if (last === undefined || after === undefined) return last?.key !== key
  const { turnNumber = last.turnNumber } = Object(outcome) as { readonly turnNumber?: number }
  return turnNumber < last.turnNumber
}

const cancel = async (serve: Serve, call: Call, id: string): Promise<Response> => {
  const { part } = await targetOf(call, id)
  if (await serve.host.status(part.sessionId, id) === undefined) {
    throw new Refusal("not-found", "there is no response with this id")
  }
  const { key = id } = part.after === undefined ? {} : await serve.host.conversation(part.sessionId) ?? {}
  const sent = await serve.host.cancel(part.sessionId, key)
  await serve.host.result(part.sessionId, sent.key)
  return Response.json(responseOf(baseOf(id, serve.model, undefined), { status: "cancelled", output: [] }))
}
