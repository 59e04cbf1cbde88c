/** What differs between the systems whose settings files look alike. */
import type { JsonObject } from "@belay/core/Json"
import * as Outcome from "../Outcome.ts"
import type { Finished } from "../runner/Command.ts"
import type { CommandWork, Work } from "../Runners.ts"
import { codexOutcome } from "./codex.ts"
import { loginShell } from "./environment.ts"
import type { EventName } from "./events.ts"

export interface Flavor {
  readonly name: "claude" | "codex"
  readonly read: (finished: Finished, event: EventName, work: Work) => Outcome.Outcome
  /** Between reasons of several that block. */
  readonly separator: string
  /** The same entry in several files runs once. */
  readonly dedupe: boolean
  /** What stands in for a line for the shell. */
  readonly shell: (work: CommandWork) => { readonly command: string; readonly args?: ReadonlyArray<string> }
  /** What is told beside the usual. */
  readonly told: (turn: { readonly sessionId: string; readonly turnNumber: number }) => JsonObject
}

const powershell = ({ command }: CommandWork) => ({ command: "pwsh", args: ["-NoProfile", "-NonInteractive", "-Command", command] })

export const claude: Flavor = {
  name: "claude",
  read: Outcome.read,
  separator: "\n",
  dedupe: true,
  shell: (work) => work.shell === "powershell" ? powershell(work) : { command: work.command },
  told: () => ({})
}

export const codex: Flavor = {
  name: "codex",
  read: codexOutcome,
  separator: "\n\n",
  dedupe: false,
  shell: ({ command }) => ({ command: loginShell(), args: ["-lc", command] }),
  told: ({ sessionId, turnNumber }) => ({ turn_id: `${sessionId}-${turnNumber}`, model: "" })
}
