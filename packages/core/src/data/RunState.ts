/**
 * The state of a suspended run, as plain, versioned JSON. One process can suspend a turn and another can finish it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { SnapshotError } from "./AgentError.ts"
import { Cost } from "./Cost.ts"
import { copy } from "./internal/copyJson.ts"
import { decodeInPieces } from "./internal/decodeInPieces.ts"
import { MovedTo } from "./internal/movedTo.ts"
import { whyNot } from "./Json.ts"
import { AssistantMessage, JsonValue, Message, ToolCall } from "./Message.ts"
import { checked } from "./option/ArgumentCheck.ts"
import { messageOf } from "./text/ErrorMessage.ts"
import { ToolResult } from "./tool/Tool.ts"
import { DefinitionChange, ToolDefinition } from "./tool/ToolDefinition.ts"
import { TurnInput } from "./Turn.ts"
import { Usage } from "./Usage.ts"

/**
 * The version that this release writes. Older versions are migrated when they are read; newer ones are refused.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = 3

/**
 * Remembers the approval, so that it answers later questions of the same hook: about the tool, or about the tool with
 * exactly these arguments.
 *
 * @category models
 * @since 0.1.0
 */
export type Remember = Schema.Schema.Type<typeof Remember>
/** @category schemas @since 0.1.0 */
export const Remember = Schema.Struct({
  /**
   * `field` is for hooks that ask where a value comes from, such as `DataFlow`: other values of the same field need no
   * question in this turn. The agent makes no rule of it.
   */
  what: Schema.Literals(["tool", "arguments", "field"]),
  /** `session`: valid in this conversation. `project`: valid for all agents that share the store of rules. */
  scope: Schema.Literals(["session", "project"])
})

/** A question to a person about one tool call. @category models @since 0.1.0 */
export interface PendingAsk extends Schema.Schema.Type<typeof PendingAsk> {}
/** @category schemas @since 0.1.0 */
export const PendingAsk = Schema.Struct({
  /**
   * The id of the tool call. For a call of a sub-agent it is a path: the ids of the delegating calls and the id of the
   * call itself, joined by `/`.
   */
  callId: Schema.String,
  /** The name of the agent that makes the call. Absent for the agent that the host started. */
  agent: Schema.optionalKey(Schema.String),
  tool: Schema.String,
  /** The arguments that the tool gets if the call is approved. */
  args: JsonValue,
  /** The name of the hook that asks, or `policy`. If several ask, it is the first. */
  by: Schema.String,
  /** Why a person has to decide. If several ask about the call, it has all their reasons. */
  reason: Schema.String,
  /** Everybody who asks about the call, if there are several. One decision answers all of them. */
  reasons: Schema.optionalKey(Schema.Array(Schema.Struct({
    by: Schema.String,
    reason: Schema.String,
    details: Schema.optionalKey(JsonValue)
  }))),
  /** Additional data that the hook wants to show to the person. */
  details: Schema.optionalKey(JsonValue),
  /** Set if the client runs the tool. The answer is its result: a `respond` decision, or a `deny`. */
  client: Schema.optionalKey(Schema.Literal(true)),
  /** The canonical text of the tool and its arguments. An approval is valid for exactly these. */
  fingerprint: Schema.String,
  /** When the question expires, in milliseconds since the epoch. A later answer counts as a denial. */
  expiresAt: Schema.optionalKey(Schema.Finite),
  /** The names of those who may answer. Default: anybody. */
  approvers: Schema.optionalKey(Schema.Array(Schema.String)),
  /** How many different approvers have to approve. Default 1. */
  quorum: Schema.optionalKey(Schema.Finite),
  /** The kinds of decisions that are accepted. Default: all. */
  allowed: Schema.optionalKey(Schema.Array(Schema.Literals(["approve", "deny", "edit", "respond", "delegate"]))),
  /** What the tool is. If it is something else when the run is resumed, the question is asked again. */
  definition: Schema.optionalKey(ToolDefinition),
  /** How the tool differs from what was approved before. Present if an earlier approval no longer counts. */
  changed: Schema.optionalKey(Schema.Array(DefinitionChange)),
  /** The names of those who have approved so far. */
  approved: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What everybody who has approved so far wants remembered. Absent if one of them does not want that. */
  remember: Schema.optionalKey(Remember),
  /** Where the approval can be remembered: nowhere, or only in the session. Absent if that is not limited. */
  standing: Schema.optionalKey(Schema.Literals(["none", "session"])),
  /** A random text. It makes a signed decision valid for this question only. */
  nonce: Schema.optionalKey(Schema.String)
})

