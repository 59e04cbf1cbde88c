/**
 * Rules about the answers of a script: its exit codes, its JSON and its reasons. They guess from the text of the
 * script.
 */
import type { Item } from "../world.ts"
import { isGuard } from "./entry.ts"
import { type Said, said } from "./finding.ts"
import { textBefore } from "./said.ts"

const exits = (code: number): RegExp =>
  new RegExp(`(?:\\bexit|SystemExit|os\\._exit)\\s*\\(?\\s*${code}\\b|exitCode\\s*=\\s*${code}\\b|\\breturn ${code}\\b`)
const [one, two] = [exits(1), exits(2)]
/** An exit code that is computed. */
const open = /\bexit\((?![\s\d)])|\bexit\s+["']?\$/
const json = new RegExp(
  String.raw`permissionDecision|["']?permission\\?["']?\s*[:=]|["']?decision["']?\s*[:=]|["']continue["']\s*:|` +
    String.raw`hookSpecificOutput|["']blocked["']|["']action["']`
)
/** Whether a script seems to answer with JSON. */
export const answersJson = (code: string): boolean => json.test(code)
const refusing = /block|den(?:y|ied)|refus|forbid|not allowed|dangerous|protected|reject/i
const aloud = />&2|\/dev\/stderr|stderr|console\.error|1>&2/

const blocking = /decision\\?["']?\s*[:=]\s*\\?["'](?:block|deny)/
const conditional = /\b(?:if|case|while|until|for|except|switch|test)\b|&&|\|\||\[\s|\?\s|\bexit\s+0\b|exit\(0?\)/

export const answers = (item: Item, name: string, code: string, language: string): ReadonlyArray<Said> => {
  const { event, source: { dialect } } = item
  const isStop = event?.occasion === "stop" || event?.occasion === "subagent-stop"
  const isClaude = dialect === "claude" || dialect === "codex"
  const found: Array<Said> = []
  if (
    (isClaude || ["gemini", "cursor", "windsurf", "factory"].includes(dialect)) && (isGuard(item) || isStop) &&
    one.test(code) && !two.test(code) &&
    !open.test(code) &&
    !json.test(code)
  ) {
    found.push(
      said(
        refusing.test(code) ? "error" : "warning",
        "exit-one",
        `${name} exits with 1 and never with 2`,
        "exit code 1 is an error that blocks nothing",
        "Exit with 2 to block, and write the reason to standard error."
      )
    )
  }
  const keeps = isStop &&
    (dialect === "copilot"
      ? blocking.test(code)
      : isClaude
      ? two.test(code) || json.test(code)
      : two.test(code) || blocking.test(code))
  const isAlways = (two.test(code) || blocking.test(code)) && !conditional.test(code)
  if (keeps && (isClaude || isAlways) && dialect !== "basecoat" && !code.includes("stop_hook_active")) {
    found.push(
      said(
        isAlways ? "error" : "warning",
        "stop-loop",
        isAlways ? `${name} continues the agent every time` : `${name} never reads stop_hook_active`,
        isAlways
          ? "the agent cannot stop before the limit of continuations"
          : "it continues the agent up to the limit of 8",
        "Exit with 0 if stop_hook_active is true."
      )
    )
  }
  if (isClaude && event?.may !== undefined && two.test(code) && !aloud.test(code) && !json.test(code)) {
    const strict = dialect === "codex"
    found.push(
      said(
        strict ? "error" : "hint",
        "exit-silent",
        `${name} exits with 2 and writes nothing to standard error`,
        strict
          ? "without a reason, exit code 2 is an error that blocks nothing"
          : "the model or the user does not read a reason",
        "Write the reason to standard error: echo … >&2."
      )
    )
  }
  if ((dialect === "kodelet" || dialect === "basecoat") && two.test(code) && !json.test(code) && !/usage/i.test(code)) {
    found.push(
      said(
        refusing.test(code) ? "error" : "warning",
        "exit-ignored",
        `${name} ends with 2`,
        "exit codes block nothing here: 2 is a failure of the hook",
        "Answer with JSON: belay hooks explain before_tool_call."
      )
    )
  }
  if ((dialect === "kodelet" || dialect === "basecoat") && lost.test(code)) {
    found.push(
      said(
        "error",
        "exit-ignored",
        `${name} blocks with JSON and exits with a code other than 0`,
        "the answer of a failed hook is ignored, so nothing is blocked",
        "End with 0."
      )
    )
  }
  return [...found, ...ignoredAnswer(item, name, code, language)]
}

/** A rejection in JSON that is followed by another exit code. */
const lost = new RegExp(
  String.raw`(?:blocked\\?["']?\s*:\s*[Tt]rue|action\\?["']?\s*:\s*\\?["']block)[^\n]{0,400}(?:\n\s*|` +
    String.raw`[;&]\s*)(?:sys\.)?exit[\s(]+[1-9]`
)

/** An answer that allows a call. */
const allowing = new RegExp(
  String.raw`(?:permissionDecision|behavior)\\?["']?\s*[:=]\s*\\?["']allow|` +
    String.raw`(?<![A-Za-z])decision\\?["']?\s*[:=]\s*\\?["']approve`
)

/** Answers that have no effect. */
const ignoredAnswer = (item: Item, name: string, code: string, language: string): ReadonlyArray<Said> => {
  const { entry, event, source: { dialect, ofProject } } = item
  const isClaude = dialect === "claude" || dialect === "codex"
  const found: Array<Said> = []
  const named = [...code.matchAll(/hookEventName\\?["']?\s*[:=]\s*\\?["'](\w+)/g)].map(([, one]) => one!)
  if (isClaude && named.length > 0 && !named.includes(entry.event)) {
    found.push(
      said(
        "error",
        "answer-event",
        `${name} answers ${named[0]}, at ${entry.event}`,
        "hookSpecificOutput of another event is ignored",
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
        "Codex accepts deny, or allow with a new input; anything else is ignored and the call runs",
        "Answer deny with a reason."
      )
    )
  }
  if (dialect === "copilot" && event?.occasion === "prompt" && blocking.test(code)) {
    found.push(
      said(
        "error",
        "answer-unsupported",
        `${name} blocks a prompt`,
        `${event.name} cannot block: the prompt stays as it is`,
        "Change it with modifiedPrompt, or block the tool calls at preToolUse."
      )
    )
  }
  if (dialect === "gemini" && /permissionDecision/.test(code) && !/(?<![A-Za-z])decision\\?["']?\s*[:=]/.test(code)) {
    found.push(
      said(
        "error",
        "answer-unsupported",
        `${name} answers permissionDecision`,
        "Gemini CLI reads decision at the top level, so nothing is decided",
        "Write {\"decision\": \"deny\", \"reason\": \"…\"}."
      )
    )
  }
  const allows = allowing.test(code)
  const answersPolicy = (isClaude && entry.event === "PreToolUse") || event?.occasion === "permission"
  if (ofProject && allows && answersPolicy && !/updatedInput|modifiedArgs/.test(code)) {
    found.push(
      said(
        "hint",
        "allow-project",
        `${name} answers allow in a file of the project`,
        "a project can only tighten: the policy still asks",
        "Move the entry to the settings in your home folder, or set projectAllows for the agent."
      )
    )
  }
  const text = language === "bash" || language === "sh"
    ? textBefore(code, "shell")
    : language === "python"
    ? textBefore(code, "python")
    : undefined
  if (text !== undefined) {
    found.push(
      said(
        "error",
        "answer-text",
        `${name} writes text before its JSON: ${text.slice(0, 60)}`,
        "the whole output is then text, and the JSON decides nothing",
        "Write the text to standard error: echo … >&2."
      )
    )
  }
  return found
}
