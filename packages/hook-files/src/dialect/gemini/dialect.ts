/** The rules of Gemini CLI for the engine. */
import type { JsonObject } from "@belay/core/Json"
import { join } from "node:path"
import type { Dialect } from "../../engine/Dialect.ts"
import { cap } from "../../internal/fields.ts"
import { insertFolder } from "../shared/shellFolders.ts"
import { type Answer, merge, mergeRequest, silent, type Specific, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import type { EventName } from "./events.ts"
import { read } from "./readAnswer.ts"

/** The maximum number of entries of one event that run at the same time, if no group sets `sequential`. */
const atOnce = 10

export const make = (projectDir: string): Dialect<Handler, JsonObject, Answer, Verdict> => ({
  name: "gemini",
  matches: ({ matches }, subjects) => subjects.some(matches),
  identity: ({ name = "", work }) => `${name}:${work.command}`,
  concurrency: (entries) => entries.some(({ sequential }) => sequential) ? 1 : atOnce,
  // Each entry reads the changes of the entries before it.
  chain: (input, { outcome, specific }, { event }) => outcome === "success" ? chained(event, input, specific) : input,
  request: (entry, input, ctx) => ({
    input,
    cwd: ctx.cwd,
    env: {
      GEMINI_PROJECT_DIR: projectDir,
      GEMINI_CWD: ctx.cwd,
      GEMINI_SESSION_ID: ctx.root.sessionId,
      GEMINI_PLANS_DIR: join(projectDir, ".gemini", "plans"),
      CLAUDE_PROJECT_DIR: projectDir,
      workspacePath: projectDir,
      ...entry.env
    },
    timeoutMs: entry.timeoutMs,
    work: {
      ...entry.work,
      command: insertFolder(entry.work.command, ["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"], projectDir)
    }
  }),
  decode: (ending, { event }) => ending.type === "finished" ? read(ending.finished, event) : silent,
  silent,
  guards: ({ event }, { isRead }) => !isRead && (event === "BeforeAgent" || event === "BeforeTool"),
  deny: (reason) => ({ denied: cap(reason) }),
  ask: (asked, { event }) => event === "BeforeTool" ? { asked } : undefined,
  merge
})

/**
 * Applies the changes of an entry to the input. The casts are safe because the fields keep the types with which the
 * input was made.
 */
const chained = (event: EventName, input: JsonObject, { context, request, toolInput }: Specific): JsonObject => {
  const { llm_request, prompt, tool_input } = input
  if (event === "BeforeTool" && toolInput !== undefined) {
    return { ...input, tool_input: { ...tool_input as JsonObject, ...toolInput } }
  }
  if (event === "BeforeModel" && request !== undefined) {
    return { ...input, llm_request: mergeRequest(llm_request as JsonObject, request) }
  }
  return event === "BeforeAgent" && context !== undefined
    ? { ...input, prompt: `${prompt as string}\n\n${context}` }
    : input
}
