/**
 * Hook files of GitHub Copilot as one hook: each event is told as such scripts expect it, and what they answer is done.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { isProviderError } from "@belay/core/ProviderError"
import { failure, type ToolMeta, type ToolResult } from "@belay/core/Tool"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Entries from "../../engine/entries.ts"
import * as Runners from "../../Runners.ts"
import * as Transcript from "../../Transcript.ts"
import type { Warning } from "../claude/HookConfig.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import type { Verdict } from "./answer.ts"
import * as File from "./config.ts"
import * as Runs from "./runs.ts"
import * as Tools from "./tools.ts"

/** The name of an event in camel case. @category models @since 0.1.0 */
export type EventName = File.EventName

/** One hook of a file. `timeoutMs` is 30,000 unless the file says otherwise. @category models @since 0.1.0 */
export interface Handler extends File.Handler {}

/** What a file says. @category models @since 0.1.0 */
export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  /**
   * In a file of a hooks folder it is about that file alone; in a settings file of a repository, about everything but
   * what administrators put there.
   */
  readonly disableAllHooks: boolean
}

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder of the project: commands run there, or where `cwd` of a file says from there on. */
  readonly projectDir: string
  /** What runs the hooks, with at most 10 MiB of output. Default: `Runners.make`. */
  readonly runners?: Runners.Runners
  /**
   * Names of variables of the host that `env` of a file may name, and that commands of the default runners see.
   * Default: none.
   */
  readonly passEnv?: ReadonlyArray<string>
  /** What `HOME` is for commands, and for `env` of a file. Default: the host's. */
  readonly home?: string
  /**
   * What a hook that broke, or took too long, means for a prompt, a tool call or a permission. Default `continue`, but
   * for what denies anyway, as Copilot does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Lets `allow` count where a project has entries at `permissionRequest` too. Default false: a project tightens, and
   * loosens nothing.
   */
  readonly projectAllows?: boolean
  /**
   * What tools are called in hook files. Default: common names are recognised (`write_file` is `create`, or `Write`),
   * others stay.
   */
  readonly toolNames?: ToolNames
  /**
   * A folder for `transcriptPath`: a file a session, which holds everything that is said. Default: none is written, and
   * the path is empty.
   */
  readonly transcripts?: string
  /**
   * Says why a hook may not run now, where it may not: a tool call that it could have blocked is then asked about, and
   * elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/** Most times in a row that hooks keep an agent going. @category limits @since 0.1.0 */
export const maxBlocks = 8

/** Most characters that hooks put behind a result together. @category limits @since 0.1.0 */
export const maxContext = 10_240

