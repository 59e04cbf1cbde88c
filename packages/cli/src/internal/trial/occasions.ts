/** What an agent hands to its hooks on each occasion, from what somebody wants to try. */
import type { HookPointName } from "@belay/core/HookPoint"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Occasion } from "../guide/guide.ts"

/** What is tried. */
export interface Facts {
  readonly event: string
  readonly occasion: Occasion
  readonly tool?: string
  readonly input: Json
  readonly output?: Json
  readonly error?: string
  readonly prompt?: string
  /** Fields as scripts know them. */
  readonly payload: JsonObject
}

/** Where and with what hooks are called. */
export interface Plan {
  readonly point: HookPointName
  readonly event: object
  readonly depth: number
}

/** Whether the occasion is about one call of a tool. */
export const isAboutTool = (occasion: Occasion): boolean =>
  ["tool-call", "permission", "denied", "tool-result", "tool-failure"].includes(occasion)

/** The first of some fields that the payload has. */
export const fieldOf = (payload: JsonObject, ...keys: ReadonlyArray<string>): Json | undefined =>
  keys.flatMap((key) => Object.hasOwn(payload, key) ? [payload[key]!] : [])[0]

export const textOf = (payload: JsonObject, ...keys: ReadonlyArray<string>): string | undefined => {
  const value = fieldOf(payload, ...keys)
  return typeof value === "string" ? value : undefined
}

export const planOf = (facts: Facts): Plan => {
  const { error = "it failed", event, input, occasion, output = "done", payload, prompt = "hello", tool = "Bash" } = facts
  const call = { id: "call-1", name: tool, args: input }
  const at = (point: HookPointName, given: object, depth = 0): Plan => ({ point, event: given, depth })
  const trigger = textOf(payload, "trigger") === "manual" ? "manual" : "threshold"
  const last = textOf(payload, "last_assistant_message", "prompt_response") ?? "hi"
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
