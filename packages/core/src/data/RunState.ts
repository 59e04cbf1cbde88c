/**
 * Everything that a turn needs to continue, as plain, versioned JSON: one process suspends it, another finishes it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SnapshotError } from "./AgentError.ts"
import { whyNot } from "./Json.ts"
import { AssistantMessage, JsonValue, Message, ToolCall } from "./Message.ts"
import { ToolResult } from "./Tool.ts"
import { TurnInput } from "./Turn.ts"
import { Usage } from "./Usage.ts"

/**
 * The version this release writes. Older versions are migrated when read; newer ones are refused.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = 2

/** A question to a person about one tool call. @category models @since 0.1.0 */
export interface PendingAsk extends Schema.Schema.Type<typeof PendingAsk> {}
/** @category schemas @since 0.1.0 */
export const PendingAsk = Schema.Struct({
  /**
   * The tool call this is about; of a sub-agent, the path to it: ids of the calls that delegate, and its own, joined by
   * `/`.
   */
  callId: Schema.String,
  /** The agent that wants to make the call; absent when it is the one the host started. */
  agent: Schema.optionalKey(Schema.String),
  tool: Schema.String,
  /** The arguments that will run if it is approved. */
  args: JsonValue,
  /** The hook that asks, or `policy`. */
  by: Schema.String,
  /** The hook wrote these arguments: once approved, they are guarded like any others. */
  proposed: Schema.optionalKey(Schema.Literal(true)),
  reason: Schema.String,
  /** What the hook wants shown beside it. */
  details: Schema.optionalKey(JsonValue),
  /** Canonical text of tool and arguments: an approval counts for exactly this. */
  fingerprint: Schema.String,
  /** Milliseconds since the epoch after which an answer comes too late and counts as a denial. */
  expiresAt: Schema.optionalKey(Schema.Finite),
  /** Who may answer, by name; absent means anybody. */
  approvers: Schema.optionalKey(Schema.Array(Schema.String)),
  /** How many different approvers have to approve. Default 1. */
  quorum: Schema.optionalKey(Schema.Finite),
  /** What may be answered; absent means anything. */
  allowed: Schema.optionalKey(Schema.Array(Schema.Literals(["approve", "deny", "edit", "respond", "delegate"]))),
  /** Who has approved so far. */
  approved: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Random text that makes a signed decision count for this question alone. */
  nonce: Schema.optionalKey(Schema.String)
})

/** Who decides, and the signature. */
const signed = {
  /** The approver's name, where it matters who answers. */
  by: Schema.optionalKey(Schema.String),
  /** See `Approvals.sign`. */
  signature: Schema.optionalKey(Schema.String)
}

/**
 * A rule that answers later questions of the same hook: about the tool, or about the tool with exactly these arguments.
 *
 * @category models
 * @since 0.1.0
 */
export type Remember = Schema.Schema.Type<typeof Remember>
/** @category schemas @since 0.1.0 */
export const Remember = Schema.Struct({
  what: Schema.Literals(["tool", "arguments"]),
  /** `session`: for this conversation. `project`: for all agents that share the store of rules. */
  scope: Schema.Literals(["session", "project"])
})

/** A person's answer to a question. @category models @since 0.1.0 */
export type Decision = Schema.Schema.Type<typeof Decision>
/** @category schemas @since 0.1.0 */
export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.Literal("approve"), remember: Schema.optionalKey(Remember), ...signed }),
  Schema.Struct({ type: Schema.Literal("deny"), reason: Schema.String, ...signed }),
  /** Run it with these arguments instead; they are validated and guarded again. */
  Schema.Struct({ type: Schema.Literal("edit"), args: JsonValue, ...signed }),
  /** Do not run it; this is its output. */
  Schema.Struct({ type: Schema.Literal("respond"), output: JsonValue, ...signed }),
  /** Somebody else shall answer. */
  Schema.Struct({ type: Schema.Literal("delegate"), to: Schema.Array(Schema.String), ...signed })
])

/** Whether a value is a decision. @category guards @since 0.1.0 */
export const isDecision: (value: unknown) => value is Decision = Schema.is(Decision)

/** One tool call of the current step. @category models @since 0.1.0 */
export interface CallState extends Schema.Schema.Type<typeof CallState> {}
/** @category schemas @since 0.1.0 */
export const CallState = Schema.Struct({
  call: ToolCall,
  /** `started` in a snapshot means: its outcome is unknown. */
  status: Schema.Literals(["planned", "asked", "decided", "started", "done"]),
  ask: Schema.optionalKey(PendingAsk),
  /** The person's answer, once there is one. */
  decision: Schema.optionalKey(Decision),
  /** Hooks whose question about exactly this fingerprint was answered: they are not asked again. */
  settled: Schema.optionalKey(Schema.Array(
    Schema.Struct({
      hook: Schema.String,
      fingerprint: Schema.String,
      /** A person wrote these arguments: the hook is asked again, but a question of it counts as answered. */
      edited: Schema.optionalKey(Schema.Boolean)
    })
  )),
  /** The arguments that ran, where they differ from the model's own. */
  executedArgs: Schema.optionalKey(JsonValue),
  result: Schema.optionalKey(ToolResult),
  /** The state of the sub-agent that works for this call: a `RunState`. */
  child: Schema.optionalKey(JsonValue)
})