/**
 * Reads a hook file, or the hooks of a settings file; comments are allowed. What is malformed becomes a warning that
 * names the key, and the rest counts.
 *
 * @example
 * ```ts
 * import * as Copilot from "@belay/hook-files/Copilot"
 *
 * const text = `{ "version": 1, "hooks": { "preToolUse": [{ "matcher": "bash|edit", "bash": "./guard.sh", "timeoutSec": 10 }] } }`
 * const { handlers } = Copilot.decode(text, ".github/hooks/guard.json")
 * handlers[0]?.timeoutMs // 10000
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string): Decoded => File.decode(text, file)

/**
 * Makes a hook of hooks, which run one after another. A command at `preToolUse` that ends with anything but 0 denies
 * the call, unless it took too long; whatever else breaks is a warning.
 *
 * @example
 * ```ts
 * import * as Copilot from "@belay/hook-files/Copilot"
 *
 * const text = `{ "version": 1, "hooks": { "agentStop": [{ "bash": "./scripts/verify.sh" }] } }`
 * const { handlers } = Copilot.decode(text, ".github/hooks/verify.json")
 * const hook = Copilot.make({ handlers, projectDir: "/srv/app", toolNames: { run: "bash" } })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { handlers, home, name = "copilot-hooks", passEnv = [], projectDir, toolNames = {} } = options
  Result.getOrThrow(checkOptions(name, whole("drainMs", options.drainMs)))
  const runners = options.runners ?? Runners.make({ passEnv })
  const entries = Entries.make<Handler>({
    runners,
    refuse: options.refuse,
    maxOutput: 10_485_760,
    drainMs: options.drainMs
  })
  const fire = Runs.make({ handlers, entries, projectDir, home, passEnv, blockOnError: options.onBroken === "block" })
  const tools = Tools.make(toolNames)
  const transcript = options.transcripts === undefined ? undefined : Transcript.make(options.transcripts)
  // A project tightens, and loosens nothing.
  const mayAllow = options.projectAllows === true ||
    handlers.every((handler: Entries.Entry & { readonly point: EventName }) =>
      handler.point !== "permissionRequest" || handler.trusted !== "project"
    )
  const events = new Set<EventName>(handlers.map(({ point }) => point))
  const has = (...names: ReadonlyArray<EventName>) => names.some((event) => events.has(event))
  const prompts = handlers.flatMap(({ point, work }) =>
    point === "sessionStart" && work.type === "prompt" ? [work.prompt] : []
  )
  /** By session: why the turn ends after this step, and what a sub-agent gives back. */
  const stops = new Map<string, string>()
  const responses = new Map<string, string>()

  const note = (ctx: HookContext, entry: Transcript.Entry): void => {
    if (ctx.agent.depth === 0) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
  }
  const pathOf = (ctx: HookContext) => ({ transcriptPath: transcript?.path(ctx.root.sessionId) ?? "" })

  const atTool = (event: EventName, call: Call, ctx: HookContext, more: JsonObject = {}) => {
    const known = tools.known(call.name, call.args, ctx.cwd, call.about)
    const claude = Tools.both(known)
    const { toolInput: _, ...rest } = more
    const pascal = { toolName: claude.name, toolArgs: claude.input, toolUseId: call.id, ...rest }
    // In camel case the arguments are a text of JSON.
    return fire(event, { camel: { toolName: known.name, toolArgs: JSON.stringify(known.input), ...more }, pascal }, ctx)
  }

  /** The arguments of the tool's own; hooks may use the words of either. */
  const argsOf = (call: Call, wanted: JsonObject, ctx: HookContext): Json =>
    Tools.both(tools.known(call.name, call.args, ctx.cwd, call.about)).back(wanted)

  const failed = (error: Error, errorContext: string, recoverable: boolean, ctx: HookContext) =>
    fire("errorOccurred", { error: { message: error.message, name: error.name }, errorContext, recoverable }, ctx) ??
      Runs.none

  /** What becomes of a result; a reason where the turn ends. */
  const concluded = (call: Call, given: ToolResult, ctx: HookContext): Effect.Effect<ToolResult | string> =>
    Effect.gen(function*() {
      let result = given
      if (result.ok) {
        const textResultForLlm = typeof result.output === "string" ? result.output : JSON.stringify(result.output)
        const verdict =
          yield* atTool("postToolUse", call, ctx, { toolResult: { resultType: "success", textResultForLlm } }) ??
            Runs.none
        if (verdict.stop !== undefined) return verdict.stop
        result = withContext(verdict.result ?? result, verdict.contexts, ctx)
      }
      if (result.ok) return result
      const verdict = yield* atTool("postToolUseFailure", call, ctx, { error: result.error }) ?? Runs.none
      if (verdict.stop !== undefined) return verdict.stop
      const { handling } = yield* failed(toolError(result.error), "tool_execution", true, ctx)
      return handling === "abort"
        ? `a hook ended the turn: ${result.error}`
        : withContext(result, verdict.contexts, ctx)
    })

  const points: Partial<AgentHook> = {
    ...(has("sessionStart")
      ? {
        onSessionStart: (start, ctx) => {
          if (ctx.agent.depth > 0) return undefined
          const message = (content: string): Message => ({
            role: "user",
            content: content.slice(0, 10_000).toWellFormed(),
            source: name
          })
          const told = fire("sessionStart", { source: start.source === "rotate" ? "new" : start.source }, ctx) ??
            Runs.none
          return Effect.map(told, ({ contexts, stop }) => {
            if (stop !== undefined) return HookAction.abort(stop)
            const more = [...contexts, ...start.source === "startup" ? prompts : []]
            return more.length === 0
              ? undefined
              : HookAction.transform({ ...start, context: [...start.context, ...more.map(message)] })
          })
        }
      }
      : {}),
    close: () => entries.drained,
    onSessionEnd: ({ reason }, ctx) => {
      stops.delete(ctx.sessionId)
      if (ctx.agent.depth > 0) return undefined
      const told = fire(
        "sessionEnd",
        { reason: reason === "done" ? "complete" : reason === "rotate" ? "user_exit" : reason },
        ctx
      ) ??
        Effect.void
      return Effect.asVoid(Effect.andThen(told, entries.end(ctx.root.sessionId)))
    },
    preTurn: (input, ctx) => {
      const { agent: { depth, name: agentName } } = ctx
      stops.delete(ctx.sessionId)
      if (depth > 0) {
        return then(
          fire("subagentStart", { ...pathOf(ctx), agentName }, ctx),
          ({ contexts }) =>
            contexts.length === 0
              ? undefined
              : HookAction.transform({ ...input, message: [...contexts, input.message].join("\n\n") })
        )
      }
      note(ctx, { role: "user", content: input.message })
      if (!has("userPromptSubmitted", "userPromptTransformed")) return undefined
      return Effect.gen(function*() {
        const first = yield* fire("userPromptSubmitted", { prompt: input.message }, ctx) ?? Runs.none
        const { contexts, denied, prompt = input.message, stop } = first
        if (stop !== undefined) return HookAction.abort(stop)
        if (denied !== undefined) return HookAction.reject(denied)
        for (const context of contexts) ctx.inject(context)
        const last = yield* fire("userPromptTransformed", { prompt, transformedPrompt: prompt }, ctx) ?? Runs.none
        if (last.denied !== undefined) return HookAction.reject(last.denied)
        const { transformed = prompt } = last
        return transformed === input.message ? undefined : HookAction.transform({ ...input, message: transformed })
      })
    },
    ...(transcript === undefined ? {} : {
      postLlmCall: ({ response: { text: content, toolCalls } }, ctx) =>
        note(ctx, { role: "assistant", content, toolCalls })
    }),
    ...(has("preToolUse", "preMcpToolCall")
      ? {
        preToolCall: ({ args, id, name: tool, tool: about }, ctx) =>
          Effect.gen(function*() {
            const call: Call = { id, name: tool, args, about }
            const verdict = yield* atTool("preToolUse", call, ctx) ?? Runs.none
            const { args: wanted, contexts, denied, permission, permissionReason, stop } = verdict
            if (stop !== undefined) return HookAction.abort(stop)
            if (denied !== undefined) return HookAction.reject(denied)
            for (const context of contexts) ctx.inject(context)
            if (permission === "ask" && wanted === undefined) {
              return HookAction.ask(permissionReason ?? `a hook wants ${tool} to be approved`)
            }
            // A person would approve what was asked for, not what shall run.
            if (permission === "ask") {
              return HookAction.reject(
                `hooks want ${tool} to be approved and its input to be changed, which cannot be both`
              )
            }
            const last = wanted === undefined ? args : argsOf(call, wanted, ctx)
            const [, serverName, toolName] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? []
            if (serverName !== undefined) {
              const about = { serverName, toolName: toolName!, arguments: last, toolCallId: id }
              const { denied: broken } = yield* fire("preMcpToolCall", about, ctx) ?? Runs.none
              if (broken !== undefined) return HookAction.reject(broken)
            }
            return wanted === undefined ? undefined : HookAction.transform({ id, name: tool, args: last })
          })
      }
      : {}),
    ...(has("postToolUse", "postToolUseFailure", "errorOccurred") || transcript !== undefined
      ? {
        postToolCall: ({ call, executed, result, tool: about }, ctx) => {
          note(ctx, {
            role: "tool",
            toolCallId: call.id,
            content: result.ok ? result.output : result.error,
            isError: !result.ok
          })
          if (!executed) return undefined
          return Effect.map(concluded({ ...call, about }, result, ctx), (last) => {
            if (typeof last === "string") return HookAction.abort(last)
            return last === result ? undefined : HookAction.transform(last)
          })
        }
      }
      : {}),
    ...(has("permissionRequest", "notification")
      ? {
        onPermission: ({ call, reason, tool: about }, ctx) =>
          Effect.gen(function*() {
            const asked = { ...call, about }
            const { input } = tools.known(call.name, call.args, ctx.cwd, about)
            const verdict = yield* atTool("permissionRequest", asked, ctx, { toolInput: input }) ?? Runs.none
            const { behavior, behaviorReason = "Denied by permissionRequest hook", denied, interrupt } = verdict
            if (denied !== undefined) return HookAction.reject(denied)
            if (behavior === "deny") {
              if (interrupt === true) stops.set(ctx.sessionId, behaviorReason)
              return HookAction.reject(behaviorReason)
            }
            // Nobody but a person lets a tool out of its sandbox.
            if (behavior === "allow" && mayAllow && input["requestSandboxBypass"] !== true) {
              return HookAction.replace({ type: "allow" as const })
            }
            const told = fire("notification", {
              hook_event_name: "Notification",
              notification_type: "permission_prompt",
              title: "Permission needed",
              message: `${call.name}: ${reason}`.slice(0, 1_000)
            }, ctx)
            if (told !== undefined) {
              yield* entries.aside(Effect.map(told, ({ contexts }) => contexts.forEach((one) => ctx.inject(one))), ctx)
            }
            return undefined
          })
      }
      : {}),
    ...(has("permissionRequest")
      ? {
        postStep: (_step, ctx) => {
          const why = stops.get(ctx.sessionId)
          stops.delete(ctx.sessionId)
          return why === undefined ? undefined : HookAction.abort(why)
        }
      }
      : {}),
    ...(has("agentStop", "subagentStop")
      ? {
        preStop: ({ followUps, text: response }, ctx) => {
          const { agent: { depth, name: agentName }, sessionId } = ctx
          const ended = { ...pathOf(ctx), stopReason: "end_turn" }
          const told = depth === 0
            ? fire("agentStop", { ...ended, stop_hook_active: followUps > 0 }, ctx)
            : fire("subagentStop", { ...ended, agentId: sessionId, agentType: agentName, agentName, response }, ctx)
          return then(told, ({ block, response: other, stop }) => {
            if (stop !== undefined) return HookAction.abort(stop)
            const goesOn = typeof block === "string"
            if (goesOn && followUps < maxBlocks) ctx.followUp(block)
            else if (goesOn) ctx.warn(`hooks kept the agent going ${maxBlocks} times in a row: it stops now`)
            else if (depth > 0 && other !== undefined) responses.set(sessionId, other)
            return undefined
          })
        }
      }
      : {}),
    ...(has("subagentStop")
      ? {
        postTurn: ({ output }, ctx) => {
          const text = responses.get(ctx.sessionId)
          responses.delete(ctx.sessionId)
          return text === undefined ? undefined : HookAction.transform({ ...output, text })
        }
      }
      : {}),
    ...(has("errorOccurred")
      ? {
        onLlmError: ({ attempt, decision, error }, ctx) =>
          Effect.map(failed(error, "model_call", decision.type !== "fail", ctx), ({ handling, retries = 1 }) => {
            if (handling === "abort") return HookAction.abort(`a hook ended the turn: ${error.message}`)
            if (handling !== "retry" || attempt > retries || decision.type === "retry") return undefined
            return HookAction.transform({ type: "retry" as const, delayMs: 250 * 2 ** Math.min(attempt - 1, 8) })
          }),
        onTurnError: ({ error }, ctx) => {
          // Each failed call of a model was told when it failed.
          if (isProviderError(error)) return undefined
          const refused = error._tag === "HookRejected" && error.point === "preTurn"
          return Effect.as(failed(error, refused ? "user_input" : "system", false, ctx), undefined)
        }
      }
      : {}),
    ...(has("preCompact")
      ? {
        preCompaction: ({ hint, trigger }, ctx) => {
          const told = {
            ...pathOf(ctx),
            trigger: trigger === "manual" ? "manual" : "auto",
            customInstructions: hint.instructions ?? ""
          }
          return then(fire("preCompact", told, ctx), () => undefined)
        }
      }
      : {}),
    ...(has("notification")
      ? {
        onSignal: ({ name: signal, payload }, ctx) => {
          if (signal.toLowerCase() !== "notification") return undefined
          const more = typeof payload === "object" && payload !== null && !Array.isArray(payload)
            ? payload as JsonObject
            : {}
          const told = { hook_event_name: "Notification", notification_type: "", message: "", ...more }
          return then(fire("notification", told, ctx), ({ contexts }) => contexts.forEach((one) => ctx.inject(one)))
        }
      }
      : {})
  }
  return HookDefaults.apply(options, { name, kind: "policy", timeout: "none", reinvoke: "ifChanged", ...points })
}

interface Call {
  readonly id: string
  readonly name: string
  readonly args: Json
  readonly about: ToolMeta | undefined
}

const then = <A>(
  verdict: Effect.Effect<Verdict> | undefined,
  f: (verdict: Verdict) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, f)

/** The error of a tool, of which only the text is known. */
const toolError = (message: string): Error => ({ name: "ToolError", message })

/** Behind a text; beside anything else. */
const withContext = (result: ToolResult, contexts: ReadonlyArray<string>, ctx: HookContext): ToolResult => {
  if (contexts.length === 0) return result
  const context = contexts.join("\n\n").slice(0, maxContext).toWellFormed()
  if (!result.ok) return failure(`${result.error}\n\n${context}`)
  if (typeof result.output === "string") return { ok: true, output: `${result.output}\n\n${context}` }
  ctx.inject(context)
  return result
}
