/** What differs between the systems whose settings files look alike. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Finished } from "../../process/Command.ts"
import { loginShell } from "../../process/internal/environment.ts"
import type { CommandWork, Work } from "../../Runners.ts"
import type { EventName } from "../claude/events.ts"
import * as Outcome from "../claude/Outcome.ts"
import { type Response, response } from "../claude/toolResults.ts"
import { codexOutcome } from "./answer.ts"

export interface Flavor {
  readonly name: "claude" | "codex"
  readonly read: (finished: Finished, event: EventName, work: Work) => Outcome.Outcome
  /** Between reasons of several that block. */
  readonly separator: string
  /** The same entry in several files runs once. */
  readonly dedupe: boolean
  /** What stands in for a line for the shell. */
  readonly shell: (work: CommandWork) => CommandWork
  /** What else a tool goes by, for matchers. */
  readonly aliases: (tool: string) => ReadonlyArray<string>
  /** What is told beside the usual; `model` is the one that answered last. */
  readonly told: (
    turn: { readonly sessionId: string; readonly turnNumber: number },
    model: string | undefined
  ) => JsonObject
  /** A tool's result as scripts read it, and what a new one means. */
  readonly response: (tool: string, input: JsonObject, output: Json) => Response
  /** What is told where there is no transcript. */
  readonly noTranscript: "" | null
}

export const claude: Flavor = {
  name: "claude",
  read: Outcome.read,
  separator: "\n",
  dedupe: true,
  shell: (work) => work,
  // What was `Task` is called `Agent` now, and settings know either.
  aliases: (tool) => tool === "Agent" ? ["Task"] : tool === "Task" ? ["Agent"] : [],
  told: () => ({}),
  response,
  noTranscript: ""
}

export const codex: Flavor = {
  name: "codex",
  read: codexOutcome,
  separator: "\n\n",
  dedupe: false,
  shell: ({ command }) => ({ type: "command", command: loginShell(), args: ["-lc", command] }),
  // Files are written by patches there.
  aliases: (tool) =>
    tool === "apply_patch" ? ["Write", "Edit"] : ["Write", "Edit", "MultiEdit"].includes(tool) ? ["apply_patch"] : [],
  told: ({ sessionId, turnNumber }, model = "") => ({ turn_id: `${sessionId}-${turnNumber}`, model }),
  response: (_tool, _input, shown) => ({ shown, back: (output) => output }),
  noTranscript: null
}
