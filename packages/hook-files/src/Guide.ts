/**
 * Describes the events of a system, as data for people and tools: when each happens, what entries read, and what they
 * may answer.
 *
 * @since 0.1.0
 */

/** What happens in an agent, whatever a system calls it. @category models @since 0.1.0 */
export type Occasion =
  | "session-start"
  | "session-end"
  | "prompt"
  | "subagent-start"
  | "model-request"
  | "model-response"
  | "model-failure"
  | "turn-failure"
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
  /** What else it is called there. */
  readonly others?: ReadonlyArray<string>
  readonly occasion: Occasion
  readonly when: string
  /** What an entry may do; absent where it may only watch. */
  readonly may?: string
  /** The field that a matcher is held against; absent where matchers are ignored. */
  readonly matcher?: string
  /** The values which that field has, where they are few. */
  readonly values?: ReadonlyArray<string>
  /** Fields of standard input, in addition to those of every event. */
  readonly fields: ReadonlyArray<string>
  /** What exit code 2 means. */
  readonly two: string
  /** Answers that count, in addition to those of every event, and what each means here. */
  readonly answers: ReadonlyArray<readonly [answer: string, meaning: string]>
}

/** What the events of one system have in common. @category models @since 0.1.0 */
export interface Guide {
  readonly dialect: string
  readonly name: string
  /** Where its files are. */
  readonly files: string
  readonly input: ReadonlyArray<string>
  readonly codes: ReadonlyArray<readonly [code: string, meaning: string]>
  readonly answers: ReadonlyArray<readonly [answer: string, meaning: string]>
  /** Seconds that an entry has, unless it says otherwise. */
  readonly timeout: number
  /** Keys that an entry, or a group of entries, may have. */
  readonly keys: ReadonlyArray<string>
  readonly groupKeys: ReadonlyArray<string>
  readonly events: ReadonlyArray<Event>
  /** An entry for an event, as its file has it. */
  readonly example: (event: Event) => string
  /** A script that answers it. */
  readonly script: (event: Event) => string
}

/** Spellings are one: `PreToolUse`, `preToolUse` and `pre_tool_use`. @category names @since 0.1.0 */
export const spelt = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** How an agent's own points are called. @category points @since 0.1.0 */
export const points: { readonly [O in Occasion]: string } = {
  "session-start": "onSessionStart",
  "session-end": "onSessionEnd",
  prompt: "preTurn",
  "subagent-start": "preTurn of a sub-agent",
  "model-request": "preLlmCall",
  "model-response": "postLlmCall",
  "model-failure": "onLlmError",
  "turn-failure": "onTurnError",
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
