/** Reads the answer of a Gemini CLI hook from its exit code and its output. */
import { defined } from "@belay/core/Fields"
import { cap, type Fields, isFields, isText, parse } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"
import { ignoredFields, looksLikeAnswer, lostAnswerWarning } from "../shared/strayAnswer.ts"
import { type Answer, silent } from "./answer.ts"
import { decodeFields, noReason } from "./answerFields.ts"
import { countingFields, type EventName } from "./events.ts"

/**
 * Reads the answer of an entry. The answer is the JSON of standard output, or of standard error if standard output is
 * empty. A JSON string that contains JSON is parsed again. Output that is not JSON is a message for the user if the
 * exit code is 0 or 1. With any other code it is the reason of a denial. Exit code 2 always denies.
 */
export const read = (finished: Finished, event: EventName): Answer => {
  const { exitCode, overflowed, timedOut } = finished
  if (timedOut) return { ...silent, outcome: "cancelled", problem: "took too long and was ended" }
  // A denial by exit code is used even if the output was too large.
  if (exitCode === undefined || (overflowed && exitCode < 2)) {
    return { ...silent, outcome: "nonBlockingError", problem: overflowed ? "wrote too much output" : "was killed" }
  }
  const output = { out: overflowed ? "" : finished.stdout.trim(), error: finished.stderr.trim() }
  const json = objectOf(output.out === "" ? output.error : output.out)
  const { messages, ...answer } = json === undefined
    ? readText(exitCode, output)
    : readJson(json, exitCode, output)
  const counts = countingFields[event]
  const isByCode = answer.denied !== undefined && json?.["decision"] === undefined
  return {
    ...answer,
    // `BeforeToolSelection` shows no messages to the user.
    messages: event === "BeforeToolSelection" ? [] : messages,
    problems: [
      ...answer.problems,
      ...(json === undefined ? [] : ignoredFields(json, counts, event)),
      ...(isByCode && !counts.top.includes("decision") ? [`${event} cannot be denied`] : []),
      ...(answer.asked !== undefined && event !== "BeforeTool" ? [`ask does not count at ${event}`] : [])
    ]
  }
}

interface Output {
  readonly out: string
  readonly error: string
}

const readJson = (json: Fields, exitCode: number, { error, out }: Output): Answer => {
  const { reason, ...said } = decodeFields(json)
  const byCode = exitCode === 2 ? cap(reason ?? (out === "" ? noReason : error || noReason)) : undefined
  const denied = said.denied ?? byCode
  const blocks = denied !== undefined || said.stopped !== undefined
  const problem = blocks || exitCode === 0 ? undefined : `ended with ${exitCode}`
  return {
    ...silent,
    ...said,
    isRead: true,
    outcome: blocks ? "blocking" : problem === undefined ? "success" : "nonBlockingError",
    ...defined({ denied, problem })
  }
}

const readText = (exitCode: number, { error, out }: Output): Answer => {
  const problems = looksLikeAnswer(out) || looksLikeAnswer(error) ? [lostAnswerWarning] : []
  if (exitCode === 0) return { ...silent, problems, messages: out === "" ? [] : [cap(out)] }
  const text = cap(error || out)
  const line = text.split("\n", 1)[0]!
  const problem = `ended with ${exitCode}${line === "" ? "" : `: ${line}`}`
  if (exitCode === 1) {
    const messages = text === "" ? [] : [`Warning: ${text}`]
    return { ...silent, outcome: "nonBlockingError", problem, problems, messages }
  }
  return text === "" && exitCode !== 2
    ? { ...silent, outcome: "nonBlockingError", problem }
    : { ...silent, outcome: "blocking", denied: text || noReason }
}

/** Parses a JSON object, or a JSON string that contains a JSON object. */
const objectOf = (text: string): Fields | undefined => {
  const value = parse(text)
  const inner = isText(value) ? parse(value) : value
  return isFields(inner) ? inner : undefined
}
