/**
 * Commands of Claude-style settings files as one hook: each event is told as such scripts expect it, and what they
 * answer is done.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Message, ToolCall } from "@belay/core/Message"
import { text } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import * as Runners from "../../Runners.ts"
import * as Transcript from "../../Transcript.ts"
import { claude, type Flavor } from "../codex/flavor.ts"
import { known, nameOf, type ToolNames, variables } from "../shared/toolNames.ts"
import * as Engine from "./engine.ts"
import * as EnvFile from "./environmentFile.ts"
import type { EventName } from "./events.ts"
import type { Handler } from "./HookConfig.ts"
import type { Verdict } from "./Outcome.ts"
import * as Owners from "./owners.ts"
import * as Gate from "./permission.ts"
import { eventOf } from "./signals.ts"

export type { ToolName, ToolNames } from "../shared/toolNames.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout">, Runners.Options {
  /** What `HookConfig.decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** `CLAUDE_PROJECT_DIR`: the folder of the project. */
  readonly projectDir: string
  /** Variables that commands see besides, such as `env` of the user's settings. */
  readonly env?: { readonly [name: string]: string }
  /** `permission_mode`: what hooks are told of how freely the agent may act. Default `default`. */
  readonly permissionMode?: "default" | "plan" | "acceptEdits" | "auto" | "dontAsk" | "bypassPermissions"
  /** What `~` stands for in `if`. Default: the user's home folder. */
  readonly home?: string
  /**
   * What tools are called in settings files. Default: common names are recognised (`bash` is `Bash`, `write_file` is
   * `Write`), others stay.
   */
  readonly toolNames?: ToolNames
  /** How many entries of one event run at once. Default 10. */
  readonly concurrency?: number
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /** Follow-ups in a row that `Stop` entries may ask for. Default 8. */
  readonly stopCap?: number
  /**
   * What a command that broke, or took too long, means for a prompt, a tool call or a permission. Default `continue`,
   * as the scripts expect.
   */
  readonly onBroken?: "continue" | "block"
  /**
   * Lets `allow` of an entry that is the project's (`trusted: "project"`) answer the policy's questions. Default false:
   * a project tightens, and loosens nothing.
   */
  readonly projectAllows?: boolean
  /**
   * A folder for `transcript_path`: a file a session, which holds everything that is said. Default: none is written,
   * and the path is empty.
   */
  readonly transcripts?: string
  /** Runs the entries. Default: those of `Runners.make` with these options. */
  readonly runners?: Runners.Runners
  /**
   * Says why an entry may not run now, where it may not: a tool call that it could have blocked is then asked about,
   * and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
  /**
   * Hears what an entry with `asyncRewake` says that ended with 2, so that a host can go on with an idle session. The
   * agent hears it in any case: when it wants to stop, or with the user's next message.
   */
  readonly onWake?: (wake: { readonly sessionId: string; readonly text: string }) => void
}

/**
 * Makes a hook of commands. All that fit an event run at once and are all waited for; then any that blocks blocks, and
 * reasons and contexts are put together in the order of the
 * configuration. Commands only ever tighten: `allow` answers a question of the policy, but overrules nobody. One that
 * breaks is a warning. Throws a `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 *
 * const text = `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }`
 * const { handlers } = HookConfig.decode(text, "settings.json")
 * const hook = ClaudeCode.make({ handlers, projectDir: "/srv/app", toolNames: { run: "Bash" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => settings(options, claude)

/** The same for settings files of another system. @internal */
export const settings = (options: Options, flavor: Flavor): AgentHook => {
  const {
    concurrency = 10,
    drainMs = 5_000,
    handlers,
    name = "settings-hooks",
    onWake,
    projectDir,
    stopCap = 8,
    toolNames = {}
  } = options
  const { graceMs = 2_000 } = options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("concurrency", concurrency, 1),
      whole("graceMs", graceMs),
      whole("lingerMs", options.lingerMs),
      whole("drainMs", drainMs),
      whole("stopCap", stopCap)
    )
  )
  const owned = Owners.make(name, handlers)
  const engine = Engine.make({
    name,
    flavor,
    handlers,
    projectDir,
    env: options.env ?? {},
    concurrency,
    drainMs,
    home: options.home ?? homedir(),
    runners: options.runners ?? Runners.make(options),
    blockOnError: options.onBroken === "block",
    refuse: options.refuse ?? (() => undefined),
    projectAllows: options.projectAllows === true,
    counts: owned.counts,
    onWake: onWake === undefined ? undefined : (sessionId, text) => onWake({ sessionId, text })
  })
  const { fire, has } = engine
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)

  /** What sub-agents say is in files of their own. */
  const ofAgent = (ctx: HookContext) => `agent-${ctx.sessionId}`
  const note = (ctx: HookContext, entry: Transcript.Entry): void => {
    if (ctx.agent.depth === 0) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
    else transcript?.add(ofAgent(ctx), entry, ctx.cwd, ctx.sessionId)
  }

  const models = new Map<string, string>()

  const told = (event: EventName, ctx: HookContext, more: JsonObject): JsonObject => ({
    ...more,
    session_id: ctx.root.sessionId,
    transcript_path: transcript?.path(ctx.root.sessionId) ?? flavor.noTranscript,
    cwd: ctx.cwd,
    permission_mode: options.permissionMode ?? "default",
    hook_event_name: event,
    ...flavor.told(ctx.root, models.get(ctx.root.sessionId)),
    ...(ctx.agent.depth === 0 ? {} : { agent_id: ctx.sessionId, agent_type: ctx.agent.name })
  })
  const at = (event: EventName, ctx: HookContext, more: JsonObject = {}) => {
    if (!has(event)) return undefined
    const file = EnvFile.fileFor(event, transcript?.path(ctx.root.sessionId))
    const env = file === undefined ? {} : { env: () => ({ CLAUDE_ENV_FILE: file }) }
    const fired = fire({ event, payload: () => told(event, ctx, more), ...env }, ctx)
    return file === undefined || fired === undefined
      ? fired
      : Effect.tap(fired, () => Effect.sync(() => EnvFile.take(file, ctx)))
  }
  const atTool = (
    event: EventName,
    ctx: HookContext,
    call: ToolCall,
    about: ToolMeta | undefined,
    more: JsonObject = {}
  ) => {
    const tool = nameOf(call.name, toolNames)
    if (event === "PreToolUse") owned.called(tool, call.args, ctx)
    if (!engine.matches(event, tool)) return undefined
    const { input } = known(call.name, call.args, toolNames, ctx.cwd, about)
    return fire({
      event,
      call: { tool, args: input },
      payload: () => told(event, ctx, { tool_name: tool, tool_input: input, tool_use_id: call.id, ...more }),
      env: () => variables(tool, input, call.args)
    }, ctx)
  }
  const inject = (verdict: Verdict, ctx: HookContext) => verdict.context.forEach((one) => ctx.inject(one))
  const message = (content: string): Message => ({
    role: "user",
    content: content.slice(0, 10_000).toWellFormed(),
    source: name
  })

  const gate = Gate.make({
    name,
    notify: (ctx, call) => {
      const message = `Claude needs your permission to use ${nameOf(call.name, toolNames)}`
      const noted = at("Notification", ctx, { message, notification_type: "permission_prompt" })
      return noted === undefined ? undefined : engine.aside(noted, ctx)
    },
    before: has("PreToolUse") || owned.any,
    permission: has("PermissionRequest", "Notification"),
    denied: has("PermissionDenied"),
    fire: atTool,
    back: ({ args, name: tool }, input, about, { cwd }) => known(tool, args, toolNames, cwd, about).back(input),
    inject
  })

  const points: Partial<AgentHook> = {
    close: () => engine.drained,
    ...(has("SessionStart")
      ? {
        onSessionStart: (start, ctx) => {
          // A rotation is a compaction too: it is told there.
          if (ctx.agent.depth > 0 || start.source === "rotate") return undefined
          return then(at("SessionStart", ctx, { source: start.source }), ({ context, stop }) => {
            if (stop !== undefined) return HookAction.abort(stop)
            return context.length === 0
              ? undefined
              : HookAction.transform({ ...start, context: [...start.context, ...context.map(message)] })
          })
        }
      }
      : {}),
    onSessionEnd: (end, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const ended = at("SessionEnd", ctx, { reason: end.reason === "rotate" ? "clear" : "other" }) ?? Effect.void
      models.delete(ctx.root.sessionId)
      return Effect.asVoid(Effect.andThen(ended, engine.end(ctx.root.sessionId)))
    },
    preTurn: (input, ctx) => {
      // What an agent hands to another is no prompt of the user's.
      if (ctx.agent.depth > 0) {
        note(ctx, { role: "user", content: input.message })
        return then(at("SubagentStart", ctx), (verdict) => inject(verdict, ctx))
      }
      engine.deliver(ctx)
      for (const text of engine.wakes(ctx)) ctx.inject(text)
      note(ctx, { role: "user", content: input.message })
      return then(at("UserPromptSubmit", ctx, { prompt: input.message }), (verdict) => {
        if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
        if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked, { userMessage: verdict.blocked })
        return inject(verdict, ctx)
      })
    },
    ...(transcript === undefined && flavor.name === "claude" ? {} : {
      postLlmCall: ({ response: { finishReason, model, text: content, toolCalls, usage } }, ctx) => {
        if (ctx.agent.depth === 0) models.set(ctx.root.sessionId, model)
        note(ctx, {
          role: "assistant",
          content,
          toolCalls: toolCalls.map(({ args, id, name: tool }) => {
            const { input, name } = known(tool, args, toolNames, ctx.cwd)
            return { id, name, args: input }
          }),
          model,
          finishReason,
          ...(usage === undefined ? {} : { usage })
        })
      }
    }),
    ...gate,
    ...(has("PostToolUse", "PostToolUseFailure") || transcript !== undefined
      ? {
        postToolCall: ({ call, elapsedMs, executed, result, tool: about }, ctx) => {
          note(ctx, {
            role: "tool",
            toolCallId: call.id,
            content: result.ok ? result.output : result.error,
            isError: !result.ok
          })
          if (!executed) return undefined
          if (!result.ok) {
            const failed = atTool("PostToolUseFailure", ctx, call, about, {
              error: result.error,
              is_interrupt: false,
              duration_ms: elapsedMs
            })
            return then(
              failed,
              (verdict) => verdict.stop === undefined ? inject(verdict, ctx) : HookAction.abort(verdict.stop)
            )
          }
          const { input, name: tool } = known(call.name, call.args, toolNames, ctx.cwd, about)
          const { back, shown } = flavor.response(tool, input, result.output)
          return then(
            atTool("PostToolUse", ctx, call, about, { tool_response: shown, duration_ms: elapsedMs }),
            (verdict) => {
              if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
              inject(verdict, ctx)
              const output = verdict.updatedOutput ?? (tool.startsWith("mcp__") ? verdict.updatedMcpOutput : undefined)
              if (output === undefined) {
                return verdict.blocked === undefined
                  ? undefined
                  : HookAction.reject(verdict.blocked)
              }
              if (verdict.blocked !== undefined) ctx.inject(verdict.blocked)
              return HookAction.transform({ ok: true, output: back(output) })
            }
          )
        }
      }
      : {}),
    ...(has("PostToolBatch")
      ? {
        postStep: ({ messages }, ctx) => {
          const batch = batchOf(messages, toolNames, ctx.cwd)
          if (batch.length === 0) return undefined
          return then(at("PostToolBatch", ctx, { tool_calls: batch }), (verdict) => {
            const why = verdict.stop ?? verdict.blocked
            return why === undefined ? inject(verdict, ctx) : HookAction.abort(why)
          })
        }
      }
      : {}),
    ...(has("Stop", "SubagentStop") || handlers.some(({ rewake }) => rewake === true)
      ? {
        preStop: ({ followUps, text: last }, ctx) => {
          const event = ctx.agent.depth === 0 ? "Stop" : "SubagentStop"
          for (const text of ctx.agent.depth === 0 ? engine.wakes(ctx) : []) ctx.followUp(text)
          const inner = ctx.agent.depth === 0 ? {} : { agent_transcript_path: transcript?.path(ofAgent(ctx)) ?? "" }
          const fired = at(event, ctx, { stop_hook_active: followUps > 0, last_assistant_message: last, ...inner })
          return then(fired, ({ blocked, context, stop }) => {
            if (stop !== undefined) return HookAction.abort(stop)
            const more = [...(blocked === undefined ? [] : [blocked]), ...context]
            if (more.length > 0 && followUps >= stopCap) {
              ctx.warn(`${event} entries kept the agent going ${stopCap} times in a row: it stops now`)
              return undefined
            }
            for (const one of more) {
              ctx.followUp(one)
              note(ctx, { role: "user", content: one, isMeta: true })
            }
            return undefined
          })
        }
      }
      : {}),
    ...(has("StopFailure")
      ? {
        onTurnError: ({ error }, ctx) =>
          ctx.agent.depth > 0
            ? undefined
            : then(
              at("StopFailure", ctx, { error: failures.get(error._tag) ?? "unknown", error_details: error.message }),
              () => undefined
            )
      }
      : {}),
    ...(has("PreCompact")
      ? {
        preCompaction: ({ hint, trigger }, ctx) =>
          then(
            at("PreCompact", ctx, {
              trigger: trigger === "manual" ? "manual" : "auto",
              custom_instructions: hint.instructions ?? ""
            }),
            ({ blocked, stop }) =>
              blocked === undefined && stop === undefined ? undefined : HookAction.reject(blocked ?? stop!)
          )
      }
      : {}),
    ...(has("PostCompact", "SessionStart")
      ? {
        postCompaction: ({ summary, trigger }, ctx) =>
          Effect.gen(function*() {
            const after = at("PostCompact", ctx, {
              trigger: trigger === "manual" ? "manual" : "auto",
              compact_summary: summary
            })
            if (after !== undefined) inject(yield* after, ctx)
            // What a session begins with is gone with the messages that were removed.
            const again = ctx.agent.depth > 0 ? undefined : at("SessionStart", ctx, { source: "compact" })
            if (again !== undefined) inject(yield* again, ctx)
          })
      }
      : {}),
    onSignal: ({ blockable, name: signal, payload }, ctx) => {
      const event = eventOf(signal)
      if (event === undefined || !has(event)) return undefined
      return then(at(event, ctx, fieldsOf(payload)), (verdict) => {
        inject(verdict, ctx)
        const { answer, blocked, stop } = verdict
        const final = event === "ConfigChange" && fieldsOf(payload)["source"] === "policy_settings"
        // A teammate that is kept at work, and one that is stopped, are two things.
        if (stop !== undefined && (event === "TeammateIdle" || event === "TaskCompleted")) {
          return HookAction.respond({ continue: false, stopReason: stop })
        }
        const why = blocked ?? (event === "TaskCreated" ? undefined : stop)
        if (why !== undefined) return !blockable || final ? undefined : HookAction.reject(why)
        return answer === undefined ? undefined : HookAction.respond(answer)
      })
    }
  }
  return HookDefaults.apply(options, { name, kind: "policy", timeout: "none", reinvoke: "ifChanged", ...points })
}

