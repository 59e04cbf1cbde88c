/**
 * What commands say with their exit code, standard output and standard error, and what several of them say together.
 *
 * @since 0.1.0
 */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Finished } from "../../process/Command.ts"
import type { AgentWork, PromptWork, Work } from "../../Runners.ts"
import { cap, type Fields, isFields, maxText, type Reader, reader, record } from "../shared/fields.ts"
import { isMeant } from "../shared/strayAnswer.ts"
import { type EventName, rowOf } from "./events.ts"

/** How one command ended. @category models @since 0.1.0 */
export type Outcome =
  | { readonly type: "success"; readonly said: Said }
  | { readonly type: "blocking"; readonly reason: string; readonly said: Said }
  | { readonly type: "nonBlockingError"; readonly reason: string; readonly said?: Said }
  | { readonly type: "cancelled"; readonly cause: "timeout" | "interrupt" | "exhausted"; readonly reason: string }

/** What a command said besides blocking. @category models @since 0.1.0 */
export interface Said {
  /** `continue: false`, with what the user reads. */
  readonly stop?: string
  readonly permission?: "allow" | "ask" | "defer"
  readonly permissionReason?: string
  readonly updatedInput?: JsonObject
  readonly updatedOutput?: Json
  /** Counts for tools of MCP servers only. */
  readonly updatedMcpOutput?: Json
  readonly retry?: boolean
  readonly suppressOutput?: boolean
  /** A permission is denied, and the turn ends. */
  readonly interrupt?: boolean
  /** What the host may add to its rules. */
  readonly permissions?: Json
  /** What the session is called. */
  readonly title?: string
  /** For the terminal: notifications and titles, nothing that moves or clears. */
  readonly terminal?: string
  /** Files whose changes the script wants to hear of. */
  readonly watch?: ReadonlyArray<string>
  /** For the host that asked: `worktreePath`, `displayContent`, `action` and `content`. */
  readonly answer?: JsonObject
  /** For the model. */
  readonly context: ReadonlyArray<string>
  /** For the user. */
  readonly messages: ReadonlyArray<string>
  /** Fields that do not count, and why. */
  readonly problems: ReadonlyArray<string>
}

/** What all commands of one event say together. @category models @since 0.1.0 */
export interface Verdict extends Omit<Said, "suppressOutput" | "problems"> {
  /** The reasons of all that block, a line each. */
  readonly blocked?: string
  readonly warnings: ReadonlyArray<string>
}

export { maxText } from "../shared/fields.ts"

/**
 * Reads how a command ended. Standard output that begins with `{` is JSON, whatever the exit code; anything else is
 * text. Exit code 2 blocks where the event can be blocked;
 * at other codes but 0 valid JSON decides alone, and without it they are errors that block nothing.
 *
 * @example
 * ```ts
 * import * as Outcome from "@belay/hook-files/Outcome"
 *
 * const finished = { exitCode: 2, stdout: "", stderr: "not on main\n", timedOut: false, overflowed: false, durationMs: 12 }
 * const outcome = Outcome.read(finished, "PreToolUse") // { type: "blocking", reason: "not on main", … }
 * Outcome.aggregate([outcome, outcome]).blocked // "not on main\nnot on main"
 * ```
 * @category reading
 * @since 0.1.0
 */
export const read = (finished: Finished, event: EventName, work?: Work): Outcome => {
  const { exitCode, exhausted, overflowed, stderr, timedOut } = finished
  if (exhausted === true) {
    return { type: "cancelled", cause: "exhausted", reason: "came to no answer in the calls it has" }
  }
  if (timedOut) return { type: "cancelled", cause: "timeout", reason: "took too long and was ended" }
  // What is not known as a whole is no answer, but 2 needs none.
  if (overflowed && exitCode !== 2) return { type: "nonBlockingError", reason: "wrote too much" }
  if (exitCode === undefined) return { type: "nonBlockingError", reason: "was killed" }
  const stdout = overflowed ? "" : finished.stdout
  if (exitCode === 0 && (work?.type === "prompt" || work?.type === "agent")) return judged(stdout, event, work)
  const { blocks, plain, two } = rowOf(event)
  if (event === "WorktreeCreate") return worktree(finished)
  const json = record(spoken(stdout))
  const { reason, said } = json === undefined ? { reason: undefined, said: unread(stdout) } : decode(json, event)
  if (exitCode === 2 && blocks === true) {
    return { type: "blocking", reason: cap(reason ?? (stderr.trim() || "blocked without a reason")), said }
  }
  if (reason !== undefined) return { type: "blocking", reason, said }
  if (exitCode === 0 || (json !== undefined && exitCode !== 2)) {
    const context = json === undefined && plain === true && spoken(stdout) !== "" ? [spoken(stdout)] : said.context
    return { type: "success", said: { ...said, context } }
  }
  const first = stderr.trim()
  if (exitCode === 2 && two === "model") {
    return { type: "success", said: { ...said, context: [...said.context, ...(first === "" ? [] : [first])] } }
  }
  const messages = exitCode === 2 && two === "user" && first !== "" ? [...said.messages, cap(first)] : said.messages
  const line = cap(first.split("\n", 1)[0]!)
  return {
    type: "nonBlockingError",
    reason: `ended with ${exitCode}${line === "" ? "" : `: ${line}`}`,
    said: { ...said, messages }
  }
}

