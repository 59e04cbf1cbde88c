/** Rules about what a script answers: its exit codes, its JSON, and where it says why. They look at its text, and guess. */
import type { Item } from "../world.ts"
import { isGuard } from "./entry.ts"
import { type Said, said } from "./finding.ts"

const exits = (code: number): RegExp =>
  new RegExp(`(?:\\bexit|SystemExit|os\\._exit)\\s*\\(?\\s*${code}\\b|exitCode\\s*=\\s*${code}\\b|\\breturn ${code}\\b`)
const [one, two] = [exits(1), exits(2)]
/** A code that is computed. */
const open = /\bexit\((?![\s\d)])|\bexit\s+["']?\$/
const json = /permissionDecision|["']?decision["']?\s*[:=]|["']continue["']\s*:|hookSpecificOutput|["']blocked["']|["']action["']/
const refusing = /block|den(?:y|ied)|refus|forbid|not allowed|dangerous|protected|reject/i
const aloud = />&2|\/dev\/stderr|stderr|console\.error|1>&2/

export const answers = (item: Item, name: string, code: string): ReadonlyArray<Said> => {
  const { event, source: { dialect } } = item
  const isStop = event?.occasion === "stop" || event?.occasion === "subagent-stop"
  const isClaude = dialect === "claude" || dialect === "codex"
  const found: Array<Said> = []
  if (
    (isClaude || dialect === "gemini") && (isGuard(item) || isStop) && one.test(code) && !two.test(code) && !open.test(code) &&
    !json.test(code)
  ) {
    found.push(
      said(
        refusing.test(code) ? "error" : "warning",
        "exit-one",
        `${name} ends with 1, and never with 2`,
        "1 is an error that blocks nothing: what it is against goes on",
        "End with 2 to refuse, and say why on standard error."
      )
    )
  }
  if (isClaude && isStop && (two.test(code) || json.test(code)) && !code.includes("stop_hook_active")) {
    found.push(
      said(
        "warning",
        "stop-loop",
        `${name} never looks at stop_hook_active`,
        "it keeps the agent going until the cap of 8",
        "End with 0 when stop_hook_active is true."
      )
    )
  }
  if (isClaude && event?.may !== undefined && two.test(code) && !aloud.test(code) && !json.test(code)) {
    const strict = dialect === "codex"
    found.push(
      said(
        strict ? "error" : "hint",
        "exit-silent",
        `${name} ends with 2, and says nothing on standard error`,
        strict ? "without a reason 2 is an error that blocks nothing" : "whoever is refused does not read why",
        "Write the reason to standard error: echo … >&2."
      )
    )
  }
  if ((dialect === "kodelet" || dialect === "basecoat") && two.test(code) && !json.test(code) && refusing.test(code)) {
    found.push(
      said(
        "error",
        "exit-ignored",
        `${name} refuses by its exit code`,
        "codes block nothing here",
        "Answer with JSON: belay hooks explain before_tool_call."
      )
    )
  }
  return isClaude ? [...found, ...unheard(item, name, code)] : found
}

/** Answers that do not count. */
const unheard = ({ entry, source: { dialect } }: Item, name: string, code: string): ReadonlyArray<Said> => {
  const found: Array<Said> = []
  const named = [...code.matchAll(/hookEventName\\?["']?\s*[:=]\s*\\?["'](\w+)/g)].map(([, event]) => event!)
  if (named.length > 0 && !named.includes(entry.event)) {
    found.push(
      said(
        "error",
        "answer-event",
        `${name} answers ${named[0]}, at ${entry.event}`,
        "hookSpecificOutput of another event does not count",
        `Write "hookEventName": "${entry.event}".`
      )
    )
  }
  if (dialect === "codex" && /permissionDecision\\?["']?\s*[:=]\s*\\?["'](?:ask|defer)/.test(code)) {
    found.push(
      said(
        "error",
        "answer-unsupported",
        `${name} answers "ask"`,
        "Codex takes deny, or allow with a new input: nothing else counts, and the call goes on",
        "Refuse with deny, and say what to do."
      )
    )
  }
  return found
}
