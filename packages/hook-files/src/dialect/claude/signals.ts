/** Events of a host that are not points of the agent: they arrive as signals. */
import type { EventName } from "./events.ts"

const events: ReadonlyArray<EventName> = [
  "Setup",
  "UserPromptExpansion",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "Notification",
  "MessageDisplay",
  "ConfigChange",
  "InstructionsLoaded",
  "CwdChanged",
  "DirectoryAdded",
  "FileChanged",
  "WorktreeCreate",
  "WorktreeRemove",
  "Elicitation",
  "ElicitationResult",
  "PreModelSwitch",
  "PostModelSwitch"
]

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_.]/g, "")

const byName = new Map(events.map((event) => [plain(event), event]))

/** The event that a signal is: `FileChanged`, `fileChanged`, `file-changed` and `file_changed` are one. */
export const eventOf = (signal: string): EventName | undefined => byName.get(plain(signal))
