/**
 * Asks the person at the terminal to approve tool calls.
 *
 * @since 0.1.0
 */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Json } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { createInterface, type Interface } from "node:readline/promises"
import type { Readable, Writable } from "node:stream"
import type { Answer, Request } from "./Approval.ts"

/** The streams of a terminal. @category models @since 0.1.0 */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean }
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

const optionKinds: OptionKinds<Options> = {
  terminal: "object",
  remember: "flag",
  nobody: "text"
}

/**
 * Makes the option `ask` of `Approval.make`. It shows the tool and its arguments, and reads the answer: allow, deny,
 * edit (new arguments as JSON), and with `remember` also always. Control characters and invisible characters are
 * escaped. If input or output is not a terminal, the call is denied.
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
export const ask = (options: Options = {}): (request: Request) => Promise<Answer> => {
  Result.getOrThrow(checkKinds("TerminalApproval.ask", options, optionKinds))
  const { nobody = "nobody is at a terminal to approve it", remember = false } = options
  return (request) => {
    const { input, output } = options.terminal ?? { input: process.stdin, output: process.stdout }
    if (input.isTTY !== true || output.isTTY !== true) return Promise.resolve({ type: "deny", reason: nobody })
    const lines = createInterface({ input, output })
    return askUntilAnswered(lines, output, request, remember).finally(() => lines.close())
  }
}

/** Repeats the question until the person gives a valid answer. */
const askUntilAnswered = async (
  lines: Interface,
  output: Writable,
  request: Request,
  remember: boolean
): Promise<Answer> => {
  const { args, reason, signal, tool } = request
  const choices = `[a]llow  [d]eny  [e]dit${remember ? "  al[w]ays" : ""}`
  while (true) {
    const typed = await lines.question(
      `\n  ? ${visible(tool)} ${visible(JSON.stringify(args))}${reasonLine(reason, tool)}\n    ${choices} > `,
      {
        signal
      }
    )
    switch (typed.trim().toLowerCase()) {
      case "a":
      case "allow":
        return { type: "approve" }
      case "d":
      case "deny":
        return { type: "deny", reason: "the person at the terminal denied it" }
      case "w":
      case "always":
        if (remember) return { type: "approve", remember: { what: "tool", scope: "session" } }
        break
      case "e":
      case "edit": {
        const text = await lines.question("    arguments as JSON > ", { signal })
        const edited = Result.try(() => JSON.parse(text) as Json)
        if (Result.isSuccess(edited)) return { type: "edit", args: edited.success }
        output.write(`    not JSON: ${visible(messageOf(edited.failure))}\n`)
      }
    }
  }
}

/** The line with the reason. Empty for the default reason, which repeats the name of the tool. */
const reasonLine = (reason: string, tool: string): string =>
  reason === "" || reason === `${tool} needs approval` ? "" : `\n    ${visible(reason)}`

/** Escapes characters that move the cursor, are invisible, or reverse the text next to them. */
const visible = (text: string): string =>
  text.replace(
    /\p{Cc}|\p{Cf}|[\u2028\u2029]/gu,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )
