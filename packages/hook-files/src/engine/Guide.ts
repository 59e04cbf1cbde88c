/**
 * Describes the events of a system, for people and tools: when an event happens, what entries read, and what they can
 * answer.
 *
 * @since 0.1.0
 */

import { checked } from "@belay/core/ArgumentCheck"

/** What happens in an agent. Systems have different names for the same occasion. @category models @since 0.1.0 */
export type Occasion =
  | "session-start"
  | "session-end"
  | "prompt"
  | "subagent-start"
  | "model-request"
  | "model-response"
  | "model-failure"
  | "turn-failure"
  | "turn-end"
  | "tool-call"
  | "permission"
  | "denied"
  | "tool-result"
  | "tool-failure"
  | "step"
  | "stop"
  | "subagent-stop"
  | "compact"
  | "compacted"
  | "budget"
  | "signal"

/** One event of one system. @category models @since 0.1.0 */
export interface Event {
  readonly dialect: string
  readonly name: string
  /** Other names of the event in this system. */
  readonly others?: ReadonlyArray<string>
  readonly occasion: Occasion
  readonly when: string
  /** The tool of the event, if it is always the same one. A name that `belay hooks test` knows. */
  readonly tool?: string
  /** What an entry can do. Absent if it can only observe. */
  readonly may?: string
  /** The field that the matcher is compared with. Absent if the event ignores matchers. */
  readonly matcher?: string
  /** The possible values of the field `matcher`. Absent if there are too many to list. */
  readonly values?: ReadonlyArray<string>
  /** The fields of standard input, in addition to those of every event. */
  readonly fields: ReadonlyArray<string>
  /** What exit code 2 means. */
  readonly two: string
  /** The answers that have an effect at this event, in addition to those of every event, and what each answer does. */
  readonly answers: ReadonlyArray<readonly [answer: string, meaning: string]>
}

/** The description of one system and all its events. @category models @since 0.1.0 */
export interface Guide {
  readonly dialect: string
  readonly name: string
  /** The paths of the system's files. */
  readonly files: string
  readonly input: ReadonlyArray<string>
  readonly codes: ReadonlyArray<readonly [code: string, meaning: string]>
  readonly answers: ReadonlyArray<readonly [answer: string, meaning: string]>
  /** The default timeout of an entry in seconds. */
  readonly timeout: number
  /** The keys of an entry. Those of a group of entries are in `groupKeys`. */
  readonly keys: ReadonlyArray<string>
  readonly groupKeys: ReadonlyArray<string>
  readonly events: ReadonlyArray<Event>
  /** Returns the text of a hook file with one entry for an event. */
  readonly example: (event: Event) => string
  /** Returns an example of a script that answers an event. */
  readonly script: (event: Event) => string
}

/**
 * Normalizes the name of an event, so that `PreToolUse`, `preToolUse` and `pre_tool_use` are equal.
 *
 * @category names
 * @since 0.1.0
 */
export const spelt = checked(
  "Guide.spelt",
  ["name"],
  (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
)

/** The point of the agent at which each occasion happens. @category points @since 0.1.0 */
export const points: { readonly [O in Occasion]: string } = {
  "session-start": "onSessionStart",
  "session-end": "onSessionEnd",
  prompt: "preTurn",
  "subagent-start": "preTurn of a sub-agent",
  "model-request": "preLlmCall",
  "model-response": "postLlmCall",
  "model-failure": "onLlmError",
  "turn-failure": "onTurnError",
  "turn-end": "postTurn",
  "tool-call": "preToolCall",
  permission: "onPermission",
  denied: "onToolDenied",
  "tool-result": "postToolCall",
  "tool-failure": "postToolCall of a tool that failed",
  step: "postStep",
  stop: "preStop",
  "subagent-stop": "preStop of a sub-agent",
  compact: "preCompaction",
  compacted: "postCompaction",
  budget: "onBudget",
  signal: "onSignal"
}
