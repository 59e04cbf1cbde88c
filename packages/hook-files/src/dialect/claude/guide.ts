/** Describes the events of Claude Code. */
import type { Event, Guide } from "../../engine/Guide.ts"
import { events } from "./guideEvents.ts"

/** Returns a Python script that answers an event of Claude Code or Codex. */
export const script = ({ may, name, occasion }: Event): string => {
  const head = "#!/usr/bin/env python3\nimport json, sys\n\nevent = json.load(sys.stdin)\n"
  if (occasion === "tool-call") {
    return `${head}command = event["tool_input"].get("command", "")
if "git push" in command:
    print("ask before you push", file=sys.stderr)
    sys.exit(2)  # 2 refuses; 1 would only be a warning
`
  }
  if (occasion === "stop" || occasion === "subagent-stop") {
    return `${head}if event["stop_hook_active"]:
    sys.exit(0)  # it was kept going once already
if "done" not in (event.get("last_assistant_message") or ""):
    print("say what is done", file=sys.stderr)
    sys.exit(2)
`
  }
  if (occasion === "prompt") {
    return `${head}if "password" in event["prompt"]:
    print("prompts with passwords are refused", file=sys.stderr)
    sys.exit(2)
print("Today's branch is main.")  # the model reads it
`
  }
  if (may?.includes("add context") === true || occasion === "tool-result" || occasion === "tool-failure") {
    return `${head}print(json.dumps({"hookSpecificOutput": {"hookEventName": "${name}", ` +
      `"additionalContext": "Something that the model should know."}}))
`
  }
  return `${head}with open("/tmp/${name}.log", "a") as log:
    log.write(json.dumps(event) + "\\n")
`
}

export const example = ({ matcher, name, values }: Event, path: string, timeout = 10): string => {
  const of = matcher === undefined ? {} : { matcher: values?.[0] ?? (matcher === "tool_name" ? "Bash" : "*") }
  return JSON.stringify(
    { hooks: { [name]: [{ ...of, hooks: [{ type: "command", command: path, timeout }] }] } },
    null,
    2
  )
}

const keys = [
  "type",
  "command",
  "args",
  "if",
  "timeout",
  "async",
  "asyncRewake",
  "shell",
  "statusMessage",
  "once",
  "url",
  "headers",
  "allowedEnvVars",
  "server",
  "tool",
  "input",
  "prompt",
  "model",
  "continueOnBlock"
]

export const claude: Guide = {
  dialect: "claude",
  name: "Claude Code",
  files:
    "~/.claude/settings.json, .claude/settings.json, .claude/settings.local.json, front matter of .claude/skills " +
    "and .claude/agents",
  input: [
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "hook_event_name",
    "prompt_id after the first prompt",
    "agent_id and agent_type for sub-agents",
    "background_tasks and session_crons at Stop and SubagentStop"
  ],
  codes: [
    ["0", "success; standard output that begins with { is read as JSON"],
    ["2", "blocks if the event can be blocked, even if JSON says otherwise; standard error is the reason"],
    ["another", "valid JSON decides; without JSON it is an error that does not block"],
    ["timeout, signal", "no decision, a warning"]
  ],
  answers: [
    ["continue: false, stopReason", "the turn ends, before any other decision"],
    ["systemMessage", "the user reads it"],
    ["suppressOutput: true", "the user does not read the messages"]
  ],
  timeout: 600,
  keys,
  groupKeys: ["matcher", "hooks", "description"],
  events,
  example: (one) => example(one, `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${one.name}.py`),
  script
}
