/** What Gemini CLI and its hook commands say to each other. */
import type { Wire, WireEvent } from "../shared/wire.ts"
import type { EventName } from "./events.ts"

/** Maps the tool names of Claude Code to those of Gemini CLI. */
export const builtIn: { readonly [tool: string]: string } = {
  Bash: "run_shell_command",
  Read: "read_file",
  Write: "write_file",
  Edit: "replace",
  MultiEdit: "replace",
  Glob: "glob",
  Grep: "grep_search",
  LS: "list_directory",
  WebFetch: "web_fetch",
  WebSearch: "google_web_search"
}

/** Other tool names of Gemini CLI. */
export const others: { readonly [tool: string]: string } = {
  replace: "Edit",
  str_replace_editor: "Edit",
  create: "Write",
  search_file_content: "Grep",
  rg: "Grep"
}

const denied = { decision: "deny", reason: "$reason" }
const stop = { continue: false, stopReason: "$reason" }
const context = { hookSpecificOutput: { hookEventName: "$event", additionalContext: "$text" } }

const events: { readonly [E in EventName]?: WireEvent } = {
  SessionStart: { means: "sessionStart", context },
  BeforeAgent: { means: "userMessage", deny: denied, context, stop },
  BeforeTool: {
    means: "toolCall",
    deny: denied,
    // The person reads the message, and the model the reason.
    ask: { decision: "ask", reason: "$reason", systemMessage: "$reason" },
    asksAboutChange: true,
    change: { hookSpecificOutput: { hookEventName: "$event", tool_input: "$value" } },
    stop
  },
  AfterTool: { means: "toolResult", context, result: { decision: "deny", reason: "$text" }, stop },
  AfterAgent: { means: "stop", again: denied, stop },
  // PreCompress comes before each request, whether something is compacted or not, and no answer changes that.
  SessionEnd: { means: "sessionEnd", limit: 1 }
}

/** The names of the fields of payloads. */
export const fields = {
  event: "hook_event_name",
  session: "session_id",
  cwd: "cwd",
  tool: "tool_name",
  input: "tool_input",
  output: "tool_response.llmContent",
  error: "tool_response.error.message",
  prompt: "prompt",
  answer: "prompt_response",
  again: "stop_hook_active",
  mcp: ["mcp_context.server_name", "mcp_context.tool_name"]
} as const

export const wire: Wire = {
  system: "gemini",
  name: "Gemini CLI",
  events,
  fields,
  tools: {
    ...Object.fromEntries(Object.entries(builtIn).map(([claude, own]) => [own, claude])),
    ...others,
    invoke_agent: "Agent",
    activate_skill: "Skill",
    write_todos: "TodoWrite",
    read_background_output: "BashOutput"
  },
  toolFields: { Agent: { agent_name: "subagent_type" }, Skill: { name: "skill" } },
  own: ["Agent", "Skill", "TodoWrite", "update_topic", "complete_task"],
  projectVariable: "GEMINI_PROJECT_DIR",
  limit: 60,
  settings: {
    project: ".gemini/settings.json",
    user: ".gemini/settings.json",
    form: "groups",
    timeout: { key: "timeout", unit: "ms" },
    off: { "hooksConfig.enabled": false, "hooks.enabled": false },
    disabled: ["hooksConfig.disabled", "hooks.disabled"]
  },
  proof: "program",
  holes: [
    { what: "a hook that runs out of time lets the call run", source: "gemini-cli hookRunner.ts" },
    { what: "hooks of the project do not run in a folder that is not trusted", source: "gemini-cli source" },
    { what: "a question with nobody there is never answered: the run ends, or waits", source: "tried with 0.61" },
    { what: "sub-agents are not told apart from their agent", source: "tried with 0.61" },
    { what: "the end of the session is not awaited", source: "gemini-cli hooks reference" }
  ]
}
