/** Events as the runtime would build them. Fake data only. */
import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import type { LlmRequest, LlmResponse, PostLlmCallEvent } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import type { PreToolCallEvent } from "@belay/core/Tool"
import type { Usage } from "@belay/core/Usage"

export const request = (model?: string): LlmRequest => ({
  ...(model === undefined ? {} : { model }),
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  parameters: {}
})

export const answer = (
  response: Partial<LlmResponse> = {},
  event: Partial<PostLlmCallEvent> = {}
): PostLlmCallEvent => ({
  request: request(),
  response: { model: "model-1", text: "hi", toolCalls: [], finishReason: "stop", ...response },
  provider: "fake",
  attempt: 1,
  executed: true,
  ...event
})

export const spent = (inputTokens: number, outputTokens: number, more: Partial<Usage> = {}): PostLlmCallEvent =>
  answer({ usage: { inputTokens, outputTokens, ...more } })

export const call = (name: string, args: Json = {}, id = `call-${name}`): PreToolCallEvent => ({
  id,
  name,
  args,
  tool: { name, description: `The tool ${name}.`, inputSchema: { type: "object" } },
  grant: { sandbox: "none" }
})

export const overloaded = new ProviderError.Overloaded({ provider: "one", message: "out of capacity" })

export const failed = (failure: Partial<OnLlmErrorEvent> = {}): OnLlmErrorEvent => ({
  error: overloaded,
  attempt: 1,
  provider: "one",
  providers: ["one", "two", "three"],
  request: request(),
  decision: { type: "fail" },
  ...failure
})

/** A conversation that nothing is known of. */
export const standing = {
  messages: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  budget: { usedTokens: 0, windowTokens: 0 }
}
