/** Describes the events of Windsurf. */
import type { Event, Guide, Occasion } from "../../engine/Guide.ts"

interface Row {
  readonly name: string
  readonly occasion: Occasion
  readonly when: string
  readonly fields: ReadonlyArray<string>
  readonly tool?: string
}

const refused = "the call is refused, and the model reads standard error"
const advice = "the model reads standard error"

const gate = (row: Row, two = refused): Event => ({
  ...row,
  dialect: "windsurf",
  may: row.occasion === "prompt" ? "refuse the prompt" : "refuse the call",
  two,
  answers: []
})

const watching = (row: Row, two = advice): Event => ({ ...row, dialect: "windsurf", two, answers: [] })

const path = ["tool_info.file_path"]
const edits = [...path, "tool_info.edits"]
const command = ["tool_info.command_line", "tool_info.cwd"]
const mcp = ["tool_info.mcp_server_name", "tool_info.mcp_tool_name", "tool_info.mcp_tool_arguments"]

const events: ReadonlyArray<Event> = [
  gate(
    { name: "pre_user_prompt", occasion: "prompt", when: "The user sent a prompt.", fields: ["tool_info.user_prompt"] },
    "the prompt is refused, and the user reads standard error"
  ),
  gate({
    name: "pre_read_code",
    tool: "Read",
    occasion: "tool-call",
    when: "The model wants to read a file.",
    fields: path
  }),
  gate({
    name: "pre_write_code",
    tool: "Write",
    occasion: "tool-call",
    when: "The model wants to change a file.",
    fields: edits
  }),
  gate({
    name: "pre_run_command",
    tool: "Bash",
    occasion: "tool-call",
    when: "The model wants to run a command.",
    fields: command
  }),
  gate({
    name: "pre_mcp_tool_use",
    occasion: "tool-call",
    when: "The model wants to call a tool of an MCP server.",
    fields: mcp
  }),
  watching({ name: "post_read_code", tool: "Read", occasion: "tool-result", when: "A file was read.", fields: path }),
  watching({
    name: "post_write_code",
    tool: "Write",
    occasion: "tool-result",
    when: "A file was changed.",
    fields: edits
  }),
  watching({
    name: "post_run_command",
    tool: "Bash",
    occasion: "tool-result",
    when: "A command was run.",
    fields: command
  }),
  watching({
    name: "post_mcp_tool_use",
    occasion: "tool-result",
    when: "A tool of an MCP server gave a result.",
    fields: [...mcp, "tool_info.mcp_result"]
  }),
  watching(
    { name: "post_cascade_response", occasion: "turn-end", when: "The turn ended.", fields: ["tool_info.response"] },
    "a warning"
  ),
  watching({
    name: "post_cascade_response_with_transcript",
    occasion: "turn-end",
    when: "The turn ended.",
    fields: ["tool_info.transcript_path"]
  }, "a warning"),
  watching({
    name: "post_setup_worktree",
    occasion: "signal",
    when: "The host says that it made a git worktree.",
    fields: ["tool_info.worktree_path", "tool_info.root_workspace_path"]
  }, "a warning")
]

export const windsurf: Guide = {
  dialect: "windsurf",
  name: "Windsurf",
  files: "/etc/windsurf/hooks.json, ~/.codeium/windsurf/hooks.json, .windsurf/hooks.json",
  input: ["agent_action_name", "trajectory_id", "execution_id", "timestamp", "model_name", "tool_info"],
  codes: [
    ["0", "success; output is never read as an answer"],
    ["2", "blocks before something happens; after a tool, the model reads standard error"],
    ["another, a signal, a timeout", "a warning that blocks nothing"]
  ],
  answers: [],
  timeout: 60,
  keys: ["command", "powershell", "show_output", "working_directory"],
  groupKeys: [],
  events,
  example: ({ name }) =>
    JSON.stringify({ hooks: { [name]: [{ command: `bash .windsurf/hooks/${name}.sh`, show_output: true }] } }, null, 2),
  script: ({ name }) =>
    name === "pre_run_command"
      ? "#!/bin/bash\nif jq -r '.tool_info.command_line' | grep -q 'git push'; then\n  echo 'ask before you " +
        "push' >&2\n  exit 2\nfi\nexit 0\n"
      : name.startsWith("pre_")
      ? `#!/bin/bash\nif grep -q 'secret'; then\n  echo 'this is a secret' >&2\n  exit 2\nfi\nexit 0\n`
      : `#!/bin/bash\ncat >> /tmp/windsurf-events.log\n`
}
