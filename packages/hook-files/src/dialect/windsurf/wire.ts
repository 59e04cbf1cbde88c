/** What Windsurf and its hook commands say to each other. Only the exit code decides. */
import type { Wire, WireEvent } from "../shared/wire.ts"
import type { EventName } from "./events.ts"

const read = { name: "Read", args: { file_path: "tool_info.file_path" } }
const write = { name: "MultiEdit", args: { file_path: "tool_info.file_path", edits: "tool_info.edits" } }
const run = { name: "Bash", args: { command: "tool_info.command_line" } }
const mcp = {
  name: "mcp__{tool_info.mcp_server_name}__{tool_info.mcp_tool_name}",
  args: "tool_info.mcp_tool_arguments"
}

const events: { readonly [E in EventName]?: WireEvent } = {
  pre_user_prompt: { means: "userMessage", deny: "exit" },
  pre_read_code: { means: "toolCall", call: read, deny: "exit" },
  pre_write_code: { means: "toolCall", call: write, deny: "exit" },
  pre_run_command: { means: "toolCall", call: run, deny: "exit" },
  pre_mcp_tool_use: { means: "toolCall", call: mcp, deny: "exit" },
  post_read_code: { means: "toolResult", call: read, context: "exit" },
  post_write_code: { means: "toolResult", call: write, context: "exit" },
  post_run_command: { means: "toolResult", call: run, context: "exit" },
  post_mcp_tool_use: { means: "toolResult", call: mcp, context: "exit" },
  post_cascade_response: { means: "stop" }
}

export const wire: Wire = {
  system: "windsurf",
  name: "Windsurf",
  events,
  fields: {
    event: "agent_action_name",
    session: ["trajectory_id", "execution_id"],
    cwd: "tool_info.cwd",
    output: "tool_info.mcp_result",
    prompt: "tool_info.user_prompt",
    answer: "tool_info.response"
  },
  tools: {},
  settings: {
    project: ".windsurf/hooks.json",
    user: ".codeium/windsurf/hooks.json",
    form: "list",
    entry: { show_output: true }
  },
  proof: "documentation",
  holes: [
    { what: "searches, lists, the browser and the web have no event", source: "docs.windsurf.com hooks" },
    { what: "no limit is documented, so nobody says what a slow hook lets through", source: "docs.windsurf.com hooks" },
    {
      what: "results of tools cannot be withheld, and those of files and commands are not shown to hooks",
      source: "docs.windsurf.com hooks"
    }
  ]
}
