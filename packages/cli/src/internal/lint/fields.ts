/** Rules about fields that a script reads and its system does not send. */
import type { Item } from "../world.ts"
import { type Said, said } from "./finding.ts"

const decodesToolArgs = new RegExp(
  String.raw`fromjson|(?:JSON\.parse|json\.loads)\([^)\n]*toolArgs|json\.loads\(\s*(?:tool_?args|args|raw)|` +
    String.raw`JSON\.parse\(\s*(?:tool_?args|args|raw)`,
  "i"
)
/** A string has no such fields, except for Python's `get`. */
const inside = /toolArgs["']?\]?\??\s*(?:\.\s*(?!length\b)[A-Za-z]\w*\b(?!\s*\()|\|\s*\.[A-Za-z]|\[\s*["']|\.get\()/

export const fields = (
  { entry, event, source: { dialect } }: Item,
  name: string,
  code: string
): ReadonlyArray<Said> => {
  const ofTools = ["tool-call", "tool-result", "tool-failure", "permission"]
  if (dialect !== "copilot" || event === undefined || !ofTools.includes(event.occasion)) return []
  const isCamel = entry.event === event.name
  if (isCamel && inside.test(code) && !decodesToolArgs.test(code)) {
    return [
      said(
        "error",
        "input-field",
        `${name} reads a field of toolArgs`,
        "toolArgs is a string of JSON: the field is never found, or the script fails, which blocks every call at " +
          "preToolUse",
        "Parse the string first: jq -r '.toolArgs | fromjson | .command'."
      )
    ]
  }
  const [wrong, right] = isCamel ? ["tool_input", "toolArgs"] as const : ["toolArgs", "tool_input"] as const
  if (!new RegExp(`(?<!\\$|\\w)${wrong}\\b`).test(code) || code.includes(right)) return []
  return [
    said(
      "error",
      "input-field",
      `${name} reads ${wrong}, which ${entry.event} does not have`,
      isCamel
        ? "events in camel case have toolName and toolArgs"
        : "events in Pascal case have tool_name and tool_input",
      isCamel
        ? "Read toolArgs, a string of JSON, or name the event PreToolUse, PostToolUse, …"
        : "Read tool_input, or name the event as Copilot does."
    )
  ]
}
