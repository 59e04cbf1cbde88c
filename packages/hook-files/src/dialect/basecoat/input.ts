/**
 * Builds the fields that Base Coat hooks read about tool calls and messages, and applies the changes of hooks to them.
 */
import type { Json, JsonObject } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import { byLength } from "@belay/core/Tokenizer"
import type { ToolResult } from "@belay/core/Tool"
import * as Schema from "effect/Schema"
import { isFields } from "../../internal/fields.ts"
import type { Envelope, Tool } from "./events.ts"

export const decodeHint = Schema.decodeUnknownOption(Schema.Struct({
  keepRecent: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  instructions: Schema.optionalKey(Schema.String),
  anchors: Schema.optionalKey(Schema.Array(Schema.String))
}))

/** Writes the changes of a hook into the envelope that the next hook reads. */
export const place = (
  envelope: Envelope,
  { input, output }: { readonly input?: Json; readonly output?: Json }
): Envelope => {
  const { tool } = envelope
  if (tool === undefined || (input === undefined && output === undefined)) return envelope
  return {
    ...envelope,
    tool: {
      ...tool,
      ...(input === undefined ? {} : { input }),
      ...(output === undefined ? {} : tool.success === false ? { error: errorTextOf(output) } : { output })
    }
  }
}

export const toolOf = (name: string, callId: string, input: Json, durationMs: number, result: ToolResult): Tool => ({
  name,
  callId,
  input,
  success: result.ok,
  durationMs,
  exitStatus: exitStatusOf(result),
  tokenCost: tokensOf(input) + tokensOf(result.ok ? result.output : result.error),
  ...(result.ok ? { output: result.output } : { error: result.error })
})

const tokensOf = (value: Json): number => byLength.count(typeof value === "string" ? value : JSON.stringify(value))

/** A command that ran has the exit code in its result. For other tools it is 0 after success and 1 after a failure. */
const exitStatusOf = (result: ToolResult): number => {
  const code = result.ok && isFields(result.output) ? result.output["exitCode"] : undefined
  return Number.isInteger(code) ? code as number : result.ok ? 0 : 1
}

/** Replaces the output of a result. If the call failed, the new output becomes the error message. */
export const changed = (result: ToolResult, output: Json | undefined): ToolResult =>
  output === undefined ? result : result.ok ? { ok: true, output } : { ok: false, error: errorTextOf(output) }

const errorTextOf = (output: Json): string => typeof output === "string" ? output : JSON.stringify(output)

export const plain = (message: Message): JsonObject => ({
  role: message.role,
  content: text(message),
  ...(message.role === "assistant" && message.toolCalls !== undefined
    ? { toolCalls: message.toolCalls.map(({ args, name }) => ({ name, args })) }
    : {})
})

export const sum = (metadata: ReadonlyArray<JsonObject>, key: string): number =>
  metadata.reduce((total, one) => {
    const value = one[key]
    return total + (typeof value === "number" ? value : 0)
  }, 0)
