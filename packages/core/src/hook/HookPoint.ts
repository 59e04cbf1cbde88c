/**
 * The table of points. For each point it defines what hooks receive, which actions are legal and in which order hooks
 * run. The types of hooks, the checks at run time and the table in docs/hooks.md are derived from it.
 *
 * The type of an event is named after its point: hooks at `preToolCall` receive a `PreToolCallEvent`, hooks at
 * `onBudget` an `OnBudgetEvent`. If the same value also exists outside of hooks, as `LlmRequest` does, the event type
 * is an alias of it.
 *
 * @since 0.1.0
 */
import type { AgentError } from "../data/AgentError.ts"
import type {
  BudgetLevel,
  CompactionHint,
  CompactionRequest,
  CompactionResult,
  PostCompactionEvent,
  TokenBudget
} from "../data/Compaction.ts"
import type { Delegation, DelegationResult, HostSignal, PostDelegationEvent } from "../data/Delegation.ts"
import { type Json, whyNot } from "../data/Json.ts"
import type { LlmDelta, LlmRequest, LlmResponse, PostLlmCallEvent, RetryDecision } from "../data/LlmCall.ts"
import type { Message, ToolCall } from "../data/Message.ts"
import type { ProviderError } from "../data/ProviderError.ts"
import type { OnSessionEndEvent, OnSessionStartEvent } from "../data/SessionEvent.ts"
import type {
  OnPermissionEvent,
  OnToolDeniedEvent,
  PermissionDecision,
  PostToolCallEvent,
  PreToolCallEvent,
  ToolResult
} from "../data/tool/Tool.ts"
import type { PostTurnEvent, TurnInput, TurnOutput } from "../data/Turn.ts"
import type { Usage } from "../data/Usage.ts"
import type * as HookAction from "./HookAction.ts"

/** The output of a turn that a hook answers. A `TurnOutput` is accepted too. @category models @since 0.1.0 */
export interface TurnAnswer {
  readonly text: string
}

/** A failed turn: what `onTurnError` hooks receive. @category models @since 0.1.0 */
export interface OnTurnErrorEvent {
  readonly input: TurnInput
  readonly error: AgentError
  /** The output with which an earlier hook recovered the turn; set for gates and observers. */
  readonly answer?: TurnAnswer
}

/** A failed LLM call: what `onLlmError` hooks receive. @category models @since 0.1.0 */
export interface OnLlmErrorEvent {
  readonly error: ProviderError
  /** The number of failed attempts of this call, from 1. */
  readonly attempt: number
  /** The name of the provider that failed, and the names of all providers in order. */
  readonly provider: string
  readonly providers: ReadonlyArray<string>
  readonly request: LlmRequest
  /** What happens next unless a hook changes it. */
  readonly decision: RetryDecision
}

/** A finished step: what `postStep` hooks receive. @category models @since 0.1.0 */
export interface PostStepEvent {
  readonly messages: ReadonlyArray<Message>
  /** The usage of the turn so far. */
  readonly usage: Usage
  /** How full the window is. `windowTokens` is 0 when the agent has no window size. */
  readonly budget: TokenBudget
}

/** A turn that is about to end: what `preStop` hooks receive. @category models @since 0.1.0 */
export interface PreStopEvent {
  readonly text: string
  /** The number of follow-ups in a row so far. `limits.followUps` caps it. */
  readonly followUps: number
  readonly messages: ReadonlyArray<Message>
  /** The usage of the turn so far. */
  readonly usage: Usage
  /** How full the window is. `windowTokens` is 0 when the agent has no window size. */
  readonly budget: TokenBudget
}

/** What `preTurn` hooks receive. @category models @since 0.1.0 */
export type PreTurnEvent = TurnInput

/** What `preLlmCall` hooks receive. @category models @since 0.1.0 */
export type PreLlmCallEvent = LlmRequest

/** What `onLlmDelta` hooks receive. @category models @since 0.1.0 */
export type OnLlmDeltaEvent = LlmDelta

/** What `preDelegation` hooks receive. @category models @since 0.1.0 */
export type PreDelegationEvent = Delegation

/** What `preCompaction` hooks receive. @category models @since 0.1.0 */
export type PreCompactionEvent = CompactionRequest

/** What `onBudget` hooks receive. @category models @since 0.1.0 */
export type OnBudgetEvent = BudgetLevel

/** What `onSignal` hooks receive. @category models @since 0.1.0 */
export type OnSignalEvent = HostSignal

/**
 * The types of each point: the event (`in`), the value of Transform and Replace (`value`) and the output of Respond
 * (`out`).
 *
 * @category models
 * @since 0.1.0
 */
export interface HookPoints {
  readonly onSessionStart: { in: OnSessionStartEvent; value: OnSessionStartEvent; out: never }
  readonly onSessionEnd: { in: OnSessionEndEvent; value: never; out: never }
  readonly preTurn: { in: PreTurnEvent; value: TurnInput; out: TurnAnswer }
  readonly postTurn: { in: PostTurnEvent; value: TurnOutput; out: never }
  readonly onTurnError: { in: OnTurnErrorEvent; value: TurnAnswer; out: never }
  readonly preLlmCall: { in: PreLlmCallEvent; value: LlmRequest; out: LlmResponse }
  readonly onLlmDelta: { in: OnLlmDeltaEvent; value: LlmDelta; out: never }
  readonly postLlmCall: { in: PostLlmCallEvent; value: LlmResponse; out: never }
  readonly onLlmError: { in: OnLlmErrorEvent; value: RetryDecision; out: never }
  readonly preToolCall: { in: PreToolCallEvent; value: ToolCall; out: Json }
  readonly postToolCall: { in: PostToolCallEvent; value: ToolResult; out: never }
  readonly onPermission: { in: OnPermissionEvent; value: PermissionDecision; out: never }
  readonly onToolDenied: { in: OnToolDeniedEvent; value: never; out: never }
  readonly postStep: { in: PostStepEvent; value: ReadonlyArray<Message>; out: never }
  readonly preStop: { in: PreStopEvent; value: ReadonlyArray<Message>; out: never }
  readonly preDelegation: { in: PreDelegationEvent; value: Delegation; out: DelegationResult }
  readonly postDelegation: { in: PostDelegationEvent; value: DelegationResult; out: never }
  readonly preCompaction: { in: PreCompactionEvent; value: CompactionHint; out: CompactionResult }
  readonly postCompaction: { in: PostCompactionEvent; value: never; out: never }
  readonly onBudget: { in: OnBudgetEvent; value: never; out: never }
  readonly onSignal: { in: OnSignalEvent; value: never; out: Json }
}

/** The name of a point. @category models @since 0.1.0 */
export type HookPointName = keyof HookPoints

/** The tags of the actions that a point may allow in addition to `Continue`. @category models @since 0.1.0 */
export type Answer = "Transform" | "Replace" | "Reject" | "Respond" | "Abort" | "Ask"

/** One row of the table. @category models @since 0.1.0 */
export interface Row {
  /** `forward` runs the lowest priority number first. `reverse` is exactly the opposite order. */
  readonly order: "forward" | "reverse"
  /** The legal actions in addition to `Continue`. */
  readonly legal: ReadonlyArray<Answer>
  /** What Reject does at this point, if it is legal. */
  readonly onReject: string
  /** The field of the event that a new value replaces. Absent when the value replaces the whole event. */
  readonly field?: string
  /** The field of the event with a list of messages. Messages that hooks append to it are not a change for gates. */
  readonly list?: string
  /** Whether a new value only tightens what the event has. It then counts also from a gate that is asked again. */
  readonly tightens?: (value: never, event: never) => boolean
  /** Describes what is wrong with a value from an untyped hook. */
  readonly wrong?: (value: never, event: never) => string | undefined
  /** Describes what is wrong with an output from an untyped hook. */
  readonly wrongOutput?: (output: never) => string | undefined
}

