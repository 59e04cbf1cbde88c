/** Reads the answer of an entry from its exit code, standard output and standard error. */
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import { cap, type Fields, maxText, record } from "../../../internal/fields.ts"
import type { Finished } from "../../../process/Command.ts"
import type { AgentWork, PromptWork, Work } from "../../../runner/Runners.ts"
import { looksLikeAnswer } from "../../shared/strayAnswer.ts"
import { type EventName, rowOf } from "../event/events.ts"
import { type Answer, silent } from "./answer.ts"
import { decodeFields } from "./answerFields.ts"

/**
 * Reads the answer of an entry. Standard output that begins with `{` is read as JSON, and any other output is text.
 * Exit code 2 blocks the operation if the event can be blocked. For every other exit code, valid JSON decides. Without
 * JSON, an exit code that is not 0 is an error that does not block. The function never throws.
 *
 * @example
 * ```ts
 * import * as Outcome from "@belay/hook-files/Outcome"
 *
 * const finished = {
 *   exitCode: 2,
 *   stdout: "",
 *   stderr: "not on main\n",
 *   timedOut: false,
 *   overflowed: false,
 *   durationMs: 12
 * }
 * const answer = Outcome.read(finished, "PreToolUse") // { outcome: "blocking", blocked: "not on main", … }
 * Outcome.merge([answer, answer]).blocked // "not on main\nnot on main"
 * ```
 * @category reading
 * @since 0.1.0
 */
export const read = checked(
  "Outcome.read",
  ["finished", "event", "work"],
  (finished: Finished, event: EventName, work?: Work): Answer => {
    const { exhausted, exitCode, overflowed, timedOut } = finished
    if (exhausted === true) return { ...silent, outcome: "cancelled" }
    if (timedOut) return { ...silent, outcome: "cancelled", problem: "took too long and was ended" }
    // Output that was cut off does not count. Exit code 2 blocks without output.
    if (overflowed && exitCode !== 2) return failure("wrote too much")
    if (exitCode === undefined) return failure("was killed")
    const stdout = overflowed ? "" : finished.stdout
    if (exitCode === 0 && (work?.type === "prompt" || work?.type === "agent")) return readVerdict(stdout, event, work)
    if (event === "WorktreeCreate") return readWorktree(finished)
    return readExit(exitCode, stdout, finished.stderr.trim(), event)
  }
)

const failure = (problem: string): Answer => ({ ...silent, outcome: "nonBlockingError", problem })

const readExit = (exitCode: number, stdout: string, stderr: string, event: EventName): Answer => {
  const { blocks, plain, two } = rowOf(event)
  const text = withoutAsyncLine(stdout)
  const json = record(text)
  const answer = json === undefined ? readText(stdout) : decodeFields(json, event)
  if (exitCode === 2 && blocks === true) {
    return {
      ...answer,
      outcome: "blocking",
      blocked: cap(answer.blocked ?? (stderr || answer.messages[0] || "blocked without a reason"))
    }
  }
  if (answer.blocked !== undefined) return { ...answer, outcome: "blocking" }
  if (exitCode === 0 || (json !== undefined && exitCode !== 2)) {
    return json === undefined && plain === true && text !== "" ? { ...answer, context: [text] } : answer
  }
  if (exitCode === 2 && two === "model") {
    return stderr === "" ? answer : { ...answer, context: [...answer.context, stderr] }
  }
  const line = cap(stderr.split("\n", 1)[0]!)
  return {
    ...answer,
    outcome: "nonBlockingError",
    problem: `ended with ${exitCode}${line === "" ? "" : `: ${line}`}`,
    messages: exitCode === 2 && two === "user" && stderr !== "" && answer.suppressOutput !== true
      ? [...answer.messages, cap(stderr)]
      : answer.messages
  }
}

/**
 * Reads the first line of a command's output. If the line is `{"async":true}`, the command wants to continue in the
 * background, and the function returns for how many milliseconds. Otherwise it returns undefined. The line may contain
 * `asyncTimeout`: a number below 1,000 is in seconds, any other number in milliseconds. The default is one day.
 *
 * @category reading
 * @since 0.1.0
 */
export const detachMs = checked("Outcome.detachMs", ["line"], (line: string): number | undefined => {
  const json = line.length > maxText ? undefined : record(line)
  if (json === undefined || !Object.hasOwn(json, "async") || json["async"] !== true) return undefined
  const time = Object.hasOwn(json, "asyncTimeout") ? json["asyncTimeout"] : undefined
  return typeof time !== "number" || !(time > 0) ? 86_400_000 : time < 1_000 ? time * 1_000 : time
})

/** Returns the output without the first line, if that line is `{"async":true}`. */
const withoutAsyncLine = (stdout: string): string => {
  const text = stdout.trim()
  const [first = ""] = text.split("\n", 1)
  return detachMs(first) === undefined ? text : text.slice(first.length).trim()
}

/** Text decides nothing. If it looks like a JSON answer, the developer gets a warning. */
const readText = (stdout: string): Answer =>
  looksLikeAnswer(stdout)
    ? { ...silent, problems: ["its output counts as text, because it is not exactly one JSON object"] }
    : silent

/** Reads the answer of a model: `{ ok, reason, impossible }`. */
const readVerdict = (stdout: string, event: EventName, work: PromptWork | AgentWork): Answer => {
  const { impossible, ok, reason: text }: Fields = record(stdout) ?? {}
  if (typeof ok !== "boolean") return failure("gave no answer of the form { ok, reason }")
  if (ok) return silent
  const reason = cap(typeof text === "string" && text.trim() !== "" ? text : "refused without a reason")
  if (event === "Stop" || event === "SubagentStop") {
    return impossible === true
      ? { ...silent, messages: [reason] }
      : { ...silent, outcome: "blocking", blocked: reason }
  }
  if (event === "PermissionRequest" || event === "PermissionDenied") return silent
  if (event === "PostToolUseFailure") return { ...silent, context: [reason] }
  const blocks: Answer = { ...silent, outcome: "blocking", blocked: reason }
  const isTask = event === "TaskCreated" || event === "TaskCompleted"
  return work.type === "agent" || work.continueOnBlock === true || isTask ? blocks : { ...blocks, stop: reason }
}

/** Reads the path of a new worktree from the last line of output. Every exit code that is not 0 is a failure. */
const readWorktree = ({ exitCode, stderr, stdout }: Finished): Answer => {
  const text = stdout.trim()
  const json = record(text)
  const { blocked: _blocked, ...answer } = json === undefined ? silent : decodeFields(json, "WorktreeCreate")
  if (exitCode !== 0) {
    return { ...answer, outcome: "blocking", blocked: cap(stderr.trim() || `ended with ${exitCode}`) }
  }
  const path = json === undefined ? text.split("\n").at(-1)!.trim() : ""
  return { ...answer, ...defined({ answer: path === "" ? answer.answer : { worktreePath: cap(path) } }) }
}
