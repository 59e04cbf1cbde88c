/** Maps signals of the host to events. These events have no point in the agent. */
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
  "PostModelSwitch",
  "Interrupt"
]

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_.]/g, "")

const byName = new Map(events.map((event) => [plain(event), event]))

/**
 * Returns the event of a signal. `FileChanged`, `fileChanged`, `file-changed` and `file_changed` are the same event.
 */
export const eventOf = (signal: string): EventName | undefined => byName.get(plain(signal))