/** Checks of values from untyped hooks. They run on every change, so each one makes only a few comparisons. */
type Loose = { readonly [key: string]: unknown } | null | undefined
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null
const wantsText = (value: Loose) =>
  isObject(value) && typeof value!.text === "string" ? undefined : "expected an object with a string `text`"
const wantsMessage = (value: Loose) =>
  isObject(value) && typeof value!.message === "string" ? undefined : "expected an object with a string `message`"
const wantsContext = (value: Loose) =>
  isObject(value) && Array.isArray(value!.context) ? undefined : "expected an object with an array `context`"
const wantsRequest = (value: Loose) =>
  isObject(value) && Array.isArray(value!.messages) && Array.isArray(value!.tools) && isObject(value!.parameters)
    ? undefined
    : "expected an object with arrays `messages` and `tools` and an object `parameters`"
const wantsResponse = (value: Loose) =>
  isObject(value) && typeof value!.text === "string" && Array.isArray(value!.toolCalls)
    ? undefined
    : "expected an object with a string `text` and an array `toolCalls`"
const wantsResult = (value: Loose) =>
  isObject(value) &&
    (value!.ok === true ? value!.output !== undefined : value!.ok === false && typeof value!.error === "string")
    ? undefined
    : "expected { ok: true, output } or { ok: false, error }"
const wantsCall = (value: Loose, event: Loose) =>
  !isObject(value) || value!.args === undefined
    ? "expected the tool call with its `args`"
    : value!.id !== event!.id || value!.name !== event!.name
    ? "`id` and `name` of a tool call cannot be changed"
    : undefined
const wantsDelegation = (value: Loose) =>
  isObject(value) && typeof value!.agent === "string" && typeof value!.message === "string"
    ? undefined
    : "expected an object with strings `agent` and `message`"
const wantsObject = (value: Loose) => isObject(value) ? undefined : "expected an object"
const wantsMessages = (value: unknown) => Array.isArray(value) ? undefined : "expected an array of messages"
const wantsType = (...types: ReadonlyArray<string>) => (value: Loose) =>
  isObject(value) && types.includes(value!.type as string)
    ? undefined
    : `expected an object whose \`type\` is one of ${types.join(", ")}`
const wantsJson = (output: unknown) => {
  const why = whyNot(output, "output")
  return why === undefined ? undefined : `expected JSON, ${why}`
}
const wantsCompaction = (output: Loose) =>
  isObject(output) && Array.isArray(output!.messages) && typeof output!.summary === "string"
    ? undefined
    : "expected an object with an array `messages` and a string `summary`"

const strictness: ReadonlyArray<PermissionDecision["type"]> = ["allow", "ask", "deny"]

