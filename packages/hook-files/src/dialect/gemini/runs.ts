/**
 * Runs the hooks of an event of Gemini CLI: those that fit, at once or one after another, and puts together what they
 * say.
 */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import * as Entries from "../../engine/entries.ts"
import { labelOf } from "../../engine/record.ts"
import type { Transcript } from "../../Transcript.ts"
import { placed } from "../shared/shellFolders.ts"
import * as Output from "./answer.ts"
import { type EventName, events as fields, type Handler } from "./config.ts"

export interface Setup {
  readonly handlers: ReadonlyArray<Handler>
  readonly entries: Entries.Entries<Handler>
  readonly projectDir: string
  readonly transcript: Transcript | undefined
  /** Whether a hook that broke denies a prompt or a tool call. */
  readonly blockOnError: boolean
}

/** Nothing where no hook fits. `names` are other names of the tool that it is about. */
export type Fire = (
  event: EventName,
  more: JsonObject,
  ctx: HookContext,
  names?: ReadonlyArray<string>
) => Effect.Effect<Output.Verdict> | undefined

/** How many commands of one event run at once. */
const concurrency = 10

export const make = ({ blockOnError, entries, handlers, projectDir, transcript }: Setup): Fire => {
  const events = new Set(handlers.map(({ event }) => event))

  const one = (handler: Handler, input: JsonObject, ctx: HookContext): Effect.Effect<Output.Said> => {
    const { sessionId } = ctx.root
    const env = {
      GEMINI_PROJECT_DIR: projectDir,
      GEMINI_CWD: ctx.cwd,
      GEMINI_SESSION_ID: sessionId,
      GEMINI_PLANS_DIR: join(projectDir, ".gemini", "plans"),
      CLAUDE_PROJECT_DIR: projectDir,
      workspacePath: projectDir,
      ...handler.env
    }
    const work = {
      ...handler.work,
      command: placed(handler.work.command, ["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"], projectDir)
    }
    const read = Output.read(handler.event, blockOnError)
    return Effect.map(
      entries.run(handler, { input, cwd: ctx.cwd, env, timeoutMs: handler.timeoutMs, work }, read, ctx),
      (said) => {
        const label = labelOf(handler)
        if (said.problem !== undefined) ctx.warn(`${label} ${said.problem}`)
        for (const problem of said.problems) ctx.warn(`${label}: ${problem}`)
        return said
      }
    )
  }

  /** Each sees what those before it made of the input. */
  const inOrder = Effect.fnUntraced(
    function*(fitting: ReadonlyArray<Handler>, event: EventName, input: JsonObject, ctx: HookContext) {
      const all: Array<Output.Said> = []
      let current = input
      for (const handler of fitting) {
        const said = yield* one(handler, current, ctx)
        all.push(said)
        if (said.outcome === "success") current = chained(event, current, said.specific)
      }
      return all
    }
  )

  return (event, more, ctx, names = []) => {
    if (!events.has(event)) return undefined
    const field = fields[event]
    const value = field === undefined ? "" : more[field]
    const values = [typeof value === "string" ? value : "", ...names]
    const found = new Map<string, Handler>()
    for (const handler of handlers) {
      if (handler.event !== event || !values.some((one) => handler.matches(one))) continue
      const identity = `${handler.name ?? ""}:${handler.work.command}`
      if (!found.has(identity)) found.set(identity, handler)
    }
    const fitting = [...found.values()]
    if (fitting.length === 0) return undefined
    return Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const input: JsonObject = {
        ...more,
        session_id: ctx.root.sessionId,
        transcript_path: transcript?.path(ctx.root.sessionId) ?? "",
        cwd: ctx.cwd,
        hook_event_name: event,
        timestamp: new Date(now).toISOString()
      }
      const verdict = Output.merge(
        yield* fitting.some(({ sequential }) => sequential)
          ? inOrder(fitting, event, input, ctx)
          : Effect.forEach(fitting, (handler) => one(handler, input, ctx), { concurrency })
      )
      // What the model may use is selected without a word to anybody.
      if (event !== "BeforeToolSelection") { for (const message of verdict.messages) ctx.notifyUser(message) }
      return verdict
    })
  }
}

/** What no hook says. */
export const none: Effect.Effect<Output.Verdict> = Effect.succeed({ contexts: [], messages: [] })

const chained = (event: EventName, input: JsonObject, { context, request, toolInput }: Output.Specific): JsonObject => {
  const { llm_request, prompt, tool_input } = input
  if (event === "BeforeTool" && toolInput !== undefined) {
    return { ...input, tool_input: { ...tool_input as JsonObject, ...toolInput } }
  }
  if (event === "BeforeModel" && request !== undefined) {
    return { ...input, llm_request: Output.mergeRequest(llm_request as JsonObject, request) }
  }
  if (event === "BeforeAgent" && context !== undefined) return { ...input, prompt: `${prompt as string}\n\n${context}` }
  return input
}
