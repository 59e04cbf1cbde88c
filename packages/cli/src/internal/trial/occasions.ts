/** Creates the event of an agent from the flags. */
import type { HookPointName } from "@belay/core/HookPoint"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Occasion } from "@belay/hook-files/Guide"

/** What to try. */
export interface Facts {
  readonly event: string
  readonly occasion: Occasion
  readonly tool?: string
  readonly input: Json
  readonly output?: Json
  readonly error?: string
  readonly prompt?: string
  /** Fields in the format of the scripts. */
  readonly payload: JsonObject
}

/** The point and the event for the hooks. */
export interface Plan {
  readonly point: HookPointName
  readonly event: object
  readonly depth: number
}

/** Whether the event is about one tool call. */
export const isAboutTool = (occasion: Occasion): boolean =>
  ["tool-call", "permission", "denied", "tool-result", "tool-failure"].includes(occasion)

/** Returns the first of these fields that the payload has. */
export const fieldOf = (payload: JsonObject, ...keys: ReadonlyArray<string>): Json | undefined =>
  keys.flatMap((key) => Object.hasOwn(payload, key) ? [payload[key]!] : [])[0]

export const textOf = (payload: JsonObject, ...keys: ReadonlyArray<string>): string | undefined => {
  const value = fieldOf(payload, ...keys)
  return typeof value === "string" ? value : undefined
}

/** Default values for the tool and the messages. */
export const withDefaults = (
  { error = "it failed", input, output = "done", prompt = "hello", tool = "Bash" }: Facts
) => ({
  call: { id: "call-1", name: tool, args: input },
  error,
  output,
  prompt
})

/** The last answer of the agent. */
export const lastOf = ({ output, payload, tool }: Facts): string =>
  textOf(payload, "last_assistant_message", "prompt_response") ??
    (tool === undefined && typeof output === "string" ? output : "hi")

const callFields = ["tool_name", "toolName", "tool_input", "toolArgs"]
const fieldsOfOccasion: { readonly [O in Occasion]?: ReadonlyArray<string> } = {
  "tool-call": callFields,
  permission: callFields,
  denied: callFields,
  "tool-result": [...callFields, "tool_response", "tool_output", "toolResult"],
  "tool-failure": [...callFields, "error"],
  prompt: ["prompt", "message"],
  "subagent-start": ["prompt", "message"]
}

/**
 * Returns the fields of the payload that replace fields of the input. The other fields make the event, which each
 * system writes in its own format.
 */
export const overOf = ({ occasion, payload }: Facts): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => fieldsOfOccasion[occasion]?.includes(key) !== true))

export const planOf = (facts: Facts): Plan => {
  const { event, occasion, payload } = facts
  const { call, error, output, prompt } = withDefaults(facts)
  const at = (point: HookPointName, given: object, depth = 0): Plan => ({ point, event: given, depth })
  const trigger = textOf(payload, "trigger") === "manual" ? "manual" : "threshold"
  const last = lastOf(facts)
  const followUps = fieldOf(payload, "stop_hook_active") === true ? 1 : 0
  switch (occasion) {
    case "session-start":
      return textOf(payload, "source") === "compact"
        ? at("postCompaction", { trigger, summary: "" })
        : at("onSessionStart", { source: textOf(payload, "source") === "resume" ? "resume" : "startup" })
    case "session-end":
      return at("onSessionEnd", { reason: textOf(payload, "reason") === "clear" ? "rotate" : "done" })
    case "prompt":
      return at("preTurn", { message: prompt })
    case "subagent-start":
      return at("preTurn", { message: prompt }, 1)
    case "model-request":
      return at("preLlmCall", { messages: [{ role: "user", content: prompt }] })
    case "model-response":
      return at("postLlmCall", { response: { text: last }, request: { messages: [{ role: "user", content: prompt }] } })
    case "model-failure":
      return at("onLlmError", {})
    case "turn-failure":
      return at("onTurnError", { input: { message: prompt } })
    case "turn-end":
      return at("postTurn", { input: { message: prompt }, output: { text: last } })
    case "tool-call":
      return at("preToolCall", call)
    case "permission":
      return at("onPermission", { call })
    case "denied":
      return at("onToolDenied", { call, reason: textOf(payload, "reason") ?? "not allowed" })
    case "tool-result":
      return at("postToolCall", { call, result: { ok: true, output } })
    case "tool-failure":
      return at("postToolCall", { call, result: { ok: false, error } })
    case "step":
      return at("postStep", {
        messages: [
          { role: "user", content: prompt },
          { role: "assistant", content: "", toolCalls: [call] },
          { role: "tool", toolCallId: call.id, content: typeof output === "string" ? output : JSON.stringify(output) }
        ]
      })
    case "stop":
      return at("preStop", { text: last, followUps })
    case "subagent-stop":
      return at("preStop", { text: last, followUps }, 1)
    case "compact":
      return at("preCompaction", { trigger })
    case "compacted":
      return at("postCompaction", { trigger, summary: textOf(payload, "compact_summary") ?? "they said hello" })
    case "budget":
      return at("onBudget", { level: "exceeded" })
    case "signal":
      return at("onSignal", { name: event, payload, blockable: true })
  }
}
