/** The rules of Cursor for the engine. */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { Dialect } from "../../engine/Dialect.ts"
import { cap } from "../../internal/fields.ts"
import { type Answer, merge, silent, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import { rowOf } from "./events.ts"
import { read } from "./readAnswer.ts"

/** The version of Cursor that entries read. */
export const version = "3.9.0"

/** The maximum number of entries of one event that run at the same time. */
const atOnce = 10

export interface Options {
  readonly projectDir: string
  /** Returns the variables that entries of `sessionStart` set. */
  readonly sessionEnv: (ctx: HookContext) => { readonly [name: string]: string }
}

export const make = ({ projectDir, sessionEnv }: Options): Dialect<Handler, JsonObject, Answer, Verdict> => ({
  name: "cursor",
  matches: ({ matches }, subjects) => subjects.some(matches),
  concurrency: () => atOnce,
  request: (entry, input, ctx) => {
    const transcript = input["transcript_path"]
    return {
      input,
      cwd: entry.cwd ?? projectDir,
      timeoutMs: entry.timeoutMs,
      env: {
        ...sessionEnv(ctx),
        CURSOR_PROJECT_DIR: projectDir,
        CURSOR_VERSION: version,
        CLAUDE_PROJECT_DIR: projectDir,
        ...(typeof transcript === "string" ? { CURSOR_TRANSCRIPT_PATH: transcript } : {})
      }
    }
  },
  decode: (ending, entry) => ending.type === "finished" ? read(entry, ending.finished) : silent,
  silent,
  guards: ({ event }) => rowOf(event).gate === true,
  deny: (reason) => ({ denied: cap(reason) }),
  ask: (asks, { event }) => toolGates.has(event) ? { asks } : undefined,
  merge,
  conflicts: ({ conflicts }) => conflicts
})

const toolGates: ReadonlySet<string> = new Set([
  "preToolUse",
  "beforeShellExecution",
  "beforeMCPExecution",
  "beforeReadFile"
])