/**
 * What outcomes, in the order of the configuration, come to: any that blocks blocks; `defer` goes before `ask`, `ask`
 * before `allow`; of several new
 * inputs or outputs the last counts, with a warning. When each of them ended makes no difference.
 *
 * @category aggregation
 * @since 0.1.0
 */
export const aggregate = (
  outcomes: ReadonlyArray<Outcome>,
  labels: ReadonlyArray<string> = [],
  separator = "\n"
): Verdict => {
  const all = outcomes.map((outcome, index) => ({ outcome, label: labels[index] ?? `hook ${index + 1}` }))
  const said = outcomes.flatMap((outcome) => "said" in outcome && outcome.said !== undefined ? [outcome.said] : [])
  const reasons = outcomes.flatMap((outcome) => outcome.type === "blocking" ? [outcome.reason] : [])
  const stops = said.flatMap(({ stop }) => stop === undefined ? [] : [stop])
  const permission = (["defer", "ask", "allow"] as const).find((one) => said.some((each) => each.permission === one))
  const why = said.flatMap((each) =>
    each.permission === permission && each.permissionReason !== undefined ? [each.permissionReason] : []
  )
  const warnings = all.flatMap(({ label, outcome }) => [
    ...("said" in outcome ? outcome.said?.problems ?? [] : []).map((problem) => `${label}: ${problem}`),
    // An agent that comes to no answer is nobody's fault.
    ...(outcome.type === "nonBlockingError" || (outcome.type === "cancelled" && outcome.cause !== "exhausted")
      ? [`${label} ${outcome.reason}`]
      : [])
  ])
  const last = <K extends "updatedInput" | "updatedOutput" | "updatedMcpOutput">(key: K): Partial<Pick<Said, K>> => {
    const found = said.filter((each) => each[key] !== undefined)
    if (found.length > 1) warnings.push(`${found.length} hooks gave ${key}: the last of them counts`)
    return found.length === 0 ? {} : { [key]: found.at(-1)![key] } as Partial<Pick<Said, K>>
  }
  const newest = <K extends "permissions" | "title" | "terminal" | "answer">(key: K): Partial<Pick<Said, K>> => {
    const found = said.findLast((each) => each[key] !== undefined)
    return found === undefined ? {} : { [key]: found[key] } as Partial<Pick<Said, K>>
  }
  return {
    ...(reasons.length === 0 ? {} : { blocked: reasons.join(separator) }),
    ...(stops.length === 0 ? {} : { stop: stops.join("\n") }),
    ...(permission === undefined ? {} : { permission }),
    ...(why.length === 0 ? {} : { permissionReason: why.join("\n") }),
    // What is put off is decided about as it stands.
    ...(permission === "defer" ? {} : last("updatedInput")),
    ...last("updatedOutput"),
    ...last("updatedMcpOutput"),
    ...(said.some(({ retry }) => retry === true) ? { retry: true } : {}),
    ...(said.some(({ interrupt }) => interrupt === true) ? { interrupt: true } : {}),
    ...newest("permissions"),
    ...newest("title"),
    ...newest("terminal"),
    ...newest("answer"),
    ...(said.some(({ watch }) => watch !== undefined)
      ? { watch: [...new Set(said.flatMap(({ watch = [] }) => watch))] }
      : {}),
    context: said.flatMap(({ context }) => context),
    messages: said.flatMap(({ messages, suppressOutput }) => suppressOutput === true ? [] : messages),
    warnings
  }
}

