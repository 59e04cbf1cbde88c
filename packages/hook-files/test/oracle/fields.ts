/** The fields of payloads that Claude Code is documented to send always, and those that entries have read. */
import type { Told } from "./belay.ts"

const common = ["cwd", "hook_event_name", "session_id", "transcript_path"]
const prompt = [...common, "permission_mode", "prompt_id"]
const tool = [...prompt, "tool_input", "tool_name"]
const stop = [...prompt, "background_tasks", "last_assistant_message", "session_crons", "stop_hook_active"]
const agent = ["agent_id", "agent_type"]

/** The fields of each event. Those of calls in sub-agents have `agent_id` and `agent_type`, too. */
export const documented: { readonly [event: string]: ReadonlyArray<string> } = {
  SessionStart: [...common, "source"],
  SessionEnd: [...common, "prompt_id", "reason"],
  UserPromptSubmit: [...prompt, "prompt"],
  PreToolUse: [...tool, "tool_use_id"],
  PermissionRequest: tool,
  PostToolUse: [...tool, "duration_ms", "tool_response", "tool_use_id"],
  PostToolUseFailure: [...tool, "duration_ms", "error", "is_interrupt", "tool_use_id"],
  PostToolBatch: [...prompt, "tool_calls"],
  Stop: stop,
  SubagentStart: [...common, "prompt_id", ...agent],
  SubagentStop: [...stop, "agent_transcript_path", ...agent]
}

/** Each list of fields that entries of an event have read, without those of calls in sub-agents. */
export const fieldsOf = (told: ReadonlyArray<Told>): ReadonlyArray<readonly [event: string, fields: string]> => {
  const lists = told.map(({ payload }) => {
    const event = String(payload["hook_event_name"])
    const isOfAgent = event.startsWith("Subagent")
    const names = Object.keys(payload).filter((name) => isOfAgent || !agent.includes(name))
    return `${event}\t${names.sort().join(" ")}`
  })
  return [...new Set(lists)].sort().map((line) => line.split("\t") as [string, string])
}
