/** The events of Base Coat: what hooks read, and what they may answer. */
import type { Eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Entry } from "../../Dialect.ts"
import type { Work } from "../../Runners.ts"

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

/** @category models @since 0.1.0 */
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

/** The input of every hook; more fields belong to the event. @category models @since 0.1.0 */
export interface Envelope {
  readonly hook: EventName
  /** ISO 8601. */
  readonly timestamp: string
  readonly sessionId: string
  readonly agent: string
  /** `owner/name` of the remote `origin`, else the name of the folder; empty outside of a repository. */
  readonly repository: string
  /** Empty outside of a repository. */
  readonly branch: string
  /** As far as it is known: `effectiveLimit` is 0 where the agent has no window. */
  readonly budget: { readonly usedTokens: number; readonly effectiveLimit: number }
  readonly tool?: Tool
  readonly [key: string]: Json | undefined
}

/** The tool call of `PreToolUse`, `PostToolUse` and `OnError`. @category models @since 0.1.0 */
export type Tool = {
  readonly name: string
  readonly callId: string
  readonly input: Json
  /** These three after the call. */
  readonly success?: boolean
  readonly durationMs?: number
  readonly output?: Json
  /** Of a call that failed. */
  readonly error?: string
}

/** What a hook may answer. Nothing means `passThrough`. @category models @since 0.1.0 */
export interface Response {
  readonly action?: "passThrough" | "injectContext" | "block" | "modify"
  readonly reason?: string
  readonly additionalContext?: ReadonlyArray<string>
  /** `overwrite` drops what earlier hooks of this event wanted to add. Default `append`. */
  readonly mode?: "append" | "overwrite"
  readonly warnings?: ReadonlyArray<string>
  readonly modifiedInput?: Json
  readonly modifiedOutput?: Json
  /** For the log: `hookId` names the hook there. */
  readonly metadata?: JsonObject
  /** Does not count: the order is that of the registration. */
  readonly priority?: number
}

/** A hook of code. @category models @since 0.1.0 */
export type Run = (event: Envelope, ctx: HookContext) => Eventual<Response | void>

/**
 * `policy` may block, `advisory` may not, `telemetry` always runs, after the others, and decides nothing. Without a
 * kind a hook may block.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "policy" | "advisory" | "telemetry"

/** One hook, from a file or from code. @category models @since 0.1.0 */
export interface Handler extends Entry<Work | { readonly type: "code"; readonly run: Run }> {
  readonly event: EventName
  /** Lower runs first. */
  readonly priority: number
  readonly kind?: Kind
  readonly timeoutMs?: number
}
