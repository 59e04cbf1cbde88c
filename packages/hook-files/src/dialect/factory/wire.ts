/** What Factory's Droid and its hook commands say to each other. */
import type { EventName } from "../claude/event/events.ts"
import { block, context, deny, fields, specific, stop } from "../claude/event/wire.ts"
import type { Path, Wire, WireEvent } from "../shared/wire.ts"

/** The names of tools of Claude Code that Droid calls differently. */
export const toolNames: { readonly [claude: string]: string } = {
  Bash: "Execute",
  Write: "Create",
  WebFetch: "FetchUrl",
  Agent: "Task"
}

/** Fields that Droid writes in camel case. Older scripts read them in snake case, so both are there. */
export const camel: { readonly [field: string]: string } = {
  session_id: "sessionId",
  transcript_path: "transcriptPath",
  permission_mode: "permissionMode",
  hook_event_name: "hookEventName",
  stop_hook_active: "stopHookActive",
  custom_instructions: "customInstructions"
}

const inBoth = (field: string): Path => camel[field] === undefined ? field : [field, camel[field]]

const events: { readonly [E in EventName]?: WireEvent } = {
  SessionStart: { means: "sessionStart", context },
  UserPromptSubmit: { means: "userMessage", deny: block, context, stop },
  PreToolUse: {
    means: "toolCall",
    deny,
    ask: specific({ permissionDecision: "ask", permissionDecisionReason: "$reason" }),
    change: specific({ permissionDecision: "allow", updatedInput: "$value" }),
    stop: { ...stop, ...deny }
  },
  PostToolUse: { means: "toolResult", context, stop },
  Stop: { means: "stop", again: block, stop },
  SubagentStop: { means: "agentStop", again: block, stop },
  PreCompact: { means: "compaction" },
  SessionEnd: { means: "sessionEnd" }
}

export const wire: Wire = {
  system: "factory",
  name: "Factory Droid",
  events,
  fields: {
    ...fields,
    event: inBoth(fields.event),
    session: inBoth(fields.session),
    again: inBoth(fields.again)
  },
  tools: Object.fromEntries(Object.entries(toolNames).map(([claude, own]) => [own, claude])),
  projectVariable: "FACTORY_PROJECT_DIR",
  limit: 60,
  settings: {
    project: ".factory/settings.json",
    user: ".factory/settings.json",
    form: "groups",
    timeout: { key: "timeout", unit: "s" }
  },
  proof: "documentation",
  holes: [
    { what: "a hook that is killed or runs out of time lets the call run", source: "Factory hooks reference" },
    { what: "results of tools cannot be withheld", source: "Factory hooks reference" },
    { what: "calls in missions have no id, so equal calls at the same time are one", source: "entireio/cli issue 917" },
    { what: "hooks may run twice for one call", source: "tokensave issue 198" }
  ]
}
