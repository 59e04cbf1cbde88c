/** Finds scripts that write text before their JSON, so that their output is not JSON. */
import { commandsOf } from "./shell.ts"

/** Returns the text that is certainly written first. */
export const textBefore = (code: string, language: "shell" | "python"): string | undefined =>
  language === "shell" ? inShell(code) : inPython(code)

const inShell = (code: string): string | undefined => {
  // The text of each open block.
  let blocks: Array<Array<string>> = [[]]
  for (const command of commandsOf(code)) {
    let said: Array<string> = []
    for (const { after, text } of command) {
      let rest = text
      for (let word = opening.exec(rest); word !== null; word = opening.exec(rest)) {
        const [whole] = word
        if (/^(?:fi|done|esac|\})/.test(whole)) blocks = blocks.length > 1 ? blocks.slice(0, -1) : blocks
        else if (/^(?:else|elif)/.test(whole)) blocks[blocks.length - 1] = []
        else if (!/^(?:then|do)/.test(whole)) blocks.push([])
        rest = rest.slice(whole.length)
      }
      // A branch of `case`.
      if (/^[^()]+\)(?:\s|$)/.test(rest)) {
        blocks[blocks.length - 1] = []
        rest = rest.replace(/^[^()]+\)\s*/, "")
      }
      if (after === "or") said = []
      if (isJson(rest)) {
        const first = [...blocks.flat(), ...said][0]
        if (first !== undefined) return first
      } else if (isText(rest)) {
        if (after === "start") blocks.at(-1)!.push(rest)
        else said.push(rest)
      }
      if (/^(?:exit|return)\b/.test(rest) && after === "start") blocks[blocks.length - 1] = []
      if (/^(?:case)\b/.test(rest)) blocks.push([])
    }
  }
  return undefined
}

const opening = new RegExp(
  String.raw`^(?:(?:if|for|while|until|select|then|do|else|elif|fi|done|esac)\b\s*|[\w-]+\s*\(\)\s*\{?\s*|` +
    String.raw`function\s+\w+\s*(?:\(\))?\s*\{?\s*|[{}](?=\s|$)\s*)`
)

/** Whether the text goes to standard output. */
const isHeard = (command: string): boolean =>
  !/(?:^|[^<])>|\|/.test(command.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, "\"\""))

const isJson = (command: string): boolean =>
  isHeard(command) &&
  (/^(?:echo|printf)\s+(?:-\w+\s+)?["']?\s*\\?\{/.test(command) || /^jq\s+(?:-\w+\s+)*-\w*n/.test(command) ||
    /^cat\s*<<X\s*\{/.test(command))

/** A text that starts with a variable may be JSON. */
const isText = (command: string): boolean =>
  isHeard(command) &&
  (/^(?:echo|printf)\s+(?:-[neE]+\s+)*(?:["']?[^\s{"'$\\`%-]|"?\$\(jq -r )/.test(command) ||
    /^cat\s*<<X\s*[A-Za-z]/.test(command))

const inPython = (code: string): string | undefined => {
  let said: ReadonlyArray<{ readonly indent: number; readonly text: string }> = []
  for (const line of code.split("\n")) {
    if (/^\s*(?:#.*)?$/.test(line)) continue
    const indent = /^\s*/.exec(line)![0].length
    const text = line.trim()
    said = said.filter((one) => one.indent <= indent)
    if (/^print\(\s*json\.dumps\(/.test(text) && said.length > 0) return said[0]!.text
    if (/^print\(\s*f?["'][^{"'][^"']*["']\s*\)$/.test(text)) said = [...said.slice(0, 20), { indent, text }]
    if (/^(?:sys\.exit|return|exit|raise)\b/.test(text)) said = said.filter((one) => one.indent < indent)
  }
  return undefined
}
