/** What a request does in a session: it sends a message, or it answers questions. */
import { defined } from "@belay/core/Fields"
import type { ContentPart, FilePart, Message } from "@belay/core/Message"
import type { PendingAsk } from "@belay/core/RunState"
import type { Decisions } from "@belay/core/Session"
import type { ClientTool } from "@belay/core/Turn"
import type { Conversation } from "../../host/Host.ts"
import type { Serve } from "../Serve.ts"
import type { Part } from "./follow.ts"
import { askIdOfAll, askingOf } from "./identity.ts"
import { invalid, Refusal } from "./refusal.ts"

/** A message of a client. */
export interface Sending {
  readonly message: string
  readonly attachments: ReadonlyArray<FilePart>
  readonly tools?: ReadonlyArray<ClientTool>
  /** What was said before, for a new session. */
  readonly history?: ReadonlyArray<Message>
  /** What the model reads before this message, in any session. */
  readonly before?: ReadonlyArray<Message>
  /** The instructions of the client. Absent if there are none. */
  readonly instructions?: string | undefined
  /** Sending the same key again sends nothing. */
  readonly key?: string
}

/** Who answers questions, and in which session. */
interface Person {
  readonly sessionId: string
  readonly principal: string
}

/** Sends a message, and returns where its turn is to be read. The trace of the request goes on in the turn. */
export const send = async (
  serve: Serve,
  sessionId: string,
  principal: string,
  sending: Sending,
  request?: Request
): Promise<Part> => {
  checkLength(serve, sending)
  const busy = await serve.principals.whyNot(principal)
  if (busy !== undefined) throw new Refusal("busy", busy.why, undefined, busy.retryAfter)
  const { attachments, before = [], history, instructions, key = crypto.randomUUID(), message, tools = [] } = sending
  const input = {
    message,
    metadata: { principal, ...defined({ traceparent: request?.headers.get("traceparent")?.slice(0, 64) }) },
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(before.length === 0 ? {} : { before }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools })
  }
  const options = { key, tenant: principal, ...(history === undefined ? {} : { history }) }
  await serve.host.send(sessionId, input, options)
  return { sessionId, key }
}

/**
 * Answers questions in the name of the principal, whatever name the client gives, and returns where the turn continues.
 * So one client cannot be several people of a quorum. The key is that of the questions: of two answers to the same
 * ones, the first counts, and neither counts for a question that comes after it.
 */
export const decide = async (
  serve: Serve,
  { principal, sessionId }: Person,
  conversation: Conversation,
  decisions: Decisions,
  keyOf: (after: number, asks: string) => string = (after, asks) => `decide.${after}.${asks}`
): Promise<Part> => {
  checkTextLength(serve, JSON.stringify(decisions).length)
  const { lastEvent = 0 } = conversation
  const answered = pendingOf(conversation).filter(({ callId }) => Object.hasOwn(decisions, callId))
  const key = keyOf(lastEvent, await askIdOfAll(askingOf(sessionId, conversation), answered))
  const signed = Object.entries(decisions).map(([id, decision]) => [id, { ...decision, by: principal }] as const)
  await serve.host.decide(sessionId, Object.fromEntries(signed), { key })
  return { sessionId, key, after: lastEvent }
}

/** The open questions of a session. */
export const pendingOf = (conversation: Conversation | undefined): ReadonlyArray<PendingAsk> =>
  conversation?.waiting.type === "people" ? conversation.waiting.pending : []

/** Whether the question is a call of a client's tool. */
export const isClientCall = ({ client }: PendingAsk): boolean => client === true

/** Refuses a message before it is stored. What its files contain does not count. */
const checkLength = (serve: Serve, { attachments, before = [], history = [], instructions = "", message }: Sending) => {
  const messages = [...history, ...before]
  checkTextLength(
    serve,
    message.length + instructions.length + sumOf(attachments, lengthOfPart) + sumOf(messages, lengthOfMessage)
  )
}

const checkTextLength = ({ maxTextLength }: Serve, length: number): void => {
  if (length > maxTextLength) {
    throw new Refusal("too-large", `the texts of the request have more than ${maxTextLength} characters`)
  }
}

const sumOf = <A>(all: ReadonlyArray<A>, lengthOf: (one: A) => number): number =>
  all.reduce((sum, one) => sum + lengthOf(one), 0)

const lengthOfMessage = (message: Message): number => {
  const { content, role, ...rest } = message
  const about = JSON.stringify(rest).length - "{}".length
  if (typeof content === "string") return about + content.length
  // The result of a tool may be any JSON.
  if (role === "tool") return about + JSON.stringify(content).length
  return about + sumOf(content as ReadonlyArray<ContentPart>, lengthOfPart)
}

const lengthOfPart = (part: ContentPart): number =>
  part.type === "text" ? part.text.length : JSON.stringify(isData(part) ? { ...part, url: "" } : part).length

const isData = (part: ContentPart): boolean => part.type === "file" && part.url.startsWith("data:")

/** Joins the system and developer messages of a client. Throws a `Refusal` if clients may not send any. */
export const checkInstructions = (
  { clientInstructions }: Serve,
  texts: ReadonlyArray<string>,
  field: string
): string | undefined => {
  if (texts.length === 0) return undefined
  if (clientInstructions) return texts.join("\n\n")
  throw invalid(
    `${field}: this server takes no instructions of clients (system or developer messages); ` +
      "its owner can allow them with the option `clientInstructions` of Serve.make",
    field
  )
}

/** Reads the tools of a client. Throws a `Refusal` if clients may not bring tools. */
export const checkTools = (
  { clientTools }: Serve,
  tools: ReadonlyArray<ClientTool>
): ReadonlyArray<ClientTool> => {
  if (tools.length === 0) return tools
  if (!clientTools) throw invalid("this server takes no tools of clients", "tools")
  const wrong = tools.find(({ name }) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))
  if (wrong !== undefined) throw invalid("the name of a tool must be 1 to 64 letters, digits, \"_\" or \"-\"", "tools")
  if (new Set(tools.map(({ name }) => name)).size < tools.length) throw invalid("two tools have the same name", "tools")
  if (JSON.stringify(tools).length > 60_000) throw new Refusal("too-large", "the tools are too large", "tools")
  return tools
}
