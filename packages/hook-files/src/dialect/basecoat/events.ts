/** The events of Base Coat: the input of hooks and the answers that are allowed. */
import type { Eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Entry } from "../../engine/Dialect.ts"
import type { Work } from "../../runner/Runners.ts"

export const events = [
  "SessionStart",
  "SessionEnd",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "OnError",
  "OnBudgetExceeded"
] as const

/** The name of an event of Base Coat. @category models @since 0.1.0 */
export type EventName = (typeof events)[number]

/** What the hooks of an event may do, in addition to adding context. */
export const powers: {
  readonly [E in EventName]: { readonly block?: true; readonly input?: true; readonly output?: true }
} = {
  SessionStart: { block: true },
  SessionEnd: {},
  PreToolUse: { block: true, input: true },
  PostToolUse: { block: true, output: true },
  PreCompact: { block: true, input: true },
  PostCompact: {},
  OnError: { block: true, output: true },
  OnBudgetExceeded: { block: true }
}

/** The input of every hook. Each event adds more fields. @category models @since 0.1.0 */
export interface Envelope {
  readonly hook: EventName
  /** In ISO 8601 format. */
  readonly timestamp: string
  readonly sessionId: string
  readonly agent: string
  /**
   * `owner/name` of the remote `origin`, or the name of the folder if there is no such remote. Empty outside of a
   * repository.
   */
  readonly repository: string
  /** Empty outside of a repository. */
  readonly branch: string
  /** The token usage that was last reported. `effectiveLimit` is 0 if the size of the context window is unknown. */
  readonly budget: { readonly usedTokens: number; readonly effectiveLimit: number }
  readonly tool?: Tool
  readonly [key: string]: Json | undefined
}

/** The tool call of `PreToolUse`, `PostToolUse` and `OnError`. @category models @since 0.1.0 */
export type Tool = {
  readonly name: string
  readonly callId: string
  readonly input: Json
  /** `success` and all fields below it are set after the call, with either `output` or `error`. */
  readonly success?: boolean
  readonly durationMs?: number
  /** The exit code of a command. For other tools it is 0 after success and 1 after a failure. */
  readonly exitStatus?: number
  /** How many tokens of the conversation the input and the result take, estimated from their length. */
  readonly tokenCost?: number
  readonly output?: Json
  /** Set if the call failed. */
  readonly error?: string
}

/** The answer of a hook. No answer means `passThrough`. @category models @since 0.1.0 */
export interface Response {
  readonly action?: "passThrough" | "injectContext" | "block" | "modify"
  readonly reason?: string
  readonly additionalContext?: ReadonlyArray<string>
  /** `overwrite` drops the context that earlier hooks of this event added. Default `append`. */
  readonly mode?: "append" | "overwrite"
  readonly warnings?: ReadonlyArray<string>
  readonly modifiedInput?: Json
  readonly modifiedOutput?: Json
  /** Data for the log. `hookId` is the name of the hook in the log. */
  readonly metadata?: JsonObject
  /** Ignored: hooks run in the order of registration. */
  readonly priority?: number
}

/** A hook that is a function. @category models @since 0.1.0 */
export type Run = (event: Envelope, ctx: HookContext) => Eventual<Response | void>

/**
 * A `policy` hook may block. An `advisory` hook may not block. A `telemetry` hook always runs after the others, and its
 * answer has no effect. A hook without a kind may block.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "policy" | "advisory" | "telemetry"

/** A hook from a file or from code. @category models @since 0.1.0 */
export interface Handler extends Entry<Work | { readonly type: "code"; readonly run: Run }> {
  readonly event: EventName
  /** Hooks with a lower priority run first. */
  readonly priority: number
  readonly kind?: Kind
  readonly timeoutMs?: number
}