/** The table. @category table @since 0.1.0 */
export const table = {
  onSessionStart: {
    order: "forward",
    legal: ["Transform", "Reject", "Abort"],
    onReject: "the session does not start",
    list: "context",
    wrong: wantsContext
  },
  onSessionEnd: { order: "reverse", legal: [], onReject: "" },
  preTurn: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Respond", "Abort"],
    onReject: "the turn fails, the model is not called, the message is not stored",
    wrong: wantsMessage,
    wrongOutput: wantsText
  },
  postTurn: {
    order: "reverse",
    legal: ["Transform", "Replace", "Reject", "Abort"],
    onReject: "the turn ends with the error instead of the output",
    field: "output",
    wrong: wantsText
  },
  onTurnError: { order: "forward", legal: ["Replace"], onReject: "", field: "answer", wrong: wantsText },
  preLlmCall: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Respond", "Abort"],
    onReject: "the turn fails with HookRejected; nothing is retried",
    list: "messages",
    wrong: wantsRequest,
    wrongOutput: wantsResponse
  },
  onLlmDelta: {
    order: "reverse",
    legal: ["Transform", "Reject", "Abort"],
    onReject: "the stream is cut, the turn fails",
    wrong: wantsType("text", "reasoning", "tool-call")
  },
  postLlmCall: {
    order: "reverse",
    legal: ["Transform", "Replace", "Reject", "Abort"],
    onReject: "the response is discarded and none of its tools run; with feedback the model is asked again",
    field: "response",
    wrong: wantsResponse
  },
  onLlmError: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Abort"],
    onReject: "give up with this reason",
    field: "decision",
    tightens: ({ type }: RetryDecision, { decision }: OnLlmErrorEvent) => type === "fail" && decision.type !== "fail",
    wrong: wantsType("retry", "fallback", "fail")
  },
  preToolCall: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Respond", "Abort", "Ask"],
    onReject: "the tool does not run; the reason is its error result and the loop goes on",
    field: "args",
    wrong: wantsCall,
    wrongOutput: wantsJson
  },
  postToolCall: {
    order: "reverse",
    legal: ["Transform", "Replace", "Reject", "Abort"],
    onReject: "the result is kept and the reason is appended as feedback",
    field: "result",
    tightens: ({ ok }: ToolResult, { result }: PostToolCallEvent) => !ok && result.ok,
    wrong: wantsResult
  },
  onPermission: {
    order: "forward",
    legal: ["Replace", "Reject", "Abort", "Ask"],
    onReject: "the tool call is denied",
    field: "decision",
    tightens: ({ type }: PermissionDecision, { decision }: OnPermissionEvent) =>
      strictness.indexOf(type) > strictness.indexOf(decision.type),
    wrong: wantsType("allow", "deny", "ask")
  },
  onToolDenied: { order: "forward", legal: [], onReject: "" },
  postStep: {
    order: "reverse",
    legal: ["Transform", "Abort"],
    onReject: "",
    field: "messages",
    list: "messages",
    wrong: wantsMessages
  },
  preStop: {
    order: "forward",
    legal: ["Transform", "Abort"],
    onReject: "",
    field: "messages",
    list: "messages",
    wrong: wantsMessages
  },
  preDelegation: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Respond", "Abort"],
    onReject: "the sub-agent is not started",
    list: "context",
    wrong: wantsDelegation,
    wrongOutput: wantsText
  },
  postDelegation: {
    order: "reverse",
    legal: ["Transform", "Replace", "Reject", "Abort"],
    onReject: "the result is replaced by an error",
    field: "result",
    wrong: wantsText
  },
  preCompaction: {
    order: "forward",
    legal: ["Transform", "Replace", "Reject", "Respond"],
    onReject: "this compaction is skipped",
    field: "hint",
    wrong: wantsObject,
    wrongOutput: wantsCompaction
  },
  postCompaction: { order: "reverse", legal: [], onReject: "" },
  onBudget: { order: "forward", legal: ["Abort"], onReject: "" },
  onSignal: {
    order: "forward",
    legal: ["Reject", "Respond"],
    onReject: "the host's action is refused, where it can be",
    wrongOutput: wantsJson
  }
} as const satisfies { readonly [P in HookPointName]: Row }

/** Every point, in the order of the table. @category table @since 0.1.0 */
export const names = Object.keys(table) as ReadonlyArray<HookPointName>

/** The event that a method at point `P` receives. @category type-level @since 0.1.0 */
export type In<P extends HookPointName> = HookPoints[P]["in"]

/** The value of Transform and Replace at point `P`. @category type-level @since 0.1.0 */
export type Value<P extends HookPointName> = HookPoints[P]["value"]

/** The tags of the actions that are legal at point `P`. @category type-level @since 0.1.0 */
export type Legal<P extends HookPointName> = (typeof table)[P]["legal"][number]

/** The actions that are legal at point `P`. @category type-level @since 0.1.0 */
export type ActionAt<P extends HookPointName> =
  | HookAction.Continue
  | ("Transform" extends Legal<P> ? HookAction.Transform<HookPoints[P]["value"]> : never)
  | ("Replace" extends Legal<P> ? HookAction.Replace<HookPoints[P]["value"]> : never)
  | ("Reject" extends Legal<P> ? HookAction.Reject : never)
  | ("Respond" extends Legal<P> ? HookAction.Respond<HookPoints[P]["out"]> : never)
  | ("Abort" extends Legal<P> ? HookAction.Abort : never)
  | ("Ask" extends Legal<P> ? HookAction.Ask : never)
