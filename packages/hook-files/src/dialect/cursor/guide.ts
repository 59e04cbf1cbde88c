/** Describes the events of Cursor. */
import type { Event, Guide } from "../../engine/Guide.ts"

const event = (row: Omit<Event, "dialect" | "two"> & { readonly two?: string }): Event => ({
  dialect: "cursor",
  two: "a warning",
  ...row
})

const deny = ["permission: \"deny\", agent_message", "the call is refused, and the model reads why"] as const
const ask = ["permission: \"ask\", user_message", "a person decides"] as const
const tool = ["tool_name", "tool_input", "tool_use_id", "cwd"]

const events: ReadonlyArray<Event> = [
  event({
    name: "sessionStart",
    occasion: "session-start",
    when: "A new session begins.",
    may: "add context, set variables for later entries",
    fields: ["session_id", "is_background_agent", "composer_mode"],
    answers: [["additional_context", "the session begins with it"], ["env", "variables of later entries"]]
  }),
  event({
    name: "sessionEnd",
    occasion: "session-end",
    when: "A session ends.",
    fields: ["session_id", "reason", "duration_ms", "final_status"],
    answers: []
  }),
  event({
    name: "beforeSubmitPrompt",
    occasion: "prompt",
    when: "The user sent a prompt.",
    may: "refuse the prompt",
    matcher: "hook_event",
    values: ["UserPromptSubmit"],
    fields: ["prompt", "attachments"],
    two: "the prompt is refused, and the user reads standard error",
    answers: [["continue: false, user_message", "the prompt is refused, and the user reads why"]]
  }),
  event({
    name: "preToolUse",
    occasion: "tool-call",
    when: "The model wants to call a tool.",
    may: "refuse the call, change its input",
    matcher: "tool_name",
    fields: tool,
    two: "the call is refused, and the model reads standard error",
    answers: [deny, ["updated_input", "these fields of the input are changed"]]
  }),
  event({
    name: "beforeShellExecution",
    tool: "Bash",
    occasion: "tool-call",
    when: "The model wants to run a shell command.",
    may: "refuse the call, ask a person",
    matcher: "command",
    fields: ["command", "cwd", "sandbox"],
    two: "the call is refused, and the model reads standard error",
    answers: [deny, ask]
  }),
  event({
    name: "beforeMCPExecution",
    occasion: "tool-call",
    when: "The model wants to call a tool of an MCP server.",
    may: "refuse the call, ask a person",
    matcher: "tool_name",
    fields: ["tool_name", "tool_input"],
    two: "the call is refused, and the model reads standard error",
    answers: [deny, ask]
  }),
  event({
    name: "beforeReadFile",
    tool: "Read",
    occasion: "tool-call",
    when: "The model wants to read a file.",
    may: "refuse the call",
    matcher: "tool",
    values: ["Read"],
    fields: ["file_path", "content", "attachments"],
    two: "the call is refused, and the model reads standard error",
    answers: [["permission: \"deny\", user_message", "the call is refused"]]
  }),
  event({
    name: "postToolUse",
    occasion: "tool-result",
    when: "A tool gave a result.",
    may: "add context, change the result of a tool of an MCP server",
    matcher: "tool_name",
    fields: [...tool, "tool_output", "duration"],
    answers: [["additional_context", "the model reads it after the result"], [
      "updated_mcp_tool_output",
      "the model reads this instead, for tools of MCP servers"
    ]]
  }),
  event({
    name: "postToolUseFailure",
    occasion: "tool-failure",
    when: "A tool failed, timed out or was denied.",
    matcher: "tool_name",
    fields: [...tool, "error_message", "failure_type", "duration", "is_interrupt"],
    answers: []
  }),
  event({
    name: "afterShellExecution",
    tool: "Bash",
    occasion: "tool-result",
    when: "A shell command ended.",
    matcher: "command",
    fields: ["command", "output", "duration", "sandbox"],
    answers: []
  }),
  event({
    name: "afterMCPExecution",
    occasion: "tool-result",
    when: "A tool of an MCP server gave a result.",
    matcher: "tool_name",
    fields: ["tool_name", "tool_input", "result_json", "duration"],
    answers: []
  }),
  event({
    name: "afterFileEdit",
    tool: "Write",
    occasion: "tool-result",
    when: "A tool changed a file.",
    matcher: "tool",
    values: ["Write"],
    fields: ["file_path", "edits"],
    answers: []
  }),
  event({
    name: "subagentStart",
    occasion: "subagent-start",
    when: "A sub-agent begins.",
    may: "refuse the sub-agent",
    matcher: "subagent_type",
    fields: ["subagent_id", "subagent_type", "task", "parent_conversation_id"],
    two: "the sub-agent is refused",
    answers: [["permission: \"deny\" or \"ask\", user_message", "the sub-agent is refused"]]
  }),
  event({
    name: "subagentStop",
    occasion: "subagent-stop",
    when: "A sub-agent is about to stop.",
    may: "keep the sub-agent going",
    matcher: "subagent_type",
    fields: ["subagent_type", "status", "task", "summary", "duration_ms", "loop_count", "agent_transcript_path"],
    answers: [["followup_message", "the sub-agent continues with it, at most loop_limit times in a row"]]
  }),
  event({
    name: "stop",
    occasion: "stop",
    when: "The agent is about to stop, or its turn failed.",
    may: "keep the agent going",
    matcher: "hook_event",
    values: ["Stop"],
    fields: ["status", "loop_count"],
    answers: [["followup_message", "the agent continues with it, at most loop_limit times in a row"]]
  }),
  event({
    name: "preCompact",
    occasion: "compact",
    when: "The conversation is about to be compacted.",
    may: "show a message to the user",
    fields: ["trigger", "context_tokens", "context_window_size", "message_count"],
    answers: [["user_message", "the user reads it"]]
  }),
  event({
    name: "afterAgentResponse",
    occasion: "model-response",
    when: "The model answered with a text.",
    matcher: "hook_event",
    values: ["AgentResponse"],
    fields: ["text"],
    answers: []
  }),
  event({
    name: "afterAgentThought",
    occasion: "model-response",
    when: "The model answered with reasoning.",
    matcher: "hook_event",
    values: ["AgentThought"],
    fields: ["text"],
    answers: []
  }),
  ...["beforeTabFileRead", "afterTabFileEdit", "workspaceOpen"].map((name) =>
    event({
      name,
      occasion: "signal",
      when: "The host says so: the event is about the editor.",
      fields: [],
      answers: []
    })
  )
]