/** Variables by key. */
const Variables = Schema.Record(Schema.String, JsonValue)

/** What `ctx.state.durable` holds, by scope; `calls` by tool call id. @category schemas @since 0.1.0 */
export const DurableState = Schema.Struct({
  conversation: Variables,
  turn: Variables,
  calls: Schema.Record(Schema.String, Variables)
})

/** Text a hook wants the model to read before its next answer. @category models @since 0.1.0 */
export interface Injection extends Schema.Schema.Type<typeof Injection> {}
/** @category schemas @since 0.1.0 */
export const Injection = Schema.Struct({
  hook: Schema.String,
  key: Schema.optionalKey(Schema.String),
  text: Schema.String,
  pinned: Schema.optionalKey(Schema.Boolean)
})

/** The state of one turn. @category models @since 0.1.0 */
export interface RunState extends Schema.Schema.Type<typeof RunState> {}
/** @category schemas @since 0.1.0 */
export const RunState = Schema.Struct({
  version: Schema.Literal(version),
  sessionId: Schema.String,
  /** Counts the changes that the session's store has taken, from 0. */
  revision: Schema.Finite,
  turnNumber: Schema.Finite,
  stepNumber: Schema.Finite,
  coreType: Schema.String,
  input: TurnInput,
  /**
   * `start`: the `preTurn` hooks have not run. `model`: the next act is an LLM call. `tools`: `calls` of this step are
   * not all done. `ended`: the turn is over.
   */
  phase: Schema.Literals(["start", "model", "tools", "ended"]),
  /** The conversation without the open step; always valid for a provider. */
  messages: Schema.Array(Message),
  /** The model's message whose tools are not all done; it joins `messages` together with their results. */
  open: Schema.optionalKey(AssistantMessage),
  calls: Schema.Array(CallState),
  injections: Schema.Array(Injection),
  usage: Usage,
  counts: Schema.Struct({
    llmCalls: Schema.Finite,
    toolCalls: Schema.Finite,
    followUps: Schema.Finite,
    elapsedMs: Schema.Finite
  }),
  /** The session's `HookState`, by key. */
  hookState: Variables,
  durable: Schema.optionalKey(DurableState),
  /** A signature of the state, where the agent has keys. */
  seal: Schema.optionalKey(Schema.String)
})

const decodeState = Schema.decodeUnknownEffect(RunState)
const encodeState = Schema.encodeSync(RunState)

/** Encodes a state as JSON text. @category snapshots @since 0.1.0 */
export const encode = (state: RunState): string => JSON.stringify(encodeState(state))

/**
 * Reads a state back from JSON text (or an already parsed value).
 * Fails with `SnapshotError` that says what is wrong; the text is never changed.
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
  const tooDeep = whyNot(value, "$", -slack)
  if (tooDeep !== undefined) {
    return yield* new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${tooDeep}` })
  }
  // Where a version was found, the value is an object.
  const state = yield* decodeState(found === 1 ? { ...(value as object), version, revision: 0 } : value).pipe(
    Effect.mapError((issue) =>
      new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${issue.message}` })
    )
  )
  // What is inside is read now: a sub-agent that cannot be resumed is no surprise for later.
  for (const { child } of state.calls) if (child !== undefined) yield* decode(child)
  return state
})

/**
 * Lists the open questions of a state, those of sub-agents at any depth among them.
 *
 * @category reading
 * @since 0.1.0
 */
export const pending = (state: Pick<RunState, "calls">): ReadonlyArray<PendingAsk> =>
  state.calls.flatMap((one) => {
    const { ask, call, status } = one
    if (status !== "asked") return []
    const child = childOf(one)
    if (child === undefined) return ask === undefined ? [] : [ask]
    return pending(child).map((inner) => ({ ...inner, callId: `${call.id}/${inner.callId}` }))
  })

/**
 * Reads the state of the sub-agent that works for a call; nothing when there is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const childOf = ({ child }: Pick<CallState, "child">): RunState | undefined =>
  // `decode` has decoded the states of sub-agents too.
  child as unknown as RunState | undefined

/** Levels of a snapshot itself, above the JSON values it holds. */
const slack = 64

const parse = (text: string): Effect.Effect<unknown, SnapshotError> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) =>
      new SnapshotError({
        problem: "not-json",
        message: `snapshot is not JSON: ${error instanceof Error ? error.message : String(error)}`
      })
  })
