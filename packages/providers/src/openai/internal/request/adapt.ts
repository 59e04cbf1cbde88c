/** Learns from an error answer which field an endpoint does not accept. */
import type { InvalidRequest } from "@belay/core/ProviderError"
import type { Compat } from "./compat.ts"

/**
 * Returns the differences of the endpoint with what the error says about them, or nothing if the error is about
 * something else. Only fields that are hints can be left out; a field that decides about the answer cannot.
 */
export const adapt = (compat: Compat, error: InvalidRequest): Compat | undefined => {
  const text = `${error.param ?? ""} ${error.message} ${error.body ?? ""}`
  if (!refusal.test(text)) return undefined
  for (const [pattern, change] of lessons) {
    if (!pattern.test(error.param ?? "") && !pattern.test(error.message)) continue
    const learned = { ...compat, ...change(compat, text) }
    if (Object.keys(learned).some((key) => Reflect.get(learned, key) !== Reflect.get(compat, key))) return learned
  }
  return undefined
}

const refusal = new RegExp(
  "unsupported|not supported|does not support|unknown|unrecognized|unexpected|not permitted|" +
    "not allowed|extra inputs|unable to|invalid (?:parameter|argument|field)|only the default",
  "i"
)

type Lesson = readonly [pattern: RegExp, change: (compat: Compat, text: string) => Partial<Compat>]

const lessons: ReadonlyArray<Lesson> = [
  [/stream_options|include_usage/, () => ({ usageInStream: false })],
  [
    /max_(?:completion_)?tokens/,
    ({ maxTokensField }) => ({
      maxTokensField: maxTokensField === "max_tokens" ? "max_completion_tokens" : "max_tokens"
    })
  ],
  [/\b(?:temperature|top_p)\b/, () => ({ sampling: false })],
  [/parallel_tool_calls/, () => ({ parallelToolCalls: false })],
  [/\bseed\b/, () => ({ seed: false })],
  [/encrypted_content/, () => ({ encryptedReasoning: false })],
  [/prompt_cache|cache_control/, () => ({ promptCache: "automatic" })],
  [/\bmetadata\b/, () => ({ metadata: false })],
  [/reasoning|thinking/, () => ({ reasoning: "none" })],
  [/\bdeveloper\b/, () => ({ systemRole: "system" })],
  [/tool_choice/, () => ({ toolChoiceRequired: false, toolChoiceInWords: true })]
]
