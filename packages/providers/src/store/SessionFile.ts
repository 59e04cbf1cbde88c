/**
 * Writes a session as a text file with JSON lines, and reads it back. The lines are a header, the messages, the records
 * and the state.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { whyNot } from "@belay/core/Json"
import { Message, whyInvalid } from "@belay/core/Message"
import * as RunState from "@belay/core/RunState"
import { TaggedError } from "@belay/core/TaggedError"
import { zero } from "@belay/core/Usage"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The version that this release writes. Newer versions are refused. @category constants @since 0.1.0 */
export const version = 1

/** A file that cannot be read. `line` counts from 1. @category errors @since 0.1.0 */
export class SessionFileError extends TaggedError<SessionFileError>()("SessionFileError", {
  problem: Schema.Literals(["not-a-session-file", "newer-version", "corrupt"]),
  line: Schema.Finite,
  message: Schema.String
}) {}

/** The content of a session file. @category models @since 0.1.0 */
export interface SessionFileContent {
  /** The state. It can be resumed unless its phase is `ended`. */
  readonly state: RunState.RunState
  readonly records: ReadonlyArray<unknown>
  /**
   * What was lost, if the file ends too early. The conversation is then kept as far as it is complete, and its turn has
   * ended.
   */
  readonly torn?: string
}

const Header = Schema.Struct({
  type: Schema.Literal("session"),
  version: Schema.Literal(version),
  sessionId: Schema.String,
  revision: Schema.Finite,
  turnNumber: Schema.Finite,
  coreType: Schema.String,
  messages: Schema.Finite
})

/**
 * Writes a session as lines of JSON. Each line ends with a newline.
 *
 * @example
 * ```ts
 * import * as SessionFile from "@belay/providers/SessionFile"
 * import type { SqliteStore } from "@belay/providers/SqliteStore"
 * import * as Effect from "effect/Effect"
 *
 * export const backup = Effect.fn(function*({ sessions }: SqliteStore, id: string) {
 *   const state = yield* sessions.load(id)
 *   return state === undefined ? "" : SessionFile.exportJsonl(state, yield* sessions.records(id))
 * })
 * ```
 * @category writing
 * @since 0.1.0
 */
export const exportJsonl = checked(
  "SessionFile.exportJsonl",
  ["state", "records"],
  (state: RunState.RunState, records: ReadonlyArray<unknown> = []): string => {
    const { messages, ...rest } = state
    const { coreType, revision, sessionId, turnNumber } = rest
    return [
      { type: "session", version, sessionId, revision, turnNumber, coreType, messages: messages.length },
      ...messages.map((message) => ({ type: "message", message })),
      ...records.map((record) => ({ type: "record", record })),
      { type: "state", state: rest }
    ].map((line) => `${JSON.stringify(line)}\n`).join("")
  }
)

/**
 * Reads a session file. If the file was cut off, it is read up to there, and `torn` says what was lost. If it is
 * damaged elsewhere, it is refused with the number of the line.
 *
 * @category reading
 * @since 0.1.0
 */
export const importJsonl = Effect.fnUntraced(
  function*(text: string): Effect.fn.Return<SessionFileContent, SessionFileError> {
    if (typeof text !== "string") return yield* refuse("not-a-session-file", 1, "expected the text of a session file")
    const lines = (text.startsWith("\uFEFF") ? text.slice(1) : text).split("\n").map((line) =>
      line.endsWith("\r") ? line.slice(0, -1) : line
    )
    // A complete file ends with a newline.
    if (lines.at(-1) === "") lines.pop()
    const header = yield* headerOf(lines[0] ?? "")
    const messages: Array<Message> = []
    const records: Array<unknown> = []
    for (const [index, line] of lines.entries()) {
      if (index === 0) continue
      const number = index + 1
      const parsed = parse(line)
      if (Result.isFailure(parsed)) {
        if (number === lines.length) return yield* cut(header, messages, records, `line ${number} is torn`)
        return yield* corrupt(number, `is not JSON: ${parsed.failure}`)
      }
      const { success: entry } = parsed
      const tooDeep = whyNot(entry, "$", -64)
      if (tooDeep !== undefined) return yield* corrupt(number, `is not valid: ${tooDeep}`)
      if (isMessage(entry)) {
        if (records.length > 0) return yield* corrupt(number, "is a message after the records")
        messages.push(entry.message)
      } else if (isRecord(entry)) records.push(entry["record"])
      else if (isState(entry)) {
        if (number < lines.length) return yield* corrupt(number + 1, "follows the state, which is the end")
        if (messages.length !== header.messages) {
          return yield* corrupt(
            number,
            `follows ${messages.length} messages, there were ${header.messages}: lines are missing`
          )
        }
        return { state: yield* whole(entry.state, messages, header.sessionId, number), records }
      } else return yield* corrupt(number, "is not a message, record or state")
    }
    return yield* cut(header, messages, records, `the file ends after line ${lines.length}, before its state`)
  }
)

