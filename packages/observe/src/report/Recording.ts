/**
 * A recording: what happened to agents, as lines of JSON. It has the events of the agents, and what their hooks have
 * received at each point. Reports and backtests read it.
 *
 * @since 0.1.0
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { checked } from "@belay/core/ArgumentCheck"
import { type HookPointName, names } from "@belay/core/HookPoint"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { TaggedError } from "@belay/core/TaggedError"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The version that this release writes. Newer versions are refused. @category constants @since 0.1.0 */
export const version = 1

/** A recording that cannot be read. `line` counts from 1. @category errors @since 0.1.0 */
export class RecordingError extends TaggedError<RecordingError>()("RecordingError", {
  problem: Schema.Literals(["not-a-recording", "newer-version", "corrupt"]),
  line: Schema.Finite,
  message: Schema.String
}) {}

/** What hooks have received at a point, after all changes. @category models @since 0.1.0 */
export interface Input {
  readonly type: "input"
  readonly point: HookPointName
  readonly sessionId: string
  readonly rootSessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly agent: string
  /** 0 for the agent that the host started, 1 for its sub-agents, and so on. */
  readonly depth: number
  /** Milliseconds since the epoch. */
  readonly time: number
  /** The event of the point. */
  readonly event: JsonObject
  /** What the hooks decided, if they did not only continue. */
  readonly decision?: { readonly action: string; readonly by?: string; readonly reason?: string }
}

/** A line of a recording. @category models @since 0.1.0 */
export type Entry = { readonly type: "event"; readonly event: AgentEvent } | Input

/** A recording that was read. @category models @since 0.1.0 */
export interface Recording {
  readonly entries: ReadonlyArray<Entry>
  /** What was lost, if the last line was cut off. */
  readonly torn?: string
}

/** The first line of a recording. @category writing @since 0.1.0 */
export const header = `${JSON.stringify({ type: "recording", version })}\n`

/**
 * Writes entries as lines. It leaves out what it has written before: of a list of messages, only the messages that are
 * new. Use one writer for one recording, and start the recording with `header`.
 *
 * @category writing
 * @since 0.1.0
 */
export class Writer {
  private readonly contexts = new Map<string, Context>()

  /** Returns the line of an entry, with its end. */
  line(entry: Entry): string {
    if (entry.type === "event") return `${JSON.stringify(entry)}\n`
    return `${JSON.stringify({ ...entry, event: this.shorten(entry) })}\n`
  }

  /** Forgets what it has written of a session. If the session goes on, its messages are written again. */
  forget(sessionId: string): void {
    this.contexts.delete(sessionId)
    this.contexts.delete(conversationKey(sessionId))
  }

  private shorten({ event: given, point, sessionId }: Input): JsonObject {
    // An event may warn about fields that it does not have. The copy has none but its own.
    const event = { ...given }
    const { request, tool, ...rest } = event
    const { messages, tools, ...others } = event
    const key = keyOf(point, sessionId)
    const known = this.contexts.get(key)
    const before = known ?? empty
    if (Array.isArray(messages)) {
      // What hooks get as `messages` and `tools` are messages and tools. Both are JSON.
      const now = { messages: messages as unknown as Messages, tools: (tools ?? []) as unknown as Tools }
      this.contexts.set(key, now)
      const keep = sharedLength(before.messages, now.messages)
      const isSame = known !== undefined && JSON.stringify(now.tools) === JSON.stringify(before.tools)
      const history = { keep, add: now.messages.slice(keep) } as unknown as Json
      return { ...others, history, ...(isSame || tools === undefined ? {} : { tools }) }
    }
    if (request !== undefined) return { ...rest, ...(tool === undefined ? {} : { tool }) }
    const isKnown = before.tools.some(({ name }) => name === Object(tool).name)
    return tool === undefined || !isKnown ? event : rest
  }
}

/** What the model reads and what the conversation has may differ, so each is compared with what it was before. */
const keyOf = (point: HookPointName, sessionId: string): string =>
  ofConversation.has(point) ? conversationKey(sessionId) : sessionId

const conversationKey = (sessionId: string): string => `${sessionId} conversation`

const ofConversation: ReadonlySet<HookPointName> = new Set<HookPointName>([
  "postStep",
  "preStop",
  "preCompaction",
  "postCompaction"
])

/**
 * Reads a recording. If its last line was cut off, it is read up to there, and `torn` says so.
 *
 * @category reading
 * @since 0.1.0
 */
