/** Writes the texts of the rule-based model. */
import type { WireRequest, WireToolCall } from "../endpoint/wire.ts"
import { wireText } from "../endpoint/wire.ts"
import { shorten } from "./words.ts"

/** Reports what was done, from the results of the tools. */
export const report = (calls: ReadonlyArray<WireToolCall>, results: ReadonlyArray<string>): string => {
  const lines = results.map((result, index) => `- ${calls[index]?.name ?? "tool"}: ${shorten(result, 300)}`)
  return `Done, in ${results.length} ${results.length === 1 ? "step" : "steps"}.\n${lines.join("\n")}`
}

/** Writes an answer without tools. */
export const reply = (request: WireRequest, task: string): string => {
  const said = request.messages.filter((message) => message.role === "user").map(wireText)
  if (/\bsummar/iu.test(task)) return `Summary: ${shorten(said.join(" "), 600)}`
  const name = said.join("\n").match(/\b[Mm]y name is (\p{Lu}[\p{L}'-]*)/u)?.[1]
  if (name !== undefined && /\bmy name\b/iu.test(task)) return `Your name is ${name}.`
  if (/^\s*(?:hi|hello|hey|good (?:morning|evening|day))\b/iu.test(task)) {
    return `Hello! I am ${request.model}, a rule-based model. Give me a task that names the tools you have.`
  }
  const tools = request.tools.map((tool) => tool.name)
  const offer = tools.length === 0 ? "I have no tools here." : `None of my tools (${tools.join(", ")}) fits.`
  return `You said: "${shorten(task, 400)}". ${offer}`
}
