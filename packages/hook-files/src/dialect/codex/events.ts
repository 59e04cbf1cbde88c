/** Lists the events of Codex. All of them except `Interrupt` are also events of Claude Code. */
import type { EventName } from "../claude/events.ts"

const list = [
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
  "SessionEnd",
  "Interrupt"
] as const satisfies ReadonlyArray<EventName>

/** The name of an event of Codex. */
export type CodexEvent = typeof list[number]

/** The names of all events of Codex. @category events @since 0.1.0 */
export const codexEvents: ReadonlyArray<EventName> = list
