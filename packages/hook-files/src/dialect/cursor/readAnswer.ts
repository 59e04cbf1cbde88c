/** Reads the answer of an entry of Cursor from its exit code and its output. */
import { defined } from "@belay/core/Fields"
import { cap, type Fields, isFields, parse, type Reader, reader } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"
import { looksLikeAnswer, lostAnswerWarning } from "../shared/strayAnswer.ts"
import { type Answer, silent } from "./answer.ts"
import type { Handler } from "./config.ts"
import { type EventName, rowOf } from "./events.ts"

type Entry = Pick<Handler, "event" | "failClosed" | "work">

/**
 * Reads an answer. Exit code 0 is a success, whose standard output is one JSON object or empty. Exit code 2 blocks. Any
 * other end is a failure, which blocks only with `failClosed`.
 */
export const read = (entry: Entry, finished: Finished): Answer => {
  const { exitCode, overflowed, stderr, stdout, timedOut } = finished
  const { event, work } = entry
  if (timedOut) return failed(entry, "took too long and was ended", "cancelled")
  if (overflowed) return failed(entry, "wrote too much output and was ended")
  const text = stdout.trim()
  const parsed = parse(text)
  const json = isFields(parsed) ? parsed : undefined
  const error = cap(stderr.trim())
  if (exitCode === 2 && rowOf(event).gate === true) {
    const { agent, user } = messagesOf(json ?? {}, reader())
    const own = json === undefined ? text : ""
    return blocking(agent ?? user ?? (error || cap(own) || "blocked by a hook"), user)
  }
  if (exitCode !== 0) {
    const how = exitCode === undefined ? "was killed" : `ended with ${exitCode}`
    return failed(entry, error === "" ? how : `${how}: ${error.split("\n", 1)[0]!}`)
  }
  if (json !== undefined) return work.type === "prompt" ? judged(event, json) : decodeFields(json, event)
  if (text === "") return silent
  if (rowOf(event).gate === true) return failed(entry, "wrote output that is not JSON")
  return looksLikeAnswer(text) ? { ...silent, problems: [lostAnswerWarning] } : silent
}

const blocking = (denied: string, user?: string): Answer => ({
  ...silent,
  outcome: "blocking",
  denied: cap(denied),
  messages: user === undefined ? [] : [cap(user)]
})

const failed = (
  { event, failClosed }: Entry,
  problem: string,
  outcome: Answer["outcome"] = "nonBlockingError"
): Answer =>
  failClosed && rowOf(event).gate === true
    ? { ...silent, outcome: "blocking", problem, denied: `a hook failed: it ${problem}` }
    : { ...silent, outcome, problem }

/** The answer of a model: `{ ok, reason }`. */
const judged = (event: EventName, { ok, reason }: Fields): Answer => {
  if (ok !== false) return silent
  const why = typeof reason === "string" && reason.trim() !== "" ? reason : "blocked by a hook"
  if (rowOf(event).gate === true) return blocking(why)
  return event === "stop" || event === "subagentStop" ? { ...silent, followUp: cap(why) } : silent
}

/** The messages for the user and for the model. Old versions of Cursor wrote them in camel case. */
const messagesOf = (json: Fields, { text }: Reader): { readonly user?: string; readonly agent?: string } =>
  defined({
    user: some(text(json, "user_message") ?? text(json, "userMessage")),
    agent: some(text(json, "agent_message") ?? text(json, "agentMessage"))
  })

const some = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" ? undefined : text

const decodeFields = (json: Fields, event: EventName): Answer => {
  const read = reader()
  const said = decoders[event]?.(json, read) ?? silent
  return { ...said, problems: [...said.problems, ...read.problems, ...ignored(json, event)] }
}

/** Returns a problem for each field of an answer that is used only at other events. */
const ignored = (json: Fields, event: EventName): ReadonlyArray<string> => {
  const { fields = [] } = rowOf(event)
  return answerFields.flatMap((field) =>
    Object.hasOwn(json, field) && !fields.includes(field) && !isIdle(json[field])
      ? [`${field} does not count at ${event}`]
      : []
  )
}

