/** Two entries at the events around a tool, a prompt and a result. Both run, and the answers of both count. */
import { type Answer, type Outcome, type Setting, setting, specific, went } from "../setting.ts"

type Answers = ReadonlyArray<readonly [what: string, answer: Answer]>

const block: Answer = { stderr: "w-stderr", code: 2 }
const decision: Answer = { json: { decision: "block", reason: "w-reason" } }
const stop: Answer = { json: { continue: false, stopReason: "w-stop" } }

/** Settings with each pair of answers. `together` gets the names of the two answers. */
const pairsOf = (
  event: string,
  answers: Answers,
  together: (names: ReadonlyArray<string>) => Partial<Outcome>
): ReadonlyArray<Setting> =>
  answers.flatMap(([first, one], index) =>
    answers.slice(index).map(([second, another]) =>
      setting(
        `two entries of ${event}: ${first} and ${second}`,
        { entries: [{ event, answer: one }, { event, answer: another }] },
        together([first, second])
      )
    )
  )

const common: Answers = [
  ["nothing", {}],
  ["a text", { stdout: "w-stdout" }],
  ["code 1", { stderr: "w-stderr", code: 1 }],
  ["code 2", block],
  ["block", decision],
  ["the end of the turn", stop]
]
const contextOf = (event: string): Answers[number] => [
  "context",
  specific(event, { additionalContext: "w-context" })
]

const words: { readonly [what: string]: string } = {
  "code 2": "w-stderr",
  block: "w-reason",
  context: "w-context"
}
const wordsOf = (names: ReadonlyArray<string>, more: typeof words = {}): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => ({ ...words, ...more })[name] ?? []))
]

export const pairs: ReadonlyArray<Setting> = [
  ...pairsOf(
    "PostToolUse",
    [...common, contextOf("PostToolUse")],
    (names) => names.includes("the end of the turn") ? { read: [], requests: 1 } : went(...wordsOf(names))
  ),
  ...pairsOf(
    "UserPromptSubmit",
    [...common, contextOf("UserPromptSubmit")],
    (names) =>
      names.some((name) => ["the end of the turn", "code 2", "block"].includes(name))
        ? { ran: [], read: [], requests: 0 }
        : went(...wordsOf(names, { "a text": "w-stdout" }))
  ),
  ...pairsOf(
    "PostToolBatch",
    [...common, contextOf("PostToolBatch")],
    (names) =>
      names.some((name) => ["the end of the turn", "code 2", "block"].includes(name))
        ? { read: [], requests: 1 }
        : went(...wordsOf(names))
  )
]
