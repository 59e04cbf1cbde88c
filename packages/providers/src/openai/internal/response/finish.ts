/** Reads why a model stopped. Vendors have many words for it. */
import type { FinishReason } from "@belay/core/Turn"

/** How an answer ended. */
export interface Ending {
  readonly reason: FinishReason
  /** Set if the vendor says that there is no usable answer: the error as a body, which `classify` understands. */
  readonly failure?: object
}

/** Reads the finish reason of a vendor. */
export const readFinish = (finish: string | undefined): Ending => {
  if (finish === undefined) return { reason: "unknown" }
  const common = reasons.get(finish)
  if (common !== undefined) return { reason: common }
  const [word = "", detail] = finish.toLowerCase().split(/[:\s]+/)
  const failure = failures.get(word) ?? (overflow.test(word) ? "model_context_window_exceeded" : undefined)
  if (failure !== undefined) return { reason: "unknown", failure: stopped(finish, `${failure} ${detail ?? ""}`) }
  return { reason: reasons.get(word.replaceAll("-", "_")) ?? "unknown" }
}

/** The error for an answer that the filter of the vendor left empty. */
export const filtered = (finish: string): object => stopped(finish, "content_filter")

const stopped = (finish: string, code: string): object => ({
  error: { message: `the model stopped: ${finish}`, code: code.trim() }
})

/** A stop because the context of the model is full. */
const overflow = /^(?:max_)?(?:model_)?context_(?:window|length|size|limit)|^(?:exceed_context|prompt_too_long)/

/** Words for an answer that failed, and the code of the error. */
const failures: ReadonlyMap<string, string> = new Map([
  ["error", "error"],
  ["network_error", "network_error"],
  ["model_context_window_exceeded", "model_context_window_exceeded"],
  ["insufficient_system_resource", "insufficient_system_resource"],
  ["function_call_filter", "tool_use_failed"],
  ["malformed_function_call", "tool_use_failed"],
  ["unexpected_tool_call", "tool_use_failed"]
])

const words: Readonly<Record<Exclude<FinishReason, "unknown">, ReadonlyArray<string>>> = {
  stop: ["stop", "eos", "eos_token", "end_turn", "complete", "completed", "stop_sequence", "stop_token"],
  length: ["length", "max_tokens", "max_output_tokens", "model_length", "max_length"],
  "tool-calls": ["tool_calls", "tool_call", "tool_use", "function_call", "function_calls"],
  "content-filter": [
    "content_filter",
    "content_filtered",
    "safety",
    "sensitive",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "guardrail_intervened"
  ]
}

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  // The keys of the table are finish reasons.
  Object.entries(words).flatMap(([reason, names]) => names.map((name) => [name, reason as FinishReason] as const))
)
