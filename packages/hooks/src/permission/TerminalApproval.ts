/**
 * Asks the person at the terminal to approve tool calls.
 *
 * @since 0.1.0
 */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Json } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { Interface } from "node:readline/promises"
import type { Readable, Writable } from "node:stream"

/** The streams of a terminal. @category models @since 0.1.0 */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown }
  readonly output: Writable & { readonly isTTY?: boolean }
}

/** Options of `TerminalApproval.ask`. @category models @since 0.1.0 */
export interface Options {
  /** Default: the standard input and output of the process. */
  readonly terminal?: Terminal
  /**
   * Whether the person can also approve the tool for the rest of the session. The `Approval` hook then needs the option
   * `standing`. Default false.
   */
  readonly remember?: boolean
  /** The reason of the denial if there is no terminal. Default: `nobody is at a terminal to approve it`. */
  readonly nobody?: string
}

const optionKinds: OptionKinds<Options> = { terminal: "object", remember: "flag", nobody: "text" }

/** The parts of a question that the terminal shows. @category models @since 0.1.0 */
export type Question =
  & Pick<PendingAsk, "tool" | "args" | "reason">
  & Partial<
    Pick<PendingAsk, "agent" | "allowed" | "approved" | "approvers" | "changed" | "details" | "quorum" | "reasons">
  >
  & { readonly signal?: AbortSignal }

/**
 * Makes a function that asks the person at the terminal. Pass it as the option `ask` of `Approval.make`, or as `onAsk`
 * of an agent, where it answers the questions of every hook and of the policy.
 *
 * It shows the tool and its arguments, and reads the answer: allow, deny, edit (new arguments as JSON), for values of
 * `DataFlow` field (other values of the same field need no question in this turn), and with `remember` also always. It
 * offers only answers that the question allows, and asks for the name of the person if the question says who may
 * answer. Questions that come at the same time are asked one after the other. Control characters and invisible
 * characters are escaped. Keys that were typed before the question was shown do not answer it. If input or output is
 * not a terminal, the call is denied.
 *
 * @example
 * ```ts
 * import * as Approval from "@belay/hooks/Approval"
 * import * as TerminalApproval from "@belay/hooks/TerminalApproval"
 *
 * const approval = Approval.make({
 *   tools: ["*", "!read_*"],
 *   standing: "session",
 *   ask: TerminalApproval.ask({ remember: true })
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const ask = (
  options: Options = {}
): (question: Question, about?: { readonly signal: AbortSignal }) => Promise<Decision> => {
  Result.getOrThrow(checkKinds("TerminalApproval.ask", options, optionKinds))
  const { nobody = "nobody is at a terminal to approve it", remember = false } = options
  const oneAtATime = Semaphore.makeUnsafe(1)
  return (question, about) => {
    const { input, output } = options.terminal ?? { input: process.stdin, output: process.stdout }
    if (input.isTTY !== true || output.isTTY !== true) return Promise.resolve({ type: "deny", reason: nobody })
    const signal = question.signal ?? about?.signal ?? new AbortController().signal
    const asked = Effect.tryPromise({
      try: async () => {
        await forgetTyped(input)
        // Most programs never ask at a terminal.
        const lines = process.getBuiltinModule("node:readline/promises").createInterface({ input, output })
        // While keys are read one by one, the terminal does not turn Ctrl-C into a signal.
        lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
        return askUntilAnswered({ lines, output, question, remember, signal }).finally(() => lines.close())
      },
      catch: (error) => error
    })
    return Effect.runPromise(oneAtATime.withPermit(asked), { signal })
  }
}

/** Reads what was typed before the question is shown, also a line without its end, so that it does not answer it. */
const forgetTyped = async (input: Terminal["input"]): Promise<void> => {
  if (input.setRawMode === undefined) return
  const forget = (keys: unknown) => {
    if (String(keys).includes("\u0003")) process.kill(process.pid, "SIGINT")
  }
  input.setRawMode(true)
  input.on("data", forget).resume()
  await Effect.runPromise(Effect.sleep(20))
  input.off("data", forget)
  input.pause()
  input.setRawMode(false)
}

/** What one conversation at the terminal works with. */
interface Prompt {
  readonly lines: Interface
  readonly output: Writable
  readonly question: Question
  readonly remember: boolean
  readonly signal: AbortSignal
}

