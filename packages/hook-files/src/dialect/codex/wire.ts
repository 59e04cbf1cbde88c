/** What Codex and its hook commands say to each other. */
import type { CodexEvent } from "../claude/event/events.ts"
import { block, context, deny, fields, specific, stop } from "../claude/event/wire.ts"
import type { Wire, WireEvent } from "../shared/wire.ts"

const events: { readonly [E in CodexEvent]?: WireEvent } = {
  SessionStart: { means: "sessionStart", context },
  UserPromptSubmit: { means: "userMessage", deny: block, context, stop },
  PreToolUse: {
    means: "toolCall",
    deny,
    change: specific({ permissionDecision: "allow", updatedInput: "$value" }),
    context
  },
  PostToolUse: { means: "toolResult", context, result: { decision: "block", reason: "$text" }, stop },
  Stop: { means: "stop", again: block, stop },
  SubagentStart: { means: "agentStart", context },
  SubagentStop: { means: "agentStop", again: block, stop },
  PreCompact: { means: "compaction", deny: block },
  SessionEnd: { means: "sessionEnd", limit: 1, maxLimit: 3 }
}

/** What an agent does with its sub-agents. */
const agents = ["wait_agent", "send_input", "close_agent", "resume_agent"]

export const wire: Wire = {
  system: "codex",
  name: "Codex",
  events,
  fields,
  tools: {
    spawn_agent: "Agent",
    // Codex writes the name of a tool right after that of its group.
    ...Object.fromEntries(agents.map((tool) => [`multi_agent_v1${tool}`, tool]))
  },
  toolFields: { Agent: { message: "prompt", agent_type: "subagent_type" } },
  own: ["Agent", ...agents, "update_plan", "create_goal", "update_goal"],
  limit: 600,
  settings: {
    project: ".codex/hooks.json",
    user: ".codex/hooks.json",
    form: "groups",
    timeout: { key: "timeout", unit: "s" },
    refusesWithText: true,
    keys: ["description", "hooks"],
    off: { "features.hooks": false },
    beside: [".codex/config.toml"],
    besideUser: [".codex/config.toml"]
  },
  proof: "program",
  holes: [
    { what: "hooks run only after a person has trusted them in /hooks", source: "developers.openai.com/codex/hooks" },
    { what: "hooks of a project that was not trusted do not run", source: "tried with 0.169" },
    {
      what: "a hook that is killed or runs out of time lets the call run",
      source: "developers.openai.com/codex/hooks"
    },
    { what: "exit code 2 without a text on standard error lets the call run", source: "tried with 0.169" },
    { what: "a file with an unknown key at the top runs no hook", source: "tried with 0.169" },
    { what: "web search and other tools of the vendor reach no hook", source: "developers.openai.com/codex/hooks" },
    { what: "input for a running command reaches no hook", source: "developers.openai.com/codex/hooks" },
    { what: "unified_exec, code mode and patches are not always caught", source: "codex issues 23411, 26733, 27833" }
  ]
}
