/** Describes the events of Codex. */
import type { Event, Guide } from "../../engine/Guide.ts"
import { codexEvents } from "../claude/config/HookConfig.ts"
import { claude, example, script } from "../claude/guide.ts"

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
  },
  PostToolUse: {
    when: "A tool gave a result, or failed.",
    may: "replace the result",
    two: "the model reads standard error in place of the result",
    answers: [
      ["decision: \"block\", reason", "the model reads the reason in place of the result"],
      ["continue: false, stopReason", "the same with stopReason; the turn goes on"],
      ["hookSpecificOutput.additionalContext", "the model reads it"]
    ]
  },
  SessionEnd: { when: "A session ends. Entries have 1 second, or their timeout up to 3 seconds." }
}

const interrupt: Event = {
  dialect: "codex",
  name: "Interrupt",
  occasion: "signal",
  when: "The host says that the user has interrupted a turn. Entries have 1 second, or their timeout up to 3 seconds.",
  fields: [],
  two: "blocks nothing",
  answers: []
}

const events = [
  ...claude.events.filter(({ name }) => names.includes(name)).map((event): Event => ({
    ...event,
    ...stricter[event.name],
    dialect: "codex"
  })),
  interrupt
]

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
    "server",
    "tool",
    "input",
    "args",
    "if",
    "once"
  ],
  groupKeys: ["matcher", "hooks"],
  events,
  example: (event) =>
    example(
      event,
      `"$(git rev-parse --show-toplevel)"/.codex/hooks/${event.name}.py`,
      event.name === "SessionEnd" || event.name === "Interrupt" ? 3 : 10
    ),
  script
}