/** Repeats the question until the person gives a valid answer. */
const askUntilAnswered = async (prompt: Prompt): Promise<Decision> => {
  const { lines, output, question, remember, signal } = prompt
  const by = await nameOf(prompt)
  while (true) {
    const choices = choicesOf(question, remember)
    const typed = await lines.question(`\n${titleOf(question)}\n    ${choices.join("  ")} > `, { signal })
    switch (choices.find((choice) => matches(choice, typed))) {
      case "[a]llow":
        return { type: "approve", ...by }
      case "[d]eny":
        return { type: "deny", reason: "the person at the terminal denied it", ...by }
      case "al[w]ays":
        return { type: "approve", remember: { what: "tool", scope: "session" }, ...by }
      case "[f]ield":
        return { type: "approve", remember: { what: "field", scope: "session" }, ...by }
      case "[e]dit": {
        const text = await lines.question("    arguments as JSON > ", { signal })
        const edited = Result.try(() => JSON.parse(text) as Json)
        if (Result.isSuccess(edited)) return { type: "edit", args: edited.success, ...by }
        output.write(`    not JSON: ${visible(messageOf(edited.failure))}\n`)
        break
      }
      case undefined:
        break
    }
  }
}

/** Asks for the name of the person, if the question says who may answer or needs several people. */
const nameOf = async ({ lines, question, signal }: Prompt): Promise<{ readonly by?: string }> => {
  const { approvers, quorum = 1 } = question
  if (approvers === undefined && quorum <= 1) return {}
  const who = approvers === undefined ? "your name" : `your name (one of ${visible(approvers.join(", "))})`
  return { by: (await lines.question(`\n${titleOf(question)}\n    ${who} > `, { signal })).trim() }
}

type Choice = "[a]llow" | "[d]eny" | "[e]dit" | "[f]ield" | "al[w]ays"

const choicesOf = (question: Question, remember: boolean): ReadonlyArray<Choice> => {
  const { allowed } = question
  const may = (type: "approve" | "deny" | "edit") => allowed === undefined || allowed.includes(type)
  return [
    ...(may("approve") ? ["[a]llow" as const] : []),
    // A person can always deny: an answer that is not allowed denies the call too.
    "[d]eny",
    ...(may("edit") ? ["[e]dit" as const] : []),
    ...(isAboutField(question) && may("approve") ? ["[f]ield" as const] : []),
    ...(remember && may("approve") ? ["al[w]ays" as const] : [])
  ]
}

/** Whether the question is about values that stand in a field of a result, as those of `DataFlow` can be. */
const isAboutField = ({ details, reasons = [] }: Question): boolean =>
  [details, ...reasons.map((one) => one.details)].some((one) => {
    const values: unknown = Object(one).dataFlow
    return Array.isArray(values) && values.some((value) => (Object(Object(value).source).field ?? "") !== "")
  })

/** Whether the person typed the letter in brackets or the whole word. */
const matches = (choice: Choice, typed: string): boolean => {
  const answer = typed.trim().toLowerCase()
  return answer === /\[(.)\]/.exec(choice)?.[1] || answer === choice.replaceAll(/[[\]]/g, "")
}

/** The call and the reason of the question. */
const titleOf = ({ agent, approved = [], args, changed = [], quorum = 1, reason, tool }: Question): string => {
  const who = agent === undefined ? "" : `${visible(agent)}: `
  const count = quorum > 1 ? ` (${approved.length} of ${quorum} approved)` : ""
  // The default reason repeats the name of the tool.
  const why = reason === "" || reason === `${tool} needs approval` ? "" : `\n    ${visible(reason)}`
  const differences = changed.map(({ before, now, part }) =>
    `\n    changed since it was approved: ${part}\n      - ${visible(before)}\n      + ${visible(now)}`
  )
  return `  ? ${who}${visible(tool)} ${visible(JSON.stringify(args))}${count}${why}${differences.join("")}`
}

/** Escapes characters that move the cursor, are invisible, or reverse the text next to them. */
const visible = (text: string): string =>
  text.replace(
    /\p{Cc}|\p{Cf}|[\u2028\u2029]/gu,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )
