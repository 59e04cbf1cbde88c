/**
 * Hooks of Gemini CLI's settings files as one hook: each event is told as such scripts expect it, and what they answer
 * is done.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import { type Message, text } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Entries from "../../engine/entries.ts"
import * as Runners from "../../Runners.ts"
import * as Transcript from "../../Transcript.ts"
import type { Warning } from "../claude/HookConfig.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import type * as Output from "./answer.ts"
import * as File from "./config.ts"
import * as Model from "./model.ts"
import * as Runs from "./runs.ts"
import * as Calls from "./toolCalls.ts"
import * as Tools from "./tools.ts"

/** The name of an event. @category models @since 0.1.0 */
export type EventName = File.EventName

/** One hook of a file. `timeoutMs` is 60,000 unless the file says otherwise. @category models @since 0.1.0 */
export interface Handler extends File.Handler {}

/** What a file says. @category models @since 0.1.0 */
export interface Decoded {
  /** Without those that the file itself switches off. */
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /** `hooksConfig.enabled` (or `hooks.enabled`) is false. */
  readonly disableAllHooks: boolean
  /** Names or commands of hooks that are switched off, of whatever file: for `disabled` of `make`. */
  readonly disabled: ReadonlyArray<string>
}

/**
 * What Gemini CLI calls the tools that Claude Code has too, by the names that these have there.
 *
 * @category models
 * @since 0.1.0
 */
export const builtInTools: { readonly [tool: string]: string } = Tools.builtIn

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** `GEMINI_PROJECT_DIR`: the folder of the project. */
  readonly projectDir: string
  /** Names or commands of hooks that do not run. Default: none. */
  readonly disabled?: ReadonlyArray<string>
  /** What runs the commands. Default `Runners.make`, with 5 seconds between asking a command to end and ending it. */
  readonly runners?: Runners.Runners
  /**
   * What tools are called in settings files. Default: common names are recognised (`bash` is `run_shell_command`),
   * others stay.
   */
  readonly toolNames?: ToolNames
  /**
   * A folder for `transcript_path`: a file a session, which holds everything that is said. Default: none is written,
   * and the path is empty.
   */
  readonly transcripts?: string
  /**
   * What a hook that broke, or took too long, means for a prompt or a tool call. Default `continue`, as Gemini CLI
   * does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why a hook may not run now, where it may not: a tool call that it could have blocked is then asked about, and
   * elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Reads the hooks of a settings file, or of an extension, whose folder is then what `${extensionPath}` stands for.
 * Comments are allowed. What is malformed becomes a warning that
 * names the key, and the rest counts.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text = `{ "hooks": { "BeforeTool": [{ "matcher": "write_.*", "hooks": [{ "type": "command", "command": "./scan.sh" }] }] } }`
 * const { handlers } = Gemini.decode(text, ".gemini/settings.json")
 * handlers[0]?.timeoutMs // 60000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string, folder?: string): Decoded => File.decode(text, file, folder)

/**
 * Makes a hook of hooks. All that fit an event run at once, or one after another where a group of the event says
 * `sequential`; any that denies denies. One that breaks is a warning.
 *
 * @example
 * ```ts
 * import * as Gemini from "@belay/hook-files/Gemini"
 *
 * const text = `{ "hooks": { "AfterAgent": [{ "hooks": [{ "type": "command", "command": "./validate.py", "timeout": 30000 }] }] } }`
 * const { disabled, handlers } = Gemini.decode(text, ".gemini/settings.json")
 * const hook = Gemini.make({ handlers, disabled, projectDir: "/srv/app", toolNames: { run: "run_shell_command" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const {
    disabled = [],
    name = "gemini-hooks",
    projectDir,
    runners = Runners.make({ graceMs: 5_000 }),
    toolNames = {}
  } = options
  Result.getOrThrow(checkOptions(name, whole("drainMs", options.drainMs)))
  const handlers = options.handlers.filter((handler) => !File.isDisabled(handler, disabled))
  const entries = Entries.make<Handler>({ runners, refuse: options.refuse, drainMs: options.drainMs })
  const tools = Tools.make(toolNames)
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  const events = new Set<string>(handlers.map(({ event }) => event))
  const has = (...names: ReadonlyArray<EventName>) => names.some((event) => events.has(event))
  /**
   * By session: the tools that the model was last offered, the prompt, and what AfterAgent said about the answer that
   * is about to stand.
   */
  const offered = new Map<string, ReadonlyArray<ToolMeta>>()
  const turns = new Map<
    string,
    { readonly prompt: string; readonly retried: boolean; readonly verdict?: Output.Verdict }
  >()

  const note = (ctx: HookContext, entry: Transcript.Entry): void => {
    if (ctx.agent.depth === 0) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
  }

  const fire = Runs.make({ handlers, entries, projectDir, transcript, blockOnError: options.onBroken === "block" })
  const { atTool, concluded, merged } = Calls.make({
    fire,
    tools,
    toolNamed: (called, ctx) => {
      const all = offered.get(ctx.sessionId)
      return all?.find((tool) => tool.name === called) ?? all?.find((tool) => tools.nameOf(tool.name) === called)
    }
  })

  const afterAgent = (answer: string, messages: ReadonlyArray<Message>, ctx: HookContext, active: boolean) => {
    const turn = turns.get(ctx.sessionId)
    const said = messages.findLast((message) => message.role === "user" && message.source === undefined)
    const prompt = turn?.prompt ?? (said === undefined ? "" : text(said))
    return fire(
      "AfterAgent",
      { prompt, prompt_response: answer, stop_hook_active: active || turn?.retried === true },
      ctx
    )
  }

  /** The request as BeforeModel and BeforeToolSelection leave it, or what they say in its place. */
  const prepared = (asked: LlmRequest, ctx: HookContext) =>
    Effect.gen(function*() {
      const { denied, request: wanted, response, stopped } =
        yield* fire("BeforeModel", { llm_request: Model.told(asked) }, ctx) ??
          Runs.none
      if (stopped !== undefined) return HookAction.abort(stopped)
      const answer = response === undefined ? undefined : Model.answerOf(response)
      if (answer !== undefined) return HookAction.respond({ model: asked.model ?? name, toolCalls: [], ...answer })
      if (response !== undefined) ctx.warn("llm_response does not count: it has no text")
      if (denied !== undefined) return HookAction.reject(denied)
      const request = wanted === undefined ? asked : Model.changed(asked, wanted, ctx.warn)
      const selection = yield* fire("BeforeToolSelection", { llm_request: Model.told(request) }, ctx) ?? Runs.none
      const { allowed = [], mode } = selection
      if (mode === undefined && allowed.length === 0) {
        return request === asked
          ? undefined
          : HookAction.transform(request)
      }
      const called = (tool: ToolMeta) => [tool.name, tools.nameOf(tool.name)]
      return HookAction.transform(Model.selected(request, selection, called))
    })

  const points: Partial<AgentHook> = {
    ...(has("SessionStart")
      ? {
        onSessionStart: (start, ctx) => {
          if (ctx.agent.depth > 0) return undefined
          // A conversation that goes on in a fresh session is one that was cleared.
          return then(
            fire("SessionStart", { source: start.source === "rotate" ? "clear" : start.source }, ctx),
            ({ contexts }) =>
              contexts.length === 0 ? undefined : HookAction.transform({
                ...start,
                context: [
                  ...start.context,
                  ...contexts.map((content): Message => ({
                    role: "user",
                    content: content.slice(0, 10_000).toWellFormed(),
                    source: name
                  }))
                ]
              })
          )
        }
      }
      : {}),
    close: () => entries.drained,
    onSessionEnd: ({ reason }, ctx) => {
      offered.delete(ctx.sessionId)
      turns.delete(ctx.sessionId)
      if (ctx.agent.depth > 0) return undefined
      const told =
        fire("SessionEnd", { reason: reason === "rotate" ? "clear" : reason === "done" ? "exit" : "other" }, ctx) ??
          Effect.void
      return Effect.asVoid(Effect.andThen(told, entries.end(ctx.root.sessionId)))
    },
    preTurn: (input, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      turns.set(ctx.sessionId, { prompt: input.message, retried: false })
      note(ctx, { role: "user", content: input.message })
      return then(fire("BeforeAgent", { prompt: input.message }, ctx), ({ contexts, denied, stopped }) => {
        // What is denied is forgotten; what is only stopped stays said.
        if (stopped !== undefined) return HookAction.abort(stopped, { keepMessage: true })
        if (denied !== undefined) return HookAction.reject(denied, { userMessage: denied })
        for (const context of contexts) ctx.inject(context)
        return undefined
      })
    },
    ...(has("BeforeModel", "BeforeToolSelection", "AfterTool")
      ? {
        preLlmCall: (request, ctx) => {
          offered.set(ctx.sessionId, request.tools)
          // Nobody says when a sub-agent's session ends.
          if (offered.size > 1_000) offered.delete(offered.keys().next().value!)
          return has("BeforeModel", "BeforeToolSelection") ? prepared(request, ctx) : undefined
        }
      }
      : {}),
    ...(has("AfterModel") || transcript !== undefined
      ? {
        postLlmCall: ({ request, response }, ctx) => {
          note(ctx, { role: "assistant", content: response.text, toolCalls: response.toolCalls })
          if (!has("AfterModel")) return undefined
          const told = { llm_request: Model.told(request), llm_response: Model.toldResponse(response) }
          return then(fire("AfterModel", told, ctx), ({ denied, response: wanted, stopped }) => {
            if (stopped !== undefined) return HookAction.abort(stopped)
            if (denied !== undefined) return HookAction.reject(denied)
            const answer = wanted === undefined ? undefined : Model.answerOf(wanted)
            return answer === undefined ? undefined : HookAction.transform({ ...response, text: answer.text })
          })
        }
      }
      : {}),
    // Nobody sees a part of an answer before the hooks have seen the whole.
    ...(has("AfterModel") ? { hold: "untilPass" as const } : {}),
    ...(has("BeforeTool")
      ? {
        preToolCall: ({ args, id, name: tool, tool: about }, ctx) => {
          const call = { name: tool, args, about }
          return then(atTool("BeforeTool", call, ctx), ({ asked, denied, stopped, toolInput }) => {
            if (stopped !== undefined) return HookAction.abort(stopped)
            if (denied !== undefined) return HookAction.reject(denied)
            if (asked !== undefined && toolInput === undefined) return HookAction.ask(asked)
            // A person would approve what was asked for, not what shall run.
            if (asked !== undefined) {
              return HookAction.reject(
                `hooks want ${tool} to be approved and its input to be changed, which cannot be both`
              )
            }
            return toolInput === undefined
              ? undefined
              : HookAction.transform({ id, name: tool, args: merged(call, toolInput, ctx) })
          })
        }
      }
      : {}),
    ...(has("AfterTool") || transcript !== undefined
      ? {
        postToolCall: ({ call, executed, result, tool: about }, ctx) => {
          note(ctx, {
            role: "tool",
            toolCallId: call.id,
            content: result.ok ? result.output : result.error,
            isError: !result.ok
          })
          if (!executed || !has("AfterTool")) return undefined
          return Effect.map(concluded({ ...call, about }, result, ctx), (last) => {
            if (typeof last === "string") return HookAction.abort(last)
            return last === result ? undefined : HookAction.transform(last)
          })
        }
      }
      : {}),
    ...(has("Notification")
      ? {
        onPermission: ({ call, reason, tool: about }, ctx) => {
          const { input, name: tool } = tools.known(call.name, call.args, ctx.cwd, about)
          const details = { type: kindOf(tool), title: reason.slice(0, 1_000), tool_name: tool, tool_input: input }
          const message = `Tool ${tool} requires approval`
          const told = fire("Notification", { notification_type: "ToolPermission", message, details }, ctx)
          return told === undefined ? undefined : entries.aside(Effect.asVoid(told), ctx)
        },
        onSignal: ({ name: signal, payload }, ctx) => {
          if (signal.toLowerCase() !== "notification") return undefined
          const more = typeof payload === "object" && payload !== null && !Array.isArray(payload)
            ? payload as JsonObject
            : {}
          return then(
            fire("Notification", { notification_type: "", message: "", details: {}, ...more }, ctx),
            () => undefined
          )
        }
      }
      : {}),
    ...(has("AfterAgent")
      ? {
        postStep: ({ messages }, ctx) => {
          const last = messages.at(-1)
          if (ctx.agent.depth > 0 || last?.role !== "assistant" || (last.toolCalls ?? []).length > 0) return undefined
          return then(afterAgent(last.content, messages, ctx, false), (verdict) => {
            if (verdict.stopped !== undefined) return HookAction.abort(verdict.stopped)
            turns.set(ctx.sessionId, { prompt: "", retried: false, ...turns.get(ctx.sessionId), verdict })
            return verdict.clear === true
              ? HookAction.transform(messages.filter((one) => one.role === "user" && one.pinned === true))
              : undefined
          })
        },
        preStop: ({ followUps, text: answer }, ctx) => {
          if (ctx.agent.depth > 0) return undefined
          const turn = turns.get(ctx.sessionId)
          const decided = turn?.verdict === undefined
            ? afterAgent(answer, [], ctx, followUps > 0)
            : Effect.succeed(turn.verdict)
          return then(decided, ({ denied, stopped }) => {
            turns.set(ctx.sessionId, { prompt: turn?.prompt ?? "", retried: denied !== undefined })
            if (stopped !== undefined) return HookAction.abort(stopped)
            if (denied !== undefined) ctx.followUp(denied)
            return undefined
          })
        }
      }
      : {}),
    ...(has("PreCompress")
      ? {
        preCompaction: ({ trigger }, ctx) =>
          then(fire("PreCompress", { trigger: trigger === "manual" ? "manual" : "auto" }, ctx), () => undefined)
      }
      : {})
  }
  return HookDefaults.apply(options, { name, kind: "policy", timeout: "none", reinvoke: "ifChanged", ...points })
}

const then = <A>(
  verdict: Effect.Effect<Output.Verdict> | undefined,
  f: (verdict: Output.Verdict) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, f)

const kindOf = (tool: string): string =>
  tool === "run_shell_command"
    ? "exec"
    : tool === "write_file" || tool === "replace"
    ? "edit"
    : tool.startsWith("mcp_")
    ? "mcp"
    : "info"