export const cursor: Guide = {
  dialect: "cursor",
  name: "Cursor",
  files: "/etc/cursor/hooks.json, ~/.cursor/hooks.json, .cursor/hooks.json",
  input: [
    "conversation_id",
    "session_id",
    "generation_id",
    "model",
    "hook_event_name",
    "cursor_version",
    "workspace_roots",
    "user_email",
    "transcript_path"
  ],
  codes: [
    ["0", "success; standard output is empty or one JSON object"],
    ["2", "blocks where something can be blocked; elsewhere a warning"],
    ["another, a signal, a timeout, other output", "a warning; with failClosed it blocks"]
  ],
  answers: [],
  timeout: 60,
  keys: ["command", "type", "timeout", "loop_limit", "failClosed", "matcher", "prompt", "model"],
  groupKeys: [],
  events,
  example: ({ matcher, name }) =>
    JSON.stringify(
      {
        version: 1,
        hooks: {
          [name]: [{
            command: `.cursor/hooks/${name}.sh`,
            ...(matcher === "tool_name" ? { matcher: "Shell" } : {}),
            timeout: 10
          }]
        }
      },
      null,
      2
    ),
  script: ({ may, name, occasion }) =>
    name === "beforeShellExecution"
      ? "#!/bin/bash\nif jq -r '.command' | grep -q 'git push'; then\n" +
        `  echo '{"permission":"deny","agent_message":"ask before you push"}'\nfi\nexit 0\n`
      : occasion === "tool-call"
      ? "#!/bin/bash\nif grep -q 'secret'; then\n" +
        `  echo '{"permission":"deny","agent_message":"this is a secret"}'\nfi\nexit 0\n`
      : occasion === "prompt"
      ? "#!/bin/bash\nif jq -r '.prompt' | grep -q 'password'; then\n" +
        `  echo '{"continue":false,"user_message":"do not send passwords"}'\nfi\n`
      : occasion === "stop" || occasion === "subagent-stop"
      ? `#!/bin/bash\ncat > /dev/null\nnpm test > /dev/null 2>&1 || echo '{"followup_message":"the tests fail"}'\n`
      : may?.includes("add context") === true
      ? `#!/bin/bash\ncat > /dev/null\necho '{"additional_context":"Something that the model should know."}'\n`
      : `#!/bin/bash\ncat >> /tmp/cursor-events.log\n`
}
