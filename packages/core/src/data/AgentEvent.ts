/**
 * The events that an agent sends while it runs. They are read-only and ordered by `seq` within a conversation. They are
 * built only while there are listeners.
 *
 * @since 0.1.0
 */
import type { Json } from "./Json.ts"
import type { RetryDecision } from "./LlmCall.ts"
import type { ToolCall } from "./Message.ts"
import type { PendingAsk } from "./RunState.ts"
import type { ToolResult } from "./tool/Tool.ts"
import type { FinishReason } from "./Turn.ts"
import type { Usage } from "./Usage.ts"

/** Where and when an event happened. @category models @since 0.1.0 */
export interface EventMeta {
  /**
   * The number of the event within its conversation: the session that the host opened, and all sub-agents that work for
   * it. No number is used twice. Numbers start at 1 and have no gaps while one process runs the session and saves its
   * turns. Another process continues after the last number that was saved; if it cannot know what numbers were used,
   * such as those of a process that ended in the middle of a turn, it leaves some out.
   */
  readonly seq: number
  /** The session of the agent. A sub-agent has its own session for each task. */
  readonly sessionId: string
  /** The session that the host opened. It is `sessionId`, unless this is an event of a sub-agent. */
  readonly rootSessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  /** Milliseconds since the epoch. */
  readonly time: number
  /** The agent's name. */
  readonly agent: string
  /** The names of the agents from the one that the host started to this one. */
  readonly agentPath: ReadonlyArray<string>
  /** For a sub-agent: the session of the agent that delegated to it, and the tool call with which it did. */
  readonly parent?: EventParent
}

/** The tool call for which a sub-agent works. @category models @since 0.1.0 */
export interface EventParent {
  readonly sessionId: string
  readonly callId: string
}

