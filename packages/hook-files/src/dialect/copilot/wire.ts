/** What GitHub Copilot and its hook commands say to each other. */
import type { Wire, WireEvent } from "../shared/wire.ts"
import type { EventName } from "./events.ts"

/** Maps the tool names of Claude Code to those of Copilot. */
export const copilotNames: { readonly [claude: string]: string } = {
  Bash: "bash",
  Read: "view",
  Write: "create",
  Edit: "edit",
  MultiEdit: "edit",
  Glob: "glob",
  Grep: "grep",
  WebFetch: "web_fetch",
  WebSearch: "web_search",
  AskUserQuestion: "ask_user",
  TodoWrite: "update_todo",
  Agent: "task"
}

/** Other tool names of Copilot. */
export const others: { readonly [tool: string]: string } = {
  edit: "Edit",
  powershell: "Bash",
  str_replace_editor: "Edit",
  apply_patch: "Edit",
  replace: "Edit",
  rg: "Grep",
  search_file_content: "Grep",
  google_web_search: "WebSearch",
  Task: "Agent"
}

/** The fields of Copilot, by tool and field of Claude Code. */
export const copilotFields: { readonly [tool: string]: { readonly [field: string]: string } } = {
  Read: { file_path: "path" },
  Write: { file_path: "path", content: "file_text" },
  Edit: { file_path: "path", old_string: "old_str", new_string: "new_str" },
  MultiEdit: { file_path: "path" }
}

const context = { additionalContext: "$text" }
const again = { decision: "block", reason: "$reason" }

const events: { readonly [E in EventName]?: WireEvent } = {
  sessionStart: { means: "sessionStart", context },
  // The user reads why a message was refused, but Copilot sends it.
  userPromptSubmitted: { means: "userMessage", context },
  preToolUse: {
    means: "toolCall",
    deny: { permissionDecision: "deny", permissionDecisionReason: "$reason" },
    ask: { permissionDecision: "ask", permissionDecisionReason: "$reason" },
    change: { modifiedArgs: "$value" },
    context
  },
  postToolUse: {
    means: "toolResult",
    context,
    result: { modifiedResult: { textResultForLlm: "$text", resultType: "success" } }
  },
  postToolUseFailure: { means: "toolFailure", context },
  agentStop: { means: "stop", again },
  subagentStart: { means: "agentStart", context },
  subagentStop: { means: "agentStop", again },
  preCompact: { means: "compaction" },
  sessionEnd: { means: "sessionEnd" }
}

export const wire: Wire = {
  system: "copilot",
  name: "GitHub Copilot",
  events,
  fields: {
    // Visual Studio Code sends other events, and reads other answers: the guard does not know them, and refuses.
    event: ["hook_event_name", "hookEventName"],
    session: ["sessionId", "session_id"],
    cwd: "cwd",
    tool: ["toolName", "tool_name"],
    input: ["toolArgs", "tool_input"],
    call: ["toolUseId", "tool_use_id"],
    output: ["toolResult.textResultForLlm", "tool_result.text_result_for_llm"],
    error: "error",
    prompt: "prompt",
    answer: ["response", "last_assistant_message"]
  },
  tools: { ...Object.fromEntries(Object.entries(copilotNames).map(([claude, own]) => [own, claude])), ...others },
  toolFields: Object.fromEntries(
    Object.entries(copilotFields).map(([tool, fields]) => [
      tool,
      Object.fromEntries(Object.entries(fields).map(([field, own]) => [own, field]))
    ])
  ),
  limit: 30,
  settings: {
    project: ".github/hooks/belay-guard.json",
    user: ".copilot/hooks/belay-guard.json",
    form: "bash",
    off: { disableAllHooks: true },
    timeout: { key: "timeoutSec", unit: "s" },
    frame: { version: 1 }
  },
  proof: "documentation",
  holes: [
    { what: "a hook that runs out of time lets the call run", source: "docs.github.com Copilot CLI hooks reference" },
    {
      what: "a message that a hook refuses is sent all the same",
      source: "docs.github.com Copilot CLI hooks reference"
    },
    {
      what: "calls of sub-agents and of background agents reach no hook",
      source: "copilot-cli issues 2392, 2540, 3013"
    }
  ]
}
