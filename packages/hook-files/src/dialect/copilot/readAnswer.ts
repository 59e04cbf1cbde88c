/** Reads the answer of a GitHub Copilot hook from its exit code and its output. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import { cap, type Fields, isFields, parse } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"
import { ignoredFields, looksLikeAnswer, lostAnswerWarning } from "../shared/strayAnswer.ts"
import { type Answer, silent } from "./answer.ts"
import { type Decoded, decodeFields } from "./answerFields.ts"
import type { Handler } from "./config.ts"
import { countingFields } from "./events.ts"

type Entry = Pick<Handler, "pascal" | "point" | "work">

/**
 * Reads the answer of an entry. Lines that report progress are not part of the answer. The rest of standard output is
 * one JSON object, or empty. Only exit code 0 is a success. At `preToolUse` a command that exits with another code
 * denies, except if it timed out. At `permissionRequest` exit code 2 denies. At `postToolUseFailure` exit code 2 gives
 * its output to the model as advice. Every other failure is a warning.
 */
export const read = (entry: Entry, finished: Finished): Answer => {
  const { progress, rest } = splitProgress(finished.stdout)
  const json = objectOf(rest)
  if (finished.timedOut) {
    return { ...silent, progress, outcome: "cancelled", problem: "took too long and was ended" }
  }
  const { reason, ...decoded } = decodeFields(json ?? {}, entry.point, entry.pascal)
  const stray = json === undefined
    ? looksLikeAnswer(rest) ? [lostAnswerWarning] : []
    : ignoredFields(json, countingFields(entry.point, entry.pascal), entry.point)
  const said: Answer = { ...silent, ...decoded, problems: [...decoded.problems, ...stray], progress }
  if (finished.exitCode === 0) return { ...said, outcome: isBlocking(said) ? "blocking" : "success" }
  return readFailure(entry, finished, { said, reason, text: json === undefined ? rest : "" })
}

const isBlocking = ({ denied, wish: { behavior, block, stop } }: Answer): boolean =>
  denied !== undefined || stop !== undefined || behavior === "deny" || typeof block === "string"

interface Output {
  readonly said: Answer
  readonly reason: Decoded["reason"]
  /** Standard output, if it is not JSON. */
  readonly text: string
}

const readFailure = ({ point, work }: Entry, finished: Finished, { reason, said, text }: Output): Answer => {
  const { exitCode } = finished
  const error = cap(finished.stderr.trim())
  const problem = problemOf(finished, error)
  const isCommand = work.type === "command"
  if (isCommand && point === "preToolUse") {
    if (exitCode === 2) {
      return { ...said, outcome: "blocking", denied: reason ?? (error || "Denied by preToolUse hook") }
    }
    const denied = `Denied by preToolUse hook (hook errored)${error === "" ? "" : `: ${error}`}`
    return { ...said, outcome: "blocking", denied, problem }
  }
  if (isCommand && exitCode === 2 && point === "permissionRequest") {
    return { ...said, outcome: "blocking", wish: { ...said.wish, behavior: "deny" } }
  }
  const { progress } = said
  if (isCommand && exitCode === 2 && point === "postToolUseFailure") {
    const advice = [said.context ?? "", text, error].filter((one) => one !== "")
    return { ...silent, progress, ...defined({ context: advice.length === 0 ? undefined : advice.join("\n") }) }
  }
  const messages = exitCode === 2 && error !== "" ? [error] : []
  return { ...silent, progress, outcome: "nonBlockingError", problem, messages }
}

const problemOf = ({ exitCode, overflowed }: Finished, error: string): string => {
  const line = error.split("\n", 1)[0]!
  const how = overflowed
    ? "wrote too much output and was ended"
    : exitCode === undefined
    ? "was killed"
    : `ended with ${exitCode}`
  return line === "" ? how : `${how}: ${line}`
}

const objectOf = (text: string): Fields | undefined => {
  const value = parse(text)
  return isFields(value) ? value : undefined
}

const splitProgress = (
  stdout: string
): { readonly progress: ReadonlyArray<JsonObject>; readonly rest: string } => {
  const progress: Array<JsonObject> = []
  const rest = stdout.split("\n").filter((line) => {
    const json = line.includes("\"progress\"") ? objectOf(line.trim()) : undefined
    if (json?.["type"] !== "progress") return true
    const { message, temporary } = json
    if (typeof message === "string") progress.push({ message: cap(message), temporary: temporary === true })
    return false
  })
  return { progress: progress.slice(0, 100), rest: rest.join("\n").trim() }
}
