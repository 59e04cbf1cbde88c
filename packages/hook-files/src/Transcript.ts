/**
 * What was said in a session, a line of JSON a message, for scripts that read it.
 *
 * @since 0.1.0
 */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { FinishReason } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"

/** One message. @category models @since 0.1.0 */
export type Entry =
  /** `isMeta`: said by a hook, not by a person. */
  | { readonly role: "user"; readonly content: string; readonly isMeta?: true }
  | {
    readonly role: "assistant"
    readonly content: string
    readonly toolCalls: ReadonlyArray<ToolCall>
    readonly model?: string
    readonly usage?: Usage
    readonly finishReason?: FinishReason
  }
  | { readonly role: "tool"; readonly toolCallId: string; readonly content: Json; readonly isError: boolean }

/** @category models @since 0.1.0 */
export interface Transcript {
  /** The file of a session. */
  readonly path: (sessionId: string) => string
  /**
   * Adds a message; `agent` is the sub-agent whose it is. Only the owner may read the file. What cannot be written is
   * left out.
   */
  readonly add: (sessionId: string, entry: Entry, cwd: string, agent?: string) => void
}

const maxSessions = 10_000

/**
 * Writes transcripts in the form that Claude Code has, a file a session in one folder.
 *
 * @example
 * ```ts
 * import * as Transcript from "@belay/hook-files/Transcript"
 *
 * const transcript = Transcript.make("/srv/ada/transcripts")
 * transcript.add("session-1", { role: "user", content: "hello" }, "/srv/app")
 * console.log(transcript.path("session-1")) // "/srv/ada/transcripts/session-1.jsonl"
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (folder: string): Transcript => {
  const last = new Map<string, string>()
  const path = (sessionId: string) => join(folder, `${sessionId.replaceAll(/[^\w-]/g, "_").slice(0, 120)}.jsonl`)
  return {
    path,
    add: (sessionId, entry, cwd, agent) =>
      void Result.try(() => {
        const uuid = randomUUID()
        const place = {
          uuid,
          parentUuid: last.get(sessionId) ?? null,
          isSidechain: agent !== undefined,
          ...(agent === undefined ? {} : { agentId: agent }),
          sessionId,
          cwd,
          timestamp: new Date().toISOString()
        }
        if (last.size === maxSessions) last.clear()
        last.set(sessionId, uuid)
        const text = `${JSON.stringify({ ...line(entry), ...place })}\n`
        const append = () => appendFileSync(path(sessionId), text, { mode: 0o600 })
        if (Result.isSuccess(Result.try(append))) return
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        append()
      })
  }
}

const line = (entry: Entry): JsonObject => {
  if (entry.role === "user") {
    return {
      type: "user",
      message: { role: "user", content: entry.content },
      ...(entry.isMeta === true ? { isMeta: true } : {})
    }
  }
  if (entry.role === "tool") {
    const { content, isError, toolCallId } = entry
    return {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: toolCallId, content, is_error: isError }] }
    }
  }
  const { finishReason, model, usage } = entry
  // Whoever counts tokens counts each answer once, by its id.
  const id = randomUUID()
  const calls = entry.toolCalls.map(({ args, id, name }) => ({ type: "tool_use", id, name, input: args }))
  const said = entry.content === "" ? [] : [{ type: "text", text: entry.content }]
  const spent = usage === undefined ? {} : {
    usage: {
      input_tokens: usage.inputTokens - (usage.cachedTokens ?? 0),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: usage.cachedTokens ?? 0,
      output_tokens: usage.outputTokens
    }
  }
  return {
    type: "assistant",
    requestId: `req_${id}`,
    message: {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      ...(model === undefined ? {} : { model }),
      content: [...said, ...calls],
      stop_reason: calls.length > 0 ? "tool_use" : finishReason === "length" ? "max_tokens" : "end_turn",
      ...spent
    }
  }
}