/** Who decided, and the signature. */
const signed = {
  /** The name of the approver. Required when the question limits who may answer or needs several approvals. */
  by: Schema.optionalKey(Schema.String),
  /** See `Approvals.sign`. */
  signature: Schema.optionalKey(Schema.String)
}

/** A person's answer to a question. @category models @since 0.1.0 */
export type Decision = Schema.Schema.Type<typeof Decision>
/** @category schemas @since 0.1.0 */
export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.Literal("approve"), remember: Schema.optionalKey(Remember), ...signed }),
  Schema.Struct({ type: Schema.Literal("deny"), reason: Schema.String, ...signed }),
  /** Runs the tool with these arguments instead. The schema, the policy and the hooks check them again. */
  Schema.Struct({ type: Schema.Literal("edit"), args: JsonValue, ...signed }),
  /** Does not run the tool; this is its output. */
  Schema.Struct({ type: Schema.Literal("respond"), output: JsonValue, ...signed }),
  /** Passes the question on to other approvers. */
  Schema.Struct({ type: Schema.Literal("delegate"), to: Schema.Array(Schema.String), ...signed })
])

/** Returns whether a value is a decision. @category guards @since 0.1.0 */
export const isDecision: (value: unknown) => value is Decision = Schema.is(Decision)

/**
 * Reads a decision once and returns a copy of its fields, or nothing if it is not a decision. Use the copy: an object
 * with getters could answer differently the next time.
 *
 * @category guards
 * @since 0.1.0
 */
export const readDecision = (value: unknown): Decision | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  // The fields of any kind of decision. A getter that throws is not a decision.
  const read = Result.try(() =>
    Object.fromEntries(decisionFields.flatMap((field) => {
      const found = copy((value as { readonly [field: string]: unknown })[field])
      return found === undefined ? [] : [[field, found]]
    }))
  )
  // What is not JSON, such as an instance of a class, was not copied.
  return Result.isSuccess(read) && whyNot(read.success) === undefined && isDecision(read.success)
    ? withTrimmedNames(read.success)
    : undefined
}

/** Spaces around the name of a person do not make another person. */
const withTrimmedNames = (decision: Decision): Decision => ({
  ...decision,
  ...(decision.by === undefined ? {} : { by: decision.by.trim() }),
  ...(decision.type === "delegate" ? { to: decision.to.map((name) => name.trim()) } : {})
})

const decisionFields = ["type", "by", "signature", "remember", "reason", "args", "output", "to"]

/** One tool call of the current step. @category models @since 0.1.0 */
export interface CallState extends Schema.Schema.Type<typeof CallState> {}
/** @category schemas @since 0.1.0 */
export const CallState = Schema.Struct({
  call: ToolCall,
  /** In a snapshot, `started` means that the outcome of the call is unknown. */
  status: Schema.Literals(["planned", "asked", "decided", "started", "done"]),
  ask: Schema.optionalKey(PendingAsk),
  /** The person's answer, if there is one. */
  decision: Schema.optionalKey(Decision),
  /** The hooks whose question about exactly this fingerprint was answered. They do not run again for it. */
  settled: Schema.optionalKey(Schema.Array(
    Schema.Struct({
      hook: Schema.String,
      fingerprint: Schema.String,
      /** Set when a person wrote these arguments: the hook runs again, and its question counts as answered. */
      edited: Schema.optionalKey(Schema.Boolean)
    })
  )),
  /** The arguments that the tool got, if they differ from the model's. */
  executedArgs: Schema.optionalKey(JsonValue),
  /** The hooks and the person who changed the arguments, in this order. */
  changedBy: Schema.optionalKey(Schema.Array(Schema.String)),
  result: Schema.optionalKey(ToolResult),
  /** The answer of the agent that took over with this call. If it stays, also what it did before. */
  transfer: Schema.optionalKey(Schema.Struct({ text: Schema.String, work: Schema.optionalKey(Schema.Array(Message)) })),
  /** The `RunState` of the sub-agent that works for this call. */
  child: Schema.optionalKey(JsonValue)
})

