/** The rules of Windsurf for the engine: only the exit code decides. */
import type { JsonObject } from "@belay/core/Json"
import { resolve } from "node:path"
import type * as Dialect from "../../engine/Dialect.ts"
import { cap, objectOf } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"
import { looksLikeAnswer } from "../shared/strayAnswer.ts"
import type { Handler } from "./config.ts"
import { rowOf } from "./events.ts"

export interface Answer extends Dialect.Answer {
  /** Why the action is blocked. */
  readonly denied?: string
  /** Why a person has to decide. */
  readonly asks?: string
  /** What the model reads. */
  readonly advice?: string
}

export interface Verdict {
  readonly denied?: string
  readonly asks?: string
  readonly advice: ReadonlyArray<string>
}

export const noVerdict: Verdict = { advice: [] }

const silent: Answer = { outcome: "success", messages: [], problems: [] }

/** Windsurf documents no timeout. */
const timeoutMs = 60_000

export const make = (projectDir: string): Dialect.Dialect<Handler, JsonObject, Answer, Verdict> => ({
  name: "windsurf",
  concurrency: () => 1,
  request: (entry, input) => {
    const { root_workspace_path: root } = objectOf(input["tool_info"])
    return {
      input,
      cwd: entry.cwd === undefined ? projectDir : resolve(projectDir, entry.cwd),
      timeoutMs,
      ...(typeof root === "string" ? { env: { ROOT_WORKSPACE_PATH: root } } : {})
    }
  },
  decode: (ending, entry) => ending.type === "finished" ? read(entry, ending.finished) : silent,
  silent,
  guards: ({ event }) => rowOf(event).gate === true,
  deny: (reason) => ({ denied: cap(reason) }),
  ask: (asks, { event }) => rowOf(event).gate === true && event !== "pre_user_prompt" ? { asks } : undefined,
  merge: (answers) => {
    const all = (key: "denied" | "asks") => {
      const reasons = answers.flatMap((answer) => answer[key] ?? [])
      return reasons.length === 0 ? {} : { [key]: reasons.join("\n") }
    }
    return { ...all("denied"), ...all("asks"), advice: answers.flatMap(({ advice }) => advice ?? []) }
  }
})

/** Reads how an entry ended. Exit code 2 blocks, or shows standard error to the model after a tool. */
const read = ({ event, showsOutput }: Handler, finished: Finished): Answer => {
  const { exitCode, overflowed, stderr, stdout, timedOut } = finished
  const { advises, gate, silent: isSilent } = rowOf(event)
  if (timedOut) return { ...silent, outcome: "cancelled", problem: "took too long and was ended" }
  if (overflowed && exitCode !== 2) return failure("wrote too much output and was ended")
  const error = cap(stderr.trim())
  const shown = cap([stdout.trim(), error].filter((text) => text !== "").join("\n"))
  const messages = showsOutput && isSilent !== true && shown !== "" ? [shown] : []
  if (exitCode === 2 && gate === true) {
    return { ...silent, outcome: "blocking", denied: error || "blocked by a hook", messages }
  }
  if (exitCode === 2 && advises === true) return { ...silent, messages, ...(error === "" ? {} : { advice: error }) }
  if (exitCode !== 0) {
    const how = exitCode === undefined ? "was killed" : `ended with ${exitCode}`
    return { ...failure(error === "" ? how : `${how}: ${error.split("\n", 1)[0]!}`), messages }
  }
  const problems = gate === true && looksLikeAnswer(stdout)
    ? ["its output is not read as an answer: only exit code 2 blocks"]
    : []
  return { ...silent, messages, problems }
}

const failure = (problem: string): Answer => ({ ...silent, outcome: "nonBlockingError", problem })