const refuse = (problem: SessionFileError["problem"], line: number, message: string) =>
  new SessionFileError({ problem, line, message })

const corrupt = (line: number, what: string) => refuse("corrupt", line, `line ${line} ${what}`)

const parse = (line: string): Result.Result<unknown, string> =>
  Result.try({
    try: () => JSON.parse(line) as unknown,
    catch: (error) => error instanceof Error ? error.message : String(error)
  })

const isHeader = Schema.is(Header)
const isMessage = Schema.is(Schema.Struct({ type: Schema.Literal("message"), message: Message }))
const isState = Schema.is(
  Schema.Struct({ type: Schema.Literal("state"), state: Schema.Record(Schema.String, Schema.Unknown) })
)
const isRecord = (entry: unknown): entry is { readonly record: unknown } =>
  typeof entry === "object" && entry !== null && "type" in entry && entry.type === "record" &&
  Object.hasOwn(entry, "record")

const headerOf = (line: string): Effect.Effect<typeof Header.Type, SessionFileError> => {
  const header = Result.getOrElse(parse(line), () => undefined)
  if (isHeader(header)) return Effect.succeed(header)
  // The header is not checked yet, so its fields are unknown.
  const { type, version: found } = Object(header) as { readonly type?: unknown; readonly version?: unknown }
  return type === "session" && typeof found === "number" && found > version
    ? refuse(
      "newer-version",
      1,
      `the file has version ${found}, and this Belay reads up to version ${version}: import it with a newer Belay`
    )
    : refuse("not-a-session-file", 1, "line 1 is not the header of a session file")
}

/** Returns the complete state. */
const whole = Effect.fnUntraced(function*(
  rest: object,
  messages: ReadonlyArray<Message>,
  sessionId: string,
  line: number
): Effect.fn.Return<RunState.RunState, SessionFileError> {
  const state = yield* Effect.mapError(
    RunState.decode({ ...rest, messages }),
    ({ message, problem }) =>
      refuse(problem === "newer-version" ? problem : "corrupt", line, `line ${line}: ${message}`)
  )
  if (state.sessionId !== sessionId) {
    return yield* corrupt(line, `is the state of session ${state.sessionId}, not of ${sessionId}`)
  }
  const why = whyInvalid(messages)
  return why === undefined ? state : yield* corrupt(line, `follows messages that are not a valid conversation: ${why}`)
})

/** Returns what can be used of a file that ends too early: the longest valid conversation. */
const cut = (
  { coreType, messages: expected, revision, sessionId, turnNumber }: typeof Header.Type,
  messages: Array<Message>,
  records: ReadonlyArray<unknown>,
  what: string
): Effect.Effect<SessionFileContent, SessionFileError> => {
  messages.length = soundLength(messages)
  const state: RunState.RunState = {
    version: RunState.version,
    sessionId,
    revision,
    turnNumber,
    stepNumber: 0,
    coreType,
    input: { message: "" },
    phase: "ended",
    messages,
    calls: [],
    injections: [],
    usage: zero,
    counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
    hookState: {}
  }
  return Effect.succeed({
    state,
    records,
    torn: `${what}: ${messages.length} of ${expected} messages are kept, the state is lost`
  })
}

/** Returns how many messages, counted from the first, form a valid conversation. */
const soundLength = (messages: ReadonlyArray<Message>): number => {
  const seen = new Set<string>()
  let open: Array<string> = []
  let length = 0
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (open.shift() !== message.toolCallId) return length
    } else {
      if (open.length > 0) return length
      open = message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
      if (open.some((id) => seen.has(id)) || new Set(open).size < open.length) return length
      for (const id of open) seen.add(id)
    }
    if (open.length === 0) length = index + 1
  }
  return length
}