/** Variables by key. */
const Variables = Schema.Record(Schema.String, JsonValue)

/** The values of `ctx.state.durable`, by scope. `calls` has them by tool call id. @category schemas @since 0.1.0 */
export const DurableState = Schema.Struct({
  conversation: Variables,
  turn: Variables,
  calls: Schema.Record(Schema.String, Variables)
})

/** A text that a hook injected: the model reads it before its next answer. @category models @since 0.1.0 */
export interface Injection extends Schema.Schema.Type<typeof Injection> {}
/** @category schemas @since 0.1.0 */
export const Injection = Schema.Struct({
  hook: Schema.String,
  key: Schema.optionalKey(Schema.String),
  text: Schema.String,
  pinned: Schema.optionalKey(Schema.Boolean)
})

/** Why a turn stopped before its end, although no question stopped it. @category models @since 0.1.0 */
export type Stop = Schema.Schema.Type<typeof Stop>
/** @category schemas @since 0.1.0 */
export const Stop = Schema.Union([
  /** It reached a limit. */
  Schema.Struct({
    type: Schema.Literal("limit"),
    limit: Schema.String,
    used: Schema.Finite,
    max: Schema.Finite
  }),
  /** Its process stopped it, so that any process can continue it. */
  Schema.Struct({ type: Schema.Literal("parked") })
])

/** What a turn and its sub-agents have used of the limits. @category models @since 0.2.0 */
export interface LimitUse extends Schema.Schema.Type<typeof LimitUse> {}
/** @category schemas @since 0.2.0 */
export const LimitUse = Schema.Struct({
  steps: Schema.Finite,
  toolCalls: Schema.Finite,
  /** Of this agent only. */
  followUps: Schema.Finite,
  elapsedMs: Schema.Finite,
  failOpens: Schema.optionalKey(Schema.Finite)
})

/** The state of one turn. @category models @since 0.1.0 */
export interface RunState extends Schema.Schema.Type<typeof RunState> {}
/** @category schemas @since 0.1.0 */
export const RunState = Schema.Struct({
  version: Schema.Literal(version),
  sessionId: Schema.String,
  /** The number of commits that the session store has accepted, from 0. */
  revision: Schema.Finite,
  turnNumber: Schema.Finite,
  stepNumber: Schema.Finite,
  coreType: Schema.String,
  input: TurnInput,
  /**
   * `start`: the `preTurn` hooks have not run. `model`: the next step is an LLM call. `tools`: not all `calls` of this
   * step are done. `ended`: the turn is over.
   */
  phase: Schema.Literals(["start", "model", "tools", "ended"]),
  /**
   * Why the turn stopped before its end. Absent while it runs, after its end, if only questions stopped it, and if its
   * process ended in the middle of it.
   */
  stop: Schema.optionalKey(Stop),
  /** The conversation without the open step. It is always valid for a provider. */
  messages: Schema.Array(Message),
  /** The model's message whose tools are not all done. It is added to `messages` together with their results. */
  open: Schema.optionalKey(AssistantMessage),
  calls: Schema.Array(CallState),
  injections: Schema.Array(Injection),
  usage: Usage,
  /** Absent in a snapshot of an earlier release. */
  cost: Schema.optionalKey(Cost),
  counts: Schema.Struct({
    llmCalls: Schema.Finite,
    toolCalls: Schema.Finite,
    followUps: Schema.Finite,
    elapsedMs: Schema.Finite,
    /** How often a hook failed and the chain continued. Absent if none did. */
    failOpens: Schema.optionalKey(Schema.Finite)
  }),
  /**
   * What the turn and its sub-agents have used of the limits, since the turn started or was resumed after a limit.
   * Absent in a snapshot of an earlier release.
   */
  used: Schema.optionalKey(LimitUse),
  /** The values of `ctx.state`, by key. The whole tree of agents shares them, so a sub-agent has none of its own. */
  hookState: Variables,
  /** The values of `ctx.local`, by key. Absent if there are none. */
  local: Schema.optionalKey(Variables),
  durable: Schema.optionalKey(DurableState),
  /**
   * Where the conversation continues after a rotation: the id of this session and that of the next one. It counts only
   * if `from` is the id of this session, so a copy of the session does not have it.
   */
  movedTo: Schema.optionalKey(MovedTo),
  /** The number of the last event of the conversation. Absent if nobody has listened. */
  lastEvent: Schema.optionalKey(Schema.Finite),
  /** The signature of the state, if the agent has keys. */
  seal: Schema.optionalKey(Schema.String)
})

