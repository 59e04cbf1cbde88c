/**
 * The names of spans, attributes and metrics. All names of the GenAI conventions are here, because they still change:
 * none of them is stable yet.
 *
 * Source: `semantic-conventions-genai`, pages client inference, agent spans and metrics, as of November 2026.
 * Names that begin with `belay.` are not in the conventions.
 *
 * @since 0.1.0
 */

/** The instrumentation scope of spans and metrics. @category names @since 0.1.0 */
export const scope = { name: "@belay/observe", version: "0.1.0" } as const

/**
 * The values of `gen_ai.operation.name`. A span has this name, followed by its agent, model or tool. @category names
 * @since 0.1.0
 */
export const operation = { agent: "invoke_agent", model: "chat", tool: "execute_tool" } as const

/**
 * The name of the span of an entry of a hook file, followed by the event at which it ran. @category names
 * @since 0.2.0
 */
export const hookSpan = "run_hook"

/** Attributes of spans and metrics. @category names @since 0.1.0 */
export const attribute = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  agentName: "gen_ai.agent.name",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestTopP: "gen_ai.request.top_p",
  requestSeed: "gen_ai.request.seed",
  requestStop: "gen_ai.request.stop_sequences",
  requestReasoning: "gen_ai.request.reasoning.level",
  outputType: "gen_ai.output.type",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  instructions: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolName: "gen_ai.tool.name",
  toolDescription: "gen_ai.tool.description",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  cost: "belay.usage.cost_usd",
  session: "belay.session.id",
  turn: "belay.turn.number",
  step: "belay.step.number",
  status: "belay.turn.status",
  attempt: "belay.attempt",
  hook: "belay.hook.name",
  point: "belay.hook.point",
  answer: "belay.hook.answer",
  reason: "belay.hook.reason",
  before: "belay.hook.before",
  after: "belay.hook.after",
  hookDuration: "belay.hook.duration_ms",
  hookEvent: "belay.hook.event",
  hookFile: "belay.hook.file",
  hookKey: "belay.hook.key",
  hookType: "belay.hook.type",
  hookOutcome: "belay.hook.outcome",
  hookExitCode: "belay.hook.exit_code",
  hookCommand: "belay.hook.command",
  hookStderr: "belay.hook.stderr",
  shadow: "belay.hook.shadow",
  failOpens: "belay.hook.fail_opens",
  callId: "belay.tool.call.id",
  decision: "belay.decision",
  by: "belay.decided_by",
  limit: "belay.limit",
  agentPath: "belay.agent.path",
  resumed: "belay.turn.resumed",
  removed: "belay.messages.removed",
  rotationStep: "belay.rotation.step",
  link: "belay.link"
} as const

/** Events of spans. @category names @since 0.1.0 */
export const event = {
  hookDecision: "belay.hook.decision",
  hookFailure: "belay.hook.failure",
  denied: "belay.tool.denied",
  asked: "belay.approval.asked",
  decided: "belay.approval.decided",
  compacted: "belay.compaction",
  rotated: "belay.rotation",
  limitReached: "belay.limit.reached"
} as const

/** A metric. Histograms have the buckets that the conventions recommend. @category models @since 0.1.0 */
export interface Instrument {
  readonly name: string
  readonly kind: "histogram" | "counter"
  readonly unit: string
  readonly description: string
  readonly buckets?: ReadonlyArray<number>
}

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

const duration = (name: string, description: string): Instrument => ({
  name,
  kind: "histogram",
  unit: "s",
  description,
  buckets: seconds
})

const counter = (name: string, unit: string, description: string): Instrument => ({
  name,
  kind: "counter",
  unit,
  description
})

const usage = "gen_ai.client.inference.usage"

/** The metrics. @category names @since 0.1.0 */
export const metric = {
  modelDuration: duration("gen_ai.client.inference.duration", "How long model calls take"),
  timeToFirstChunk: duration(
    "gen_ai.client.inference.time_to_first_chunk",
    "How long the first chunk of a streamed answer takes"
  ),
  inputTokens: counter(`${usage}.input_tokens`, "{token}", "Tokens that models have read"),
  outputTokens: counter(`${usage}.output_tokens`, "{token}", "Tokens that models have written"),
  cacheReadTokens: counter(`${usage}.cache_read.input_tokens`, "{token}", "Input tokens that came from a cache"),
  cacheWriteTokens: counter(`${usage}.cache_write.input_tokens`, "{token}", "Input tokens that went into a cache"),
  reasoningTokens: counter(`${usage}.reasoning.output_tokens`, "{token}", "Output tokens that were reasoning"),
  agentDuration: duration("gen_ai.invoke_agent.duration", "How long the turns of agents take"),
  toolDuration: duration("gen_ai.execute_tool.duration", "How long tools take"),
  cost: counter("belay.usage.cost", "{USD}", "What model calls have cost"),
  hookDecisions: counter("belay.hook.decisions", "{decision}", "Decisions of hooks that changed or stopped something")
} as const
