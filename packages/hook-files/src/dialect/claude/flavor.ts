/** What differs between the systems whose settings files look alike: Claude Code and Codex. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Finished } from "../../process/Command.ts"
import type { CommandWork, Work } from "../../Runners.ts"
import type { Answer } from "./answer.ts"
import type { EventName } from "./events.ts"
import { read } from "./readAnswer.ts"
import { type Response, response } from "./toolResults.ts"

export interface Flavor {
  readonly name: "claude" | "codex"
  readonly read: (finished: Finished, event: EventName, work: Work) => Answer
  /** Text between the reasons of several entries that block. */
  readonly separator: string
  /** Whether the same entry in several files runs once. */
  readonly runsTwinsOnce: boolean
  /** How a line runs in the shell of the system. */
  readonly shell: (work: CommandWork) => CommandWork
  /** Prefixes of the variables with a plugin's folders. */
  readonly pluginPrefixes: ReadonlyArray<string>
  /** Other names of a tool, for matchers. */
  readonly aliases: (tool: string) => ReadonlyArray<string>
  /** Fields of every input beside the usual ones. `model` is the model that answered last. */
  readonly inputFields: (
    turn: { readonly sessionId: string; readonly turnNumber: number },
    model: string | undefined
  ) => JsonObject
  /** The result of a tool as scripts read it, and the way back. */
  readonly response: (tool: string, input: JsonObject, output: Json) => Response
  /** The path of the transcript where none is written. */
  readonly noTranscript: "" | null
}

const none: ReadonlyArray<string> = []

export const claude: Flavor = {
  name: "claude",
  read,
  separator: "\n",
  runsTwinsOnce: true,
  shell: (work) => work,
  pluginPrefixes: ["CLAUDE_"],
  // `Task` is called `Agent` now, and settings know either name.
  aliases: (tool) => tool === "Agent" ? ["Task"] : tool === "Task" ? ["Agent"] : none,
  inputFields: () => ({}),
  response,
  noTranscript: ""
}