const decodeState = Schema.decodeUnknownEffect(RunState)
const encodeState = Schema.encodeSync(RunState)

/** Encodes a state as JSON text. @category snapshots @since 0.1.0 */
export const encode = (state: RunState): string => JSON.stringify(encodeState(state))

/**
 * Decodes a state from JSON text or from a parsed value, which is not changed. Fails with a `SnapshotError` that
 * describes the problem.
 *
 * @category snapshots
 * @since 0.1.0
 */
export const decode = Effect.fnUntraced(function*(snapshot: unknown): Effect.fn.Return<RunState, SnapshotError> {
  const value = typeof snapshot === "string" ? yield* parse(snapshot) : snapshot
  const found = typeof value === "object" && value !== null && "version" in value ? value.version : undefined
  if (typeof found === "number" && found > version) {
    return yield* new SnapshotError({
      problem: "newer-version",
      message:
        `snapshot is of version ${found}, this Belay reads up to version ${version}: resume it with a newer Belay`
    })
  }
  const long = yield* decodeInPieces(value, slack)
  const { messages, rest = value } = long ?? {}
  const tooDeep = whyNot(rest, "$", -slack)
  if (tooDeep !== undefined) {
    return yield* new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${tooDeep}` })
  }
  const state = yield* decodeTree(rest, "", false)
  return messages === undefined ? state : { ...state, messages }
})

/** Decodes the state of an agent and of its sub-agents, so that an error occurs before anything is resumed. */
const decodeTree = Effect.fnUntraced(function*(
  value: unknown,
  /** Where the state is in the snapshot, for messages. */
  place: string,
  ofSubAgent: boolean
): Effect.fn.Return<RunState, SnapshotError> {
  const state = yield* Effect.mapError(
    decodeState(migrate(value, ofSubAgent)),
    ({ message }) => new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${place}${message}` })
  )
  if (state.calls.every(({ child }) => child === undefined)) return state
  const calls: Array<CallState> = []
  for (const [index, call] of state.calls.entries()) {
    const inner = call.child === undefined
      ? undefined
      : yield* decodeTree(call.child, `${place}calls[${index}].child: `, true)
    // A `RunState` is JSON. The compiler cannot check that, because the interface has no index signature.
    calls.push(inner === undefined ? call : { ...call, child: inner as never })
  }
  return { ...state, calls }
})

/** Returns a state of an earlier version as one of this version. Any other value is returned as it is. */
const migrate = (value: unknown, ofSubAgent: boolean): unknown => {
  if (typeof value !== "object" || value === null || !("version" in value)) return value
  if (value.version !== 1 && value.version !== 2) return value
  const now = { revision: 0, ...value, version }
  // Up to version 2, each sub-agent had a state of its own.
  return ofSubAgent && "hookState" in value ? { ...now, hookState: {}, local: value.hookState } : now
}

/**
 * Lists the open questions of a state, including those of sub-agents at any depth.
 *
 * @category reading
 * @since 0.1.0
 */
export const pending = checked(
  "RunState.pending",
  ["state"],
  (state: Pick<RunState, "calls">): ReadonlyArray<PendingAsk> =>
    state.calls.flatMap((one) => {
      const { ask, call, status } = one
      if (status !== "asked") return []
      const child = childOf(one)
      if (child === undefined) return ask === undefined ? [] : [ask]
      return pending(child).map((inner) => ({ ...inner, callId: `${call.id}/${inner.callId}` }))
    })
)

/**
 * Returns the state of the sub-agent that works for a call, or nothing if there is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const childOf = checked(
  "RunState.childOf",
  ["state"],
  ({ child }: Pick<CallState, "child">): RunState | undefined =>
    // `decode` has decoded the states of sub-agents too.
    child as unknown as RunState | undefined
)

/** The levels of the snapshot itself, in addition to those of the JSON values in it. */
const slack = 64

const parse = (text: string): Effect.Effect<unknown, SnapshotError> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) => new SnapshotError({ problem: "not-json", message: `snapshot is not JSON: ${messageOf(error)}` })
  })
