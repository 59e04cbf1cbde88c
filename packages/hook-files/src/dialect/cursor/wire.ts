/** What Cursor and its hook commands say to each other. */
import type { Wire, WireEvent } from "../shared/wire.ts"
import type { EventName } from "./events.ts"

/** The names of tools of Claude Code that Cursor calls differently. */
export const cursorNames: { readonly [claude: string]: string } = {
  Bash: "Shell",
  Edit: "Write",
  MultiEdit: "Write",
  NotebookEdit: "Write",
  Agent: "Task",
  delete_file: "Delete",
  remove_file: "Delete"
}

/** The names of tools of Cursor that Claude Code calls differently. */
export const claudeNames: { readonly [cursor: string]: string } = { Shell: "Bash", Task: "Agent" }

const denied = { permission: "deny", user_message: "$reason", agent_message: "$reason" }
const asked = { permission: "ask", user_message: "$reason", agent_message: "$reason" }
const again = { followup_message: "$reason" }

const events: { readonly [E in EventName]?: WireEvent } = {
  sessionStart: { means: "sessionStart", context: { additional_context: "$text" } },
  beforeSubmitPrompt: { means: "userMessage", deny: { continue: false, user_message: "$reason" } },
  preToolUse: {
    means: "toolCall",
    except: ["Shell", "MCP:*"],
    deny: denied,
    change: { permission: "allow", updated_input: "$value" }
  },
  beforeShellExecution: {
    means: "toolCall",
    call: { name: "Bash", args: { command: "command" } },
    deny: denied,
    ask: asked
  },
  beforeMCPExecution: {
    means: "toolCall",
    call: { name: "mcp__cursor__{tool_name}", args: "tool_input" },
    deny: denied,
    ask: asked
  },
  postToolUse: {
    means: "toolResult",
    context: { additional_context: "$text" },
    result: { updated_mcp_tool_output: { content: [{ type: "text", text: "$text" }] } },
    resultOf: "mcp__"
  },
  postToolUseFailure: { means: "toolFailure" },
  stop: { means: "stop", again },
  subagentStart: { means: "agentStart", deny: denied },
  subagentStop: { means: "agentStop", again },
  preCompact: { means: "compaction" },
  sessionEnd: { means: "sessionEnd" }
}

/** The names of the fields of payloads. */
export const fields = {
  event: "hook_event_name",
  session: ["session_id", "conversation_id"],
  cwd: ["cwd", "workspace_roots.0"],
  agent: "subagent_id",
  agentType: "subagent_type",
  tool: "tool_name",
  input: "tool_input",
  call: "tool_use_id",
  output: "tool_output",
  error: "error_message",
  prompt: "prompt"
} as const

export const wire: Wire = {
  system: "cursor",
  name: "Cursor",
  events,
  fields,
  tools: claudeNames,
  toolFields: { Bash: { command: "command" } },
  withoutIds: ["Bash", "mcp__*"],
  projectVariable: "CURSOR_PROJECT_DIR",
  limit: 60,
  settings: {
    project: ".cursor/hooks.json",
    user: ".cursor/hooks.json",
    form: "list",
    timeout: { key: "timeout", unit: "s" },
    frame: { version: 1 },
    entry: { failClosed: true }
  },
  proof: "documentation",
  holes: [
    { what: "cloud agents run no hooks of the user", source: "cursor.com/docs/agent/hooks" },
    {
      what: "cloud agents run no beforeMCPExecution, so their MCP calls are not guarded",
      source: "cursor.com/docs/agent/hooks"
    },
    { what: "results are replaced only for tools of MCP servers", source: "cursor.com/docs/agent/hooks" },
    { what: "AskQuestion and Tab reach no hook of the agent", source: "cursor.com/docs/agent/hooks" },
    { what: "the approval prompt reaches no hook", source: "alera issue 828" }
  ]
}