/**
 * Reads the first line of a command's output: for how many milliseconds the command wants to go on by itself, where it
 * says `{"async":true}`. Its `asyncTimeout` is in
 * seconds below 1,000, else in milliseconds; without one it has a day.
 *
 * @category reading
 * @since 0.1.0
 */
export const detached = (line: string): number | undefined => {
  const json = line.length > maxText ? undefined : record(line)
  if (json === undefined || !Object.hasOwn(json, "async") || json["async"] !== true) return undefined
  const time = Object.hasOwn(json, "asyncTimeout") ? json["asyncTimeout"] : undefined
  return typeof time !== "number" || !(time > 0) ? 86_400_000 : time < 1_000 ? time * 1_000 : time
}

/** What was written, without a first line that only says that nobody has to wait. */
const spoken = (stdout: string): string => {
  const text = stdout.trim()
  const [first = ""] = text.split("\n", 1)
  return detached(first) === undefined ? text : text.slice(first.length).trim()
}

/** Nothing was said. @category models @since 0.1.0 */
export const silent: Said = { context: [], messages: [], problems: [] }

/** Text says nothing but itself, though its writer may have meant more. */
const unread = (stdout: string): Said =>
  isMeant(stdout)
    ? { ...silent, problems: ["its output counts as text, because it is not one JSON object and nothing else"] }
    : silent

/** What a model found: `{ ok, reason, impossible }`. */
const judged = (stdout: string, event: EventName, work: PromptWork | AgentWork): Outcome => {
  const { impossible, ok, reason: why } = record(stdout) ?? {}
  if (typeof ok !== "boolean") return { type: "nonBlockingError", reason: "gave no answer of the form { ok, reason }" }
  if (ok) return { type: "success", said: silent }
  const reason = cap(typeof why === "string" && why.trim() !== "" ? why : "refused without a reason")
  const goesOn = work.type === "agent" || work.continueOnBlock === true
  if (event === "Stop" || event === "SubagentStop") {
    return impossible === true
      ? { type: "success", said: { ...silent, messages: [reason] } }
      : { type: "blocking", reason, said: silent }
  }
  if (event === "PermissionRequest" || event === "PermissionDenied") return { type: "success", said: silent }
  if (event === "PostToolUseFailure") return { type: "success", said: { ...silent, context: [reason] } }
  const stays = goesOn || event === "TaskCreated" || event === "TaskCompleted"
  return { type: "blocking", reason, said: stays ? silent : { ...silent, stop: reason } }
}

/** The path of a new worktree is the last line; whatever is not 0 fails. */
const worktree = ({ exitCode, stderr, stdout }: Finished): Outcome => {
  const text = stdout.trim()
  const json = record(text)
  const said = json === undefined ? silent : decode(json, "WorktreeCreate").said
  if (exitCode !== 0) return { type: "blocking", reason: cap(stderr.trim() || `ended with ${exitCode}`), said }
  const path = said.answer === undefined ? text.split("\n").at(-1)!.trim() : ""
  return path === "" || json !== undefined
    ? { type: "success", said }
    : { type: "success", said: { ...said, answer: { worktreePath: cap(path) } } }
}