/**
 * What scripts of a session exported for later commands (`CLAUDE_ENV_FILE`): for a tool that runs a shell, or a sandbox
 * of one.
 *
 * @example
 * ```ts
 * import type { AgentSession } from "@belay/core/createAgent"
 * import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
 *
 * declare const session: AgentSession
 * const env = session.state.get(ClaudeCode.environment) // { NODE_ENV: "production" }
 * ```
 * @category state
 * @since 0.1.0
 */
export const environment = EnvFile.environment

const then = <A>(
  verdict: Effect.Effect<Verdict> | undefined,
  f: (verdict: Verdict) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, f)

const fieldsOf = (payload: Json): JsonObject =>
  typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload as JsonObject : {}

/** The calls of the last step with their results; nothing where it had none. */
const batchOf = (messages: ReadonlyArray<Message>, names: ToolNames, cwd: string): ReadonlyArray<JsonObject> => {
  const from = messages.findLastIndex(({ role }) => role === "assistant")
  const last = messages[from]
  if (last?.role !== "assistant") return []
  const results = new Map(
    messages.slice(from).flatMap((one) => one.role === "tool" ? [[one.toolCallId, text(one)] as const] : [])
  )
  return (last.toolCalls ?? []).map(({ args, id, name }) => {
    const { input, name: tool } = known(name, args, names, cwd)
    return { tool_name: tool, tool_input: input, tool_use_id: id, tool_response: results.get(id) ?? "" }
  })
}

const failures: ReadonlyMap<string, string> = new Map([
  ["RateLimited", "rate_limit"],
  ["Overloaded", "server_error"],
  ["ServerError", "server_error"],
  ["QuotaExceeded", "billing_error"],
  ["Auth", "authentication_failed"],
  ["Permission", "authentication_failed"],
  ["InvalidRequest", "invalid_request"],
  ["ContextOverflow", "invalid_request"]
])
