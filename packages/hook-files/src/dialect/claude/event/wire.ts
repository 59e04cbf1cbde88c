/** What Claude Code and its hook commands say to each other. */
import type { JsonObject } from "@belay/core/Json"
import type { Hole, Wire, WireEvent } from "../../shared/wire.ts"
import type { EventName } from "./events.ts"

/** The part of an answer that belongs to one event. */
export const specific = (fields: JsonObject): JsonObject => ({
  hookSpecificOutput: { hookEventName: "$event", ...fields }
})

export const block = { decision: "block", reason: "$reason" }
export const context = specific({ additionalContext: "$text" })
export const stop = { continue: false, stopReason: "$reason" }
export const deny = specific({ permissionDecision: "deny", permissionDecisionReason: "$reason" })

/** The names of the fields of payloads. */
export const fields = {
  event: "hook_event_name",
  session: "session_id",
  cwd: "cwd",
  agent: "agent_id",
  agentType: "agent_type",
  tool: "tool_name",
  input: "tool_input",
  call: "tool_use_id",
  output: "tool_response",
  error: "error",
  prompt: "prompt",
  answer: "last_assistant_message",
  again: "stop_hook_active"
} as const

const events: { readonly [E in EventName]?: WireEvent } = {
  SessionStart: { means: "sessionStart", context },
  UserPromptSubmit: { means: "userMessage", limit: 30, deny: block, context, stop },
  PreToolUse: {
    means: "toolCall",
    deny,
    ask: specific({ permissionDecision: "ask", permissionDecisionReason: "$reason" }),
    change: specific({ updatedInput: "$value" }),
    asksAboutChange: true,
    context,
    stop: { ...stop, ...deny }
  },
  PostToolUse: {
    means: "toolResult",
    context,
    result: specific({ updatedToolOutput: "$value" }),
    stop
  },
  PostToolUseFailure: { means: "toolFailure", context },
  Stop: { means: "stop", again: block, stop },
  SubagentStart: { means: "agentStart", context },
  SubagentStop: { means: "agentStop", again: block, stop },
  PreCompact: { means: "compaction", deny: block },
  SessionEnd: { means: "sessionEnd", limit: 1.5 }
}

const holes: ReadonlyArray<Hole> = [
  { what: "a hook that is killed or runs out of time lets the call run", source: "tried with 2.1.330" },
  { what: "--bare and disableAllHooks run no hooks", source: "code.claude.com/docs/hooks" },
  { what: "calls whose arguments fail the check of the tool reach no hook", source: "code.claude.com/docs/hooks" },
  { what: "EndConversation reaches no hook", source: "code.claude.com/docs/hooks" },
  { what: "a /skill that the user types reaches only UserPromptExpansion", source: "code.claude.com/docs/hooks" },
  { what: "hooks in the front matter of an agent never run", source: "claude-code issue 95650" },
  {
    what: "in older versions, sub-agents ignored exit codes of hooks",
    source: "claude-code issues 40580, 43612, 43772"
  }
]

export const wire: Wire = {
  system: "claude",
  name: "Claude Code",
  events,
  fields,
  tools: { Task: "Agent" },
  own: ["Agent", "Skill", "TodoWrite"],
  projectVariable: "CLAUDE_PROJECT_DIR",
  limit: 600,
  settings: {
    project: ".claude/settings.json",
    user: ".claude/settings.json",
    form: "groups",
    timeout: { key: "timeout", unit: "s" },
    off: { disableAllHooks: true },
    beside: [".claude/settings.local.json"]
  },
  proof: "program",
  holes
}