/**
 * Any event. `hook` events are decision records.
 *
 * Starts and ends are pairs: between the start and the end of a turn, each `llm-start` has one `llm-end` or
 * `llm-error`, and each `tool-start` has one `tool-end`. Each `turn-start` has one `turn-end`, and each `session-start`
 * has one `session-end` or `session-release`, unless the process ends before.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentEvent = EventMeta & AgentEventBody

/** The fields of each kind of event. @category models @since 0.1.0 */
export type AgentEventBody =
  | { readonly type: "session-start"; readonly source: "startup" | "resume" | "rotate" }
  | { readonly type: "session-end"; readonly reason: "done" | "error" | "rotate" | "abort" }
  /** The session has left the memory of this process. It has not ended. */
  | { readonly type: "session-release" }
  /** Sent after the `preTurn` hooks have run. The message is empty when they rejected it. */
  | { readonly type: "turn-start"; readonly message: string; readonly resumed: boolean }
  /** `text` is the answer or, of a turn that failed or was cancelled, the reason. */
  | {
    readonly type: "turn-end"
    readonly status: string
    readonly text: string
    readonly usage: Usage
    /** How often a hook failed and the chain continued without it. Absent if none did. */
    readonly failOpens?: number
  }
  | {
    readonly type: "llm-start"
    readonly provider: string
    readonly model: string | undefined
    readonly attempt: number
  }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "tool-call-delta"; readonly id: string; readonly name: string; readonly argsText: string }
  /** Discard the text that was streamed since the last `llm-start`: another attempt follows. */
  | { readonly type: "retract"; readonly reason: string }
  | {
    readonly type: "llm-end"
    readonly provider: string
    readonly model: string
    readonly attempt: number
    readonly text: string
    readonly toolCalls: ReadonlyArray<ToolCall>
    readonly finishReason: FinishReason
    /** The vendor's id of the response, if it has one. */
    readonly responseId?: string
    readonly usage: Usage | undefined
    readonly durationMs: number
    /** If the answer was streamed: how long its first delta took. */
    readonly firstDeltaMs?: number
  }
  | {
    readonly type: "llm-error"
    readonly provider: string
    readonly attempt: number
    readonly error: string
    readonly message: string
    readonly decision: RetryDecision
  }
  /**
   * Another agent answers the next messages of the session: the one behind this tool of the lead agent, or without
   * `tool` the lead agent itself.
   */
  | { readonly type: "handoff"; readonly tool?: string }
  /** A hook called a model through `ctx.llm`. */
  | {
    readonly type: "hook-llm"
    readonly hook: string
    readonly model: string
    readonly usage: Usage | undefined
    readonly durationMs: number
  }
  /** `call.changed` says who changed the arguments, if somebody did. */
  | { readonly type: "tool-start"; readonly call: ToolCall }
  /** A running tool reports progress. The value is not stored and not sent to the model. */
  | { readonly type: "tool-progress"; readonly callId: string; readonly tool: string; readonly value: Json }
  | {
    readonly type: "tool-end"
    readonly call: ToolCall
    readonly result: ToolResult
    readonly elapsedMs: number
    readonly executed: boolean
    /**
     * Set if the turn stopped while the call ran or waited, so that `result` is not its result. When the turn is
     * resumed, the call may start again.
     */
    readonly unfinished?: true
    /** Set if the client runs the tool. Such a call has no `tool-start`. */
    readonly client?: true
  }
  | {
    readonly type: "tool-denied"
    readonly call: ToolCall
    readonly by: string
    readonly reason: string
    /** Set if it is a tool that the client runs. */
    readonly client?: true
  }
  | { readonly type: "args-repaired"; readonly call: ToolCall; readonly text: string }
  | { readonly type: "ask"; readonly ask: PendingAsk }
  /** `by` is who decided, if known; it is `rule` when a remembered approval answered. */
  | {
    readonly type: "decided"
    readonly callId: string
    readonly decision: "approve" | "deny" | "edit" | "respond" | "delegate"
    readonly by?: string
    /** The arguments that the person wrote. The event `ask` has those before. */
    readonly args?: Json
  }
  | { readonly type: "hook"; readonly record: HookRecordLike }
  | {
    readonly type: "hook-failed"
    readonly hook: string
    readonly point: string
    readonly kind: string
    readonly message: string
    readonly policy: "open" | "reject" | "abort"
  }
  | { readonly type: "hook-late"; readonly hook: string; readonly what: string }
  | { readonly type: "inject"; readonly hook: string; readonly text: string }
  | { readonly type: "warning"; readonly hook: string; readonly message: string }
  | { readonly type: "notice"; readonly hook: string; readonly message: string }
  /** The model reads this message, which was sent while the turn ran, with its next call. */
  | { readonly type: "steer"; readonly message: string }
  | { readonly type: "follow-up"; readonly message: string; readonly count: number }
  | { readonly type: "compaction"; readonly removedCount: number; readonly summary: string }
  /**
   * The conversation is about to continue in a fresh session. From now on, large results are replaced by references.
   */
  | {
    readonly type: "rotation"
    readonly step: "loads-refused" | "handoff"
    readonly from: string
    readonly to?: string
  }
  | { readonly type: "limit"; readonly limit: string; readonly used: number; readonly max: number }
  | { readonly type: "custom"; readonly hook: string; readonly name: string; readonly payload: Json }
  /** The reader was too slow: this many events were dropped. */
  | { readonly type: "dropped"; readonly count: number }

/** A decision record, as `hook/HookRecord` defines it. @category models @since 0.1.0 */
export interface HookRecordLike {
  readonly point: string
  readonly subject?: string
  readonly hooks: ReadonlyArray<{
    readonly hook: string
    readonly answer: string
    readonly why?: string
    readonly change?: { readonly before: string; readonly after: string; readonly diff: string }
    readonly shadow?: true
    readonly again?: true
    readonly durationMs: number
  }>
  readonly action: string
  readonly decidedBy?: string
  readonly callId?: string
  readonly time?: number
  readonly sessionId?: string
  readonly agentPath?: ReadonlyArray<string>
  readonly turnNumber?: number
  readonly stepNumber?: number
}
