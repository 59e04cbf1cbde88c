/** A model that answers at once, always the same. */
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as Effect from "effect/Effect"

export const answersAtOnce: LlmProvider = {
  name: "fake",
  complete: () =>
    Effect.succeed({
      model: "fake",
      text: "All is well.",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 10, outputTokens: 5 }
    })
}
