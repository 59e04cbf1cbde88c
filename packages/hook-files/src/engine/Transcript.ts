/**
 * Writes the messages of a session to a file that scripts can read, one line of JSON for each message.
 *
 * @since 0.1.0
 */
import { defined } from "@belay/core/Fields"
import { makeFolder } from "@belay/core/Folder"
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { FinishReason } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import type { Work } from "../runner/Runners.ts"
import type * as Dialect from "./Dialect.ts"
import { shown } from "./record.ts"
import type { Failed } from "./setup.ts"

/** One line of a transcript: a message, or a hook that failed. @category models @since 0.1.0 */
export type Entry =
  /** A message of the user, or of a hook if `isMeta` is true. */
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
  /**
   * An entry of a hook file that failed without blocking, or was cancelled by its timeout. The model does not read it.
   */
  | {
    readonly role: "hook"
    readonly event: string
    readonly command: string
    readonly outcome: "nonBlockingError" | "cancelled"
    readonly problem: string
  }

/** Writes the transcript that commands can read. @category models @since 0.1.0 */
export interface Transcript {
  /** Returns the path of a session's file. */
  readonly path: (sessionId: string) => string
  /**
   * Adds a message to the file of a session. `agent` is the session of the sub-agent that the message belongs to. Only
   * the owner can read the file. If it cannot be written, the message is skipped without an error.
   */
  readonly add: (sessionId: string, entry: Entry, cwd: string, agent?: string) => void
}

const maxSessions = 10_000

/**
 * Makes a writer of transcripts in Claude Code's format. Each session has one file in the folder.
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
          ...defined({ agentId: agent }),
          sessionId,
          cwd,
          timestamp: new Date().toISOString()
        }
        if (last.size === maxSessions) last.clear()
        last.set(sessionId, uuid)
        const text = `${JSON.stringify({ ...line(entry), ...place })}\n`
        const append = () => appendFileSync(path(sessionId), text, { mode: 0o600 })
        if (Result.isSuccess(Result.try(append))) return
        makeFolder(folder, 0o700)
        append()
      })
  }
}

/** Returns what a transcript says about an entry of a hook file that failed without blocking. @internal */
export const failed = (
  { entry: { event, work }, outcome, problem }: Failed<Dialect.Entry<unknown>>
): Entry => ({
  role: "hook",
  event,
  command: shown(work as Work).slice(0, 500).toWellFormed(),
  outcome,
  problem: problem.slice(0, 2_000).toWellFormed()
})

const line = (entry: Entry): JsonObject => {
  if (entry.role === "user") {
    return {
      type: "user",
      message: { role: "user", content: entry.content },
      ...(entry.isMeta === true ? { isMeta: true } : {})
    }
  }
  if (entry.role === "hook") {
    const { command, event, outcome, problem } = entry
    const kind = outcome === "cancelled" ? "hook_cancelled" : "hook_non_blocking_error"
    return {
      type: "attachment",
      attachment: { type: kind, hookName: event, hookEvent: event, command, stderr: problem }
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
  // Scripts that count tokens count each id once.
  const id = randomUUID()
  const calls = entry.toolCalls.map(({ args, id, name }) => ({ type: "tool_use", id, name, input: args }))
  const texts = entry.content === "" ? [] : [{ type: "text", text: entry.content }]
  const tokens = usage === undefined ? {} : {
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
      ...defined({ model }),
      content: [...texts, ...calls],
      stop_reason: calls.length > 0 ? "tool_use" : finishReason === "length" ? "max_tokens" : "end_turn",
      ...tokens
    }
  }
}
