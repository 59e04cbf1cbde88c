/**
 * Everything a turn needs to go on, as plain versioned JSON: what suspends in one process is finished in another.
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

/** The version this release writes. Older versions are migrated when read; newer ones are refused. @category constants @since 0.1.0 */
export const version = 1

/** A question to a person about one tool call. @category models @since 0.1.0 */
export interface PendingAsk extends Schema.Schema.Type<typeof PendingAsk> {}
/** @category schemas @since 0.1.0 */
export const PendingAsk = Schema.Struct({
  /** The tool call this is about. */
  callId: Schema.String,
  tool: Schema.String,
  /** The arguments that will run if it is approved. */
  args: JsonValue,
  /** The hook that asks, or `policy`. */
  by: Schema.String,
  reason: Schema.String,
  /** What the hook wants shown beside it. */
  details: Schema.optionalKey(JsonValue),
  /** Canonical text of tool and arguments: an approval counts for exactly this. */
  fingerprint: Schema.String
})

/** What a person says to an ask. @category models @since 0.1.0 */
export type Decision = Schema.Schema.Type<typeof Decision>
/** @category schemas @since 0.1.0 */
export const Decision = Schema.Union([
  Schema.Struct({ type: Schema.Literal("approve") }),
  Schema.Struct({ type: Schema.Literal("deny"), reason: Schema.String }),
  /** Run it with these arguments instead; they are validated and guarded again. */
  Schema.Struct({ type: Schema.Literal("edit"), args: JsonValue }),
  /** Do not run it; this is its output. */
  Schema.Struct({ type: Schema.Literal("respond"), output: JsonValue })
])

/** Whether a value is a decision. @category guards @since 0.1.0 */
export const isDecision: (value: unknown) => value is Decision = Schema.is(Decision)

/** One tool call of the current step and how far it has come. @category models @since 0.1.0 */
export interface CallState extends Schema.Schema.Type<typeof CallState> {}
/** @category schemas @since 0.1.0 */
export const CallState = Schema.Struct({
  call: ToolCall,
  /** `started` in a snapshot means: its outcome is unknown. */
  status: Schema.Literals(["planned", "asked", "decided", "started", "done"]),
  ask: Schema.optionalKey(PendingAsk),
  /** What the person said, once said. */
  decision: Schema.optionalKey(Decision),
  /** Hooks whose question about exactly this fingerprint was answered: they are not asked again. */
  settled: Schema.optionalKey(Schema.Array(Schema.Struct({ hook: Schema.String, fingerprint: Schema.String }))),
  /** The arguments that ran, where they differ from the model's own. */
  executedArgs: Schema.optionalKey(JsonValue),
  result: Schema.optionalKey(ToolResult)
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
  version: Schema.Literal(1),
  sessionId: Schema.String,
  turnNumber: Schema.Finite,
  stepNumber: Schema.Finite,
  coreType: Schema.String,
  input: TurnInput,
  /** `model`: the next act is an LLM call. `tools`: `calls` of this step are not all done. `ended`: the turn is over. */
  phase: Schema.Literals(["model", "tools", "ended"]),
  /** The finished part of the conversation; always valid for a provider. */
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
  hookState: Schema.Record(Schema.String, JsonValue)
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
      message: `snapshot is of version ${found}, this Belay reads up to version ${version}: resume it with a newer Belay`
    })
  }
  const tooDeep = whyNot(value, "$", -slack)
  if (tooDeep !== undefined) return yield* new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${tooDeep}` })
  return yield* decodeState(value).pipe(
    Effect.mapError((issue) => new SnapshotError({ problem: "not-a-snapshot", message: `not a run snapshot: ${issue.message}` }))
  )
})

/** Levels of a snapshot itself, above the JSON values it holds. */
const slack = 16

const parse = (text: string): Effect.Effect<unknown, SnapshotError> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) =>
      new SnapshotError({ problem: "not-json", message: `snapshot is not JSON: ${error instanceof Error ? error.message : String(error)}` })
  })
