/** Describes the events of Codex. */
import type { Event, Guide } from "../../Guide.ts"
import { claude, example, script } from "../claude/guide.ts"
import { codexEvents } from "../claude/HookConfig.ts"

const names: ReadonlyArray<string> = codexEvents

const stricter: { readonly [name: string]: Partial<Event> } = {
  PreToolUse: {
    may: "refuse the call, change its input",
    answers: [
      ["hookSpecificOutput.permissionDecision: \"deny\"", "the call is refused; it needs a permissionDecisionReason"],
      [
        "hookSpecificOutput.permissionDecision: \"allow\", updatedInput",
        "the tool is called with this whole object; both fields are needed"
      ],
      ["hookSpecificOutput.additionalContext", "the model reads it"],
      ["decision: \"block\", reason", "the call is refused"]
    ]
  }
}

const events = claude.events.filter(({ name }) => names.includes(name)).map((event): Event => ({
  ...event,
  ...stricter[event.name],
  dialect: "codex"
}))

export const codex: Guide = {
  dialect: "codex",
  name: "Codex",
  files: "~/.codex/hooks.json, ~/.codex/config.toml, .codex/hooks.json, .codex/config.toml",
  input: ["session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name", "turn_id", "model"],
  codes: [
    ["0", "success; JSON is obeyed only if all its keys are known"],
    ["2", "blocks, with the reason on standard error; without a reason it is an error that does not block"],
    ["another", "an error that does not block; JSON is ignored"],
    ["timeout, signal", "no decision, a warning"]
  ],
  answers: [["continue: false, stopReason", "the turn ends; not supported at PreToolUse"], [
    "systemMessage",
    "the user reads it"
  ]],
  timeout: 600,
  keys: [
    "type",
    "command",
    "commandWindows",
    "command_windows",
    "timeout",
    "async",
    "statusMessage",
    "prompt",
    "model",
    "args",
    "if",
    "once"
  ],
  groupKeys: ["matcher", "hooks"],
  events,
  example: (event) => example(event, `"$(git rev-parse --show-toplevel)"/.codex/hooks/${event.name}.py`),
  script
}
