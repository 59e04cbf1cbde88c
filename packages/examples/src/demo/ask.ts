/** Asks the person at the terminal about a tool call: allow, deny, or edit the arguments. Nobody there means denied. */
import type * as Approval from "@belay/hooks/Approval"
import { createInterface } from "node:readline/promises"
import { safe } from "./render.ts"

/** What `--approve` may say. */
export type Mode = "ask" | "allow" | "deny"

/** Makes the answerer. */
export const asker =
  (mode: Mode, terminal: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream }) =>
  async (request: Approval.Request): Promise<Approval.Answer> => {
    if (mode === "allow") return { type: "approve" }
    if (mode === "deny") return { type: "deny", reason: "denied by --approve deny" }
    if (!terminal.input.isTTY || !terminal.output.isTTY) {
      return { type: "deny", reason: "nobody is at a terminal to approve it (answer beforehand with --approve allow or --approve deny)" }
    }
    const lines = createInterface({ input: terminal.input, output: terminal.output })
    try {
      while (true) {
        const question = `\n  ? ${request.tool} ${safe(JSON.stringify(request.args))}\n    [a]llow  [d]eny  [e]dit > `
        const answer = (await lines.question(question, { signal: request.signal })).trim().toLowerCase()
        if (answer === "a" || answer === "allow") return { type: "approve" }
        if (answer === "d" || answer === "deny") return { type: "deny", reason: "the person at the terminal said no" }
        if (answer !== "e" && answer !== "edit") continue
        const text = await lines.question("    arguments as JSON > ", { signal: request.signal })
        try {
          return { type: "edit", args: JSON.parse(text) }
        } catch (error) {
          terminal.output.write(`    not JSON: ${error instanceof Error ? error.message : String(error)}\n`)
        }
      }
    } finally {
      lines.close()
    }
  }