/** Reads field by field: one that makes no sense does not make the others unheard. */
const decode = (json: Fields, event: EventName): { readonly reason: string | undefined; readonly said: Said } => {
  const read = reader()
  const { flag, problems, text } = read
  const specific = specificOf(json, event, problems)
  const goesOn = flag(json, "continue")
  const decision = read.oneOf(json, "decision", "block", "approve")
  const permission = event === "PermissionRequest"
    ? permissionOf(read.fields(specific, "decision"), read)
    : {
      ...unasked,
      is: read.oneOf(specific, "permissionDecision", "allow", "deny", "ask", "defer"),
      why: text(specific, "permissionDecisionReason")
    }
  // What tightens is heard without a name, what loosens is not.
  const isNameless = permission.is === "allow" && !Object.hasOwn(specific, "hookEventName")
  if (isNameless) problems.push(`allow does not count: hookSpecificOutput needs hookEventName ${event}`)
  const chosen = (isNameless ? undefined : permission.is) ??
    (decision === "approve" && event === "PreToolUse" ? "allow" : undefined)
  const denies = chosen === "deny"
  const blocks = decision === "block" && rowOf(event).blocks === true
  if (decision === "block" && !blocks) problems.push(`decision does not count: ${event} cannot be blocked`)
  const why = permission.why ?? text(json, "reason")
  const stop = goesOn === false ? cap(text(json, "stopReason") ?? "stopped by a hook") : undefined
  const context = [
    text(specific, "additionalContext"),
    event === "SessionStart" ? text(specific, "initialUserMessage") : undefined
  ]
  const message = text(json, "systemMessage")
  const input = event === "PreToolUse" ? read.object(specific, "updatedInput") : permission.input
  const output = read.json(specific, "updatedToolOutput")
  const mcp = read.json(specific, "updatedMCPToolOutput")
  const retry = flag(specific, "retry")
  const title = text(specific, "sessionTitle")
  const sequence = text(json, "terminalSequence")
  const watch = read.texts(specific, "watchPaths")
  const answer = answerOf(specific, event, read)
  const suppress = flag(json, "suppressOutput")
  const said: Said = {
    ...(stop === undefined ? {} : { stop }),
    ...(chosen === undefined || denies ? {} : { permission: chosen }),
    ...(why === undefined || denies || blocks ? {} : { permissionReason: cap(why) }),
    ...(input === undefined ? {} : { updatedInput: input }),
    ...(output === undefined ? {} : { updatedOutput: output }),
    ...(mcp === undefined ? {} : { updatedMcpOutput: mcp }),
    ...(retry === undefined ? {} : { retry }),
    ...(permission.interrupt === true ? { interrupt: true } : {}),
    ...(permission.permissions === undefined ? {} : { permissions: permission.permissions }),
    ...(title === undefined ? {} : { title: title.slice(0, 500) }),
    ...(sequence !== undefined && harmless.test(sequence) ? { terminal: sequence } : {}),
    ...(watch === undefined ? {} : { watch: watch.slice(0, 1_000) }),
    ...(answer === undefined ? {} : { answer }),
    ...(suppress === undefined ? {} : { suppressOutput: suppress }),
    context: context.filter((one): one is string => one !== undefined && one.trim() !== ""),
    messages: message === undefined || message === "" ? [] : [cap(message)],
    problems
  }
  const reason = denies || blocks ? cap(why ?? "blocked without a reason") : stop
  return { reason, said }
}

interface Permission {
  readonly is: "allow" | "deny" | "ask" | "defer" | undefined
  readonly why: string | undefined
  readonly input: JsonObject | undefined
  readonly interrupt: boolean | undefined
  readonly permissions: Json | undefined
}

const unasked: Permission = {
  is: undefined,
  why: undefined,
  input: undefined,
  interrupt: undefined,
  permissions: undefined
}

const permissionOf = (decision: Fields | undefined, { flag, json, object, oneOf, text }: Reader): Permission =>
  decision === undefined ? unasked : {
    is: oneOf(decision, "behavior", "allow", "deny"),
    why: text(decision, "message"),
    input: object(decision, "updatedInput"),
    interrupt: flag(decision, "interrupt"),
    permissions: json(decision, "updatedPermissions")
  }

/** What the host reads that told of the event. */
const answerOf = (specific: Fields, event: EventName, { object, oneOf, text }: Reader): JsonObject | undefined => {
  if (event === "WorktreeCreate") {
    const worktreePath = text(specific, "worktreePath")
    return worktreePath === undefined ? undefined : { worktreePath }
  }
  if (event === "MessageDisplay") {
    const displayContent = text(specific, "displayContent")
    return displayContent === undefined ? undefined : { displayContent }
  }
  if (event !== "Elicitation" && event !== "ElicitationResult") return undefined
  const action = oneOf(specific, "action", "accept", "decline", "cancel")
  const content = object(specific, "content")
  return action === undefined ? undefined : { action, ...(content === undefined ? {} : { content }) }
}

/** Titles, notifications and the bell. */
// oxlint-disable-next-line no-control-regex -- control sequences are what this is about
const harmless = /^(?:\u0007|\u001B\](?:0|1|2|9|99|777);[^\u0000-\u001F\u007F-\u009F]{0,1000}(?:\u0007|\u001B\\))+$/

/** What is meant for another event does not count here. */
const specificOf = (json: Fields, event: EventName, problems: Array<string>): Fields => {
  const specific = Object.hasOwn(json, "hookSpecificOutput") ? json["hookSpecificOutput"] : undefined
  if (specific === undefined || specific === null) return {}
  if (!isFields(specific)) {
    problems.push("hookSpecificOutput does not count: expected an object")
    return {}
  }
  const name = Object.hasOwn(specific, "hookEventName") ? specific["hookEventName"] : undefined
  if (name === undefined || name === event) return specific
  problems.push(`hookSpecificOutput does not count: its hookEventName is not ${event}`)
  return {}
}
