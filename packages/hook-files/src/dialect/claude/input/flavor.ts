/** Defines what differs between Claude Code and systems whose settings files are similar. */
import type { Json, JsonObject } from "@belay/core/Json"
import { objectOf } from "../../../internal/fields.ts"
import { sha256 } from "../../../internal/files.ts"
import type { Finished } from "../../../process/Command.ts"
import type { CommandWork, Work } from "../../../runner/Runners.ts"
import type { Answer } from "../answer/answer.ts"
import { read } from "../answer/readAnswer.ts"
import type { EventName } from "../event/events.ts"
import { fields } from "../event/wire.ts"
import { type Response, response } from "./toolResults.ts"

export interface Flavor {
  readonly name: "claude" | "codex" | "factory"
  /** The name of the assistant in messages for people. */
  readonly assistant: string
  readonly read: (finished: Finished, event: EventName, work: Work) => Answer
  /** The text between the reasons if several entries block. */
  readonly separator: string
  /** Whether an entry that is in several files runs only once. */
  readonly runsTwinsOnce: boolean
  /** Returns the command that runs a shell line. */
  readonly shell: (work: CommandWork) => CommandWork
  /** The default timeout in seconds, if the event sets none. */
  readonly timeout: number
  /** The variables for the folder of the project. */
  readonly projectVariables: ReadonlyArray<string>
  /** Returns the name of a tool that scripts read. */
  readonly shownTool: (tool: string) => string
  /** Returns the whole input of an event as scripts read it. */
  readonly shape: (payload: JsonObject) => JsonObject
  /** The prefixes of the variables `PLUGIN_ROOT` and `PLUGIN_DATA`. */
  readonly pluginPrefixes: ReadonlyArray<string>
  /** Returns other names under which matchers know a tool. */
  readonly aliases: (tool: string) => ReadonlyArray<string>
  /** Returns additional fields of every input. `model` is the model that answered last. */
  readonly inputFields: (
    turn: { readonly sessionId: string; readonly turnNumber: number },
    model: string | undefined
  ) => JsonObject
  /** Returns the result of a tool as scripts read it, and a function that converts a result of a script back. */
  readonly response: (tool: string, input: JsonObject, output: Json) => Response
  /**
   * Returns the error that scripts read if a result counts as a failure here, although the tool has not failed: the
   * output of a command that ended with another code than 0.
   */
  readonly failureOf?: (tool: string, output: Json) => string | undefined
  /**
   * After a tool, the model reads the reason of a block, or of `continue: false`, in place of the result, and the turn
   * goes on.
   */
  readonly blockReplacesResult?: true
  /** `PostToolUse` runs after failed calls too. The system has no event `PostToolUseFailure`. */
  readonly afterFailures?: true
  /** Events whose entries have at most 3 seconds. */
  readonly shortEvents?: ReadonlyArray<EventName>
  /** The `transcript_path` if no transcript is written. */
  readonly noTranscript: "" | null
}

const none: ReadonlyArray<string> = []

/** Fields that inputs of some events do not have. */
const absent: { readonly [event: string]: ReadonlyArray<string> } = {
  SessionStart: ["permission_mode", "prompt_id"],
  SessionEnd: ["permission_mode"],
  SubagentStart: ["permission_mode"],
  PermissionRequest: ["tool_use_id"]
}

/** Background tasks are not listed, and there are no scheduled prompts. */
const atStops: JsonObject = { background_tasks: [], session_crons: [] }

const shape = (payload: JsonObject): JsonObject => {
  const event = payload[fields.event]
  const without = typeof event === "string" && Object.hasOwn(absent, event) ? absent[event]! : none
  const kept = Object.fromEntries(Object.entries(payload).filter(([name]) => !without.includes(name)))
  return event === "Stop" || event === "SubagentStop" ? { ...kept, ...atStops } : kept
}

/** Returns the same id in the form of a UUID for the same text. */
const uuidOf = (text: string): string =>
  sha256(text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5")

const failureOf = (tool: string, output: Json): string | undefined => {
  if (tool !== "Bash") return undefined
  const { exitCode, stderr, stdout } = objectOf(output)
  if (typeof exitCode !== "number" || exitCode === 0) return undefined
  return [`Exit code ${exitCode}`, stdout, stderr].flatMap((text) =>
    typeof text === "string" && text !== "" ? [text] : []
  )
    .join("\n")
}

export const claude: Flavor = {
  name: "claude",
  assistant: "Claude",
  read,
  timeout: 600,
  projectVariables: ["CLAUDE_PROJECT_DIR"],
  shownTool: (tool) => tool,
  shape,
  separator: "\n",
  runsTwinsOnce: true,
  shell: (work) => work,
  pluginPrefixes: ["CLAUDE_"],
  // `Agent` was called `Task` before. Settings files use both names.
  aliases: (tool) => tool === "Agent" ? ["Task"] : tool === "Task" ? ["Agent"] : none,
  inputFields: ({ sessionId, turnNumber }) =>
    turnNumber === 0 ? {} : { prompt_id: uuidOf(`${sessionId}/${turnNumber}`) },
  response,
  failureOf,
  noTranscript: ""
}