const answerFields = [
  "permission",
  "continue",
  "updated_input",
  "additional_context",
  "updated_mcp_tool_output",
  "followup_message",
  "env"
]

const isIdle = (value: unknown): boolean => value === "allow" || value === true || value === null || value === ""

/** How `ask` is treated: a person decides, the action is blocked, or it does not count. */
const asking: { readonly [E in EventName]?: "person" | "deny" } = {
  beforeShellExecution: "person",
  beforeMCPExecution: "person",
  subagentStart: "deny"
}

const permission = (event: EventName) => (json: Fields, read: Reader): Answer => {
  const inner = event === "preToolUse" ? read.fields(json, "hookSpecificOutput") ?? {} : {}
  const { agent, user } = messagesOf(json, read)
  const decided = read.oneOf(json, "permission", "allow", "deny", "ask") ??
    read.oneOf(inner, "permissionDecision", "allow", "deny", "ask")
  const reason = agent ?? user ?? some(read.text(inner, "permissionDecisionReason"))
  if (decided === "deny" || (decided === "ask" && asking[event] === "deny")) {
    return blocking(reason ?? "blocked by a hook", user)
  }
  const input = event === "preToolUse"
    ? read.object(json, "updated_input") ?? read.object(inner, "updatedInput")
    : undefined
  if (decided === "ask" && asking[event] === undefined) {
    read.problems.push(`permission "ask" does not count at ${event}`)
  }
  const asks = decided === "ask" && asking[event] === "person"
    ? cap(user ?? reason ?? "a hook asks for approval")
    : undefined
  return { ...silent, ...defined({ input, asks }) }
}

const followUp = (json: Fields, read: Reader): Answer => {
  const inner = read.fields(json, "hookSpecificOutput") ?? {}
  const from = Object.hasOwn(json, "decision") ? json : inner
  const isBlocked = read.oneOf(from, "decision", "block", "approve", "allow") === "block"
  const text = some(read.text(json, "followup_message")) ?? (isBlocked ? some(read.text(from, "reason")) : undefined)
  return { ...silent, ...defined({ followUp: text === undefined ? undefined : cap(text) }) }
}

const context = (json: Fields, read: Reader): { readonly context?: string } => {
  const text = some(read.text(json, "additional_context"))
  return text === undefined ? {} : { context: cap(text) }
}

const environment = (json: Fields, read: Reader): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(read.fields(json, "env") ?? {}).flatMap(([name, value]) =>
      /^[A-Za-z_]\w{0,200}$/.test(name) && typeof value === "string" ? [[name, value]] : []
    )
  )

const decoders: { readonly [E in EventName]?: (json: Fields, read: Reader) => Answer } = {
  sessionStart: (json, read) => ({ ...silent, ...context(json, read), env: environment(json, read) }),
  beforeSubmitPrompt: (json, read) => {
    const { agent, user } = messagesOf(json, read)
    return read.flag(json, "continue") === false ? blocking(user ?? agent ?? "blocked by a hook", user) : silent
  },
  preToolUse: permission("preToolUse"),
  postToolUse: (json, read) => ({
    ...silent,
    ...context(json, read),
    ...defined({ output: read.object(json, "updated_mcp_tool_output") })
  }),
  beforeShellExecution: permission("beforeShellExecution"),
  beforeMCPExecution: permission("beforeMCPExecution"),
  beforeReadFile: permission("beforeReadFile"),
  beforeTabFileRead: permission("beforeTabFileRead"),
  subagentStart: permission("subagentStart"),
  subagentStop: followUp,
  stop: followUp,
  preCompact: (json, read) => {
    const { user } = messagesOf(json, read)
    return user === undefined ? silent : { ...silent, messages: [cap(user)] }
  }
}
