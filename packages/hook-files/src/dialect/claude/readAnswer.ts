/** Reads how an entry of a settings file ended: exit code, standard output and standard error become one answer. */
import { defined } from "../../internal/defined.ts"
import type { Finished } from "../../process/Command.ts"
import type { AgentWork, PromptWork, Work } from "../../Runners.ts"
import { cap, type Fields, maxText, record } from "../shared/fields.ts"
import { looksLikeAnswer } from "../shared/strayAnswer.ts"
import { type Answer, silent } from "./answer.ts"
import { decodeFields } from "./answerFields.ts"
import { type EventName, rowOf } from "./events.ts"

/**
 * Reads how an entry ended. Standard output that begins with `{` is JSON, whatever the exit code; anything else is
 * text. Exit code 2 blocks where the event can be blocked. At other codes than 0 valid JSON decides alone, and without
 * JSON they are errors that block nothing.
 *
 * @example
 * ```ts
 * import * as Outcome from "@belay/hook-files/Outcome"
 *
 * const finished = { exitCode: 2, stdout: "", stderr: "not on main\n", timedOut: false, overflowed: false, durationMs: 12 }
 * const answer = Outcome.read(finished, "PreToolUse") // { outcome: "blocking", blocked: "not on main", … }
 * Outcome.merge([answer, answer]).blocked // "not on main\nnot on main"
 * ```
 * @category reading
 * @since 0.1.0
 */
export const read = (finished: Finished, event: EventName, work?: Work): Answer => {
  const { exhausted, exitCode, overflowed, timedOut } = finished
  if (exhausted === true) return { ...silent, outcome: "cancelled" }
  if (timedOut) return { ...silent, outcome: "cancelled", problem: "took too long and was ended" }
  // An answer that is not known as a whole does not count, but exit code 2 needs no answer.
  if (overflowed && exitCode !== 2) return failed("wrote too much")
  if (exitCode === undefined) return failed("was killed")
  const stdout = overflowed ? "" : finished.stdout
  if (exitCode === 0 && (work?.type === "prompt" || work?.type === "agent")) return readVerdict(stdout, event, work)
  if (event === "WorktreeCreate") return readWorktree(finished)
  return readExit(exitCode, stdout, finished.stderr.trim(), event)
}

const failed = (problem: string): Answer => ({ ...silent, outcome: "nonBlockingError", problem })

const readExit = (exitCode: number, stdout: string, stderr: string, event: EventName): Answer => {
  const { blocks, plain, two } = rowOf(event)
  const text = withoutAsyncLine(stdout)
  const json = record(text)
  const said = json === undefined ? readText(stdout) : decodeFields(json, event)
  if (exitCode === 2 && blocks === true) {
    return { ...said, outcome: "blocking", blocked: cap(said.blocked ?? (stderr || "blocked without a reason")) }
  }
  if (said.blocked !== undefined) return { ...said, outcome: "blocking" }
  if (exitCode === 0 || (json !== undefined && exitCode !== 2)) {
    return json === undefined && plain === true && text !== "" ? { ...said, context: [text] } : said
  }
  if (exitCode === 2 && two === "model") {
    return stderr === "" ? said : { ...said, context: [...said.context, stderr] }
  }
  const line = cap(stderr.split("\n", 1)[0]!)
  return {
    ...said,
    outcome: "nonBlockingError",
    problem: `ended with ${exitCode}${line === "" ? "" : `: ${line}`}`,
    messages: exitCode === 2 && two === "user" && stderr !== "" && said.suppressOutput !== true
      ? [...said.messages, cap(stderr)]
      : said.messages
  }
}

/**
 * Reads the first line of a command's output: the milliseconds for which the command wants to run on in the background,
 * if the line says `{"async":true}`. Its `asyncTimeout` is in seconds below 1,000, else in milliseconds; without one the
 * command has a day.
 *
 * @category reading
 * @since 0.1.0
 */
export const detachMs = (line: string): number | undefined => {
  const json = line.length > maxText ? undefined : record(line)
  if (json === undefined || !Object.hasOwn(json, "async") || json["async"] !== true) return undefined
  const time = Object.hasOwn(json, "asyncTimeout") ? json["asyncTimeout"] : undefined
  return typeof time !== "number" || !(time > 0) ? 86_400_000 : time < 1_000 ? time * 1_000 : time
}

/** The output without a first line that only asks for time in the background. */
const withoutAsyncLine = (stdout: string): string => {
  const text = stdout.trim()
  const [first = ""] = text.split("\n", 1)
  return detachMs(first) === undefined ? text : text.slice(first.length).trim()
}

/** Text is not an answer. If it looks like one, the developer has to know that it does not count. */
const readText = (stdout: string): Answer =>
  looksLikeAnswer(stdout)
    ? { ...silent, problems: ["its output counts as text, because it is not one JSON object and nothing else"] }
    : silent

/** Reads the verdict of a model: `{ ok, reason, impossible }`. */
const readVerdict = (stdout: string, event: EventName, work: PromptWork | AgentWork): Answer => {
  const { impossible, ok, reason: text }: Fields = record(stdout) ?? {}
  if (typeof ok !== "boolean") return failed("gave no answer of the form { ok, reason }")
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

/** Reads the path of a new worktree: the last line of output. Every other exit code than 0 fails. */
const readWorktree = ({ exitCode, stderr, stdout }: Finished): Answer => {
  const text = stdout.trim()
  const json = record(text)
  const { blocked: _blocked, ...said } = json === undefined ? silent : decodeFields(json, "WorktreeCreate")
  if (exitCode !== 0) {
    return { ...said, outcome: "blocking", blocked: cap(stderr.trim() || `ended with ${exitCode}`) }
  }
  const path = json === undefined ? text.split("\n").at(-1)!.trim() : ""
  return { ...said, ...defined({ answer: path === "" ? said.answer : { worktreePath: cap(path) } }) }
}
