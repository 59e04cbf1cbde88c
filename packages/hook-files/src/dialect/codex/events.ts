/** The events of Codex, which are among those of Claude Code. */
import type { EventName } from "../claude/events.ts"

/** The events that Codex has. @category events @since 0.1.0 */
export const codexEvents: ReadonlyArray<EventName> = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "StopFailure"
]