export const parse = checked("Recording.parse", ["text"], (text: string): Result.Result<Recording, RecordingError> => {
  const lines = text.split("\n")
  const isWhole = lines.at(-1) === ""
  if (isWhole) lines.pop()
  if (lines.length === 0) return refuse("not-a-recording", 1, "it is empty")
  const entries: Array<Entry> = []
  const contexts = new Map<string, ReadContext>()
  for (const [index, line] of lines.entries()) {
    const parsed = Result.try(() => JSON.parse(line) as unknown)
    const isLast = index === lines.length - 1
    if (Result.isFailure(parsed)) {
      if (isLast && index > 0) return Result.succeed({ entries, torn: `line ${index + 1} is cut off` })
      if (index === 0) return refuse("not-a-recording", 1, "it does not begin with the header of a recording")
      return refuse("corrupt", index + 1, `line ${index + 1} is not JSON`)
    }
    const { success: value } = parsed
    if (isHeader(value)) {
      if (value.version > version) {
        return refuse(
          "newer-version",
          index + 1,
          `it has version ${value.version}: this release reads up to ${version}`
        )
      }
      // Several runs may have written to the same file. Each begins anew.
      contexts.clear()
      continue
    }
    if (index === 0) return refuse("not-a-recording", 1, "it does not begin with the header of a recording")
    if (!isEntry(value)) return refuse("corrupt", index + 1, `line ${index + 1} is not an entry of a recording`)
    entries.push(value.type === "event" ? value : { ...value, event: complete(value, contexts) })
  }
  return Result.succeed({ entries })
})

type Messages = ReadonlyArray<Message>
type Tools = ReadonlyArray<ToolMeta>

/** What was written last. */
interface Context {
  readonly messages: Messages
  readonly tools: Tools
}

const empty: Context = { messages: [], tools: [] }

/** What was read last. `all` grows with the lists after it that begin with it. */
interface ReadContext {
  readonly all: Array<Message>
  readonly tools: Tools
  readonly request?: JsonObject
}

const sharedLength = (before: Messages, now: Messages): number => {
  const most = Math.min(before.length, now.length)
  let length = 0
  while (length < most && isSameMessage(before[length], now[length])) length++
  return length
}

const isSameMessage = (a: Message | undefined, b: Message | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

/** Adds what the writer has left out. */
const complete = ({ event, point, sessionId }: Input, contexts: Map<string, ReadContext>): JsonObject => {
  const key = keyOf(point, sessionId)
  const before: ReadContext = contexts.get(key) ?? { all: [], tools: [] }
  if (event["history"] !== undefined) {
    const { history, tools, ...rest } = event
    const { add, keep } = Object(history) as { readonly keep?: unknown; readonly add?: unknown }
    const kept = typeof keep === "number" ? keep : 0
    // Each list begins with the one before, mostly with all of it. So they share one array, and are made when they are
    // read: the lists of a long run together are much longer than the run.
    const all = kept === before.all.length ? before.all : before.all.slice(0, kept)
    // They were written as messages.
    if (Array.isArray(add)) all.push(...add as unknown as Messages)
    const { length } = all
    const known = Array.isArray(tools) ? tools as unknown as Tools : before.tools
    const request = {
      ...rest,
      get messages() {
        return all.slice(0, length)
      },
      ...(point === "preLlmCall" ? { tools: known } : {})
    } as unknown as JsonObject
    contexts.set(key, { all, tools: known, request })
    return request
  }
  if (point === "postLlmCall" || point === "onLlmError") {
    const { request = { messages: [], tools: [], parameters: {} } } = before
    return { ...event, request }
  }
  const call = Object(event["call"] ?? event) as { readonly name?: unknown }
  const tool = before.tools.find(({ name }) => name === call.name)
  const needsTool = point === "preToolCall" || point === "postToolCall"
  return needsTool && event["tool"] === undefined && tool !== undefined
    ? { ...event, tool: tool as unknown as Json }
    : event
}

const isHeader = Schema.is(Schema.Struct({ type: Schema.Literal("recording"), version: Schema.Finite }))

const isInput = Schema.is(Schema.Struct({
  type: Schema.Literal("input"),
  point: Schema.Literals(names),
  sessionId: Schema.String,
  rootSessionId: Schema.String,
  turnNumber: Schema.Finite,
  stepNumber: Schema.Finite,
  agent: Schema.String,
  depth: Schema.Finite,
  time: Schema.Finite,
  event: Schema.Record(Schema.String, Schema.Unknown)
}))

const isEvent = Schema.is(Schema.Struct({
  type: Schema.Literal("event"),
  event: Schema.Struct({
    type: Schema.String,
    seq: Schema.Finite,
    sessionId: Schema.String,
    rootSessionId: Schema.String,
    turnNumber: Schema.Finite,
    stepNumber: Schema.Finite,
    time: Schema.Finite,
    agent: Schema.String,
    agentPath: Schema.Array(Schema.String)
  })
}))

/** The inner parts of an entry are checked by those who read them. */
const isEntry = (value: unknown): value is Entry => isInput(value) || isEvent(value)

const refuse = (problem: RecordingError["problem"], line: number, message: string) =>
  Result.fail(new RecordingError({ problem, line, message: `the recording cannot be read: ${message}` }))
