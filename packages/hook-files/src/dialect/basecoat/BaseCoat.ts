/**
 * Hooks of Base Coat as one hook, from `hooks.json`, from `mcp.json` and from code: eight events, one envelope, four
 * answers.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { TokenBudget } from "@belay/core/Compaction"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { Json, JsonObject } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { normalizeError } from "@belay/hooks/ErrorKnowledge"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Entries from "../../engine/entries.ts"
import * as Runners from "../../Runners.ts"
import type { Warning } from "../claude/HookConfig.ts"
import { fire, fitting, type Verdict } from "./chain.ts"
import * as Config from "./config.ts"
import type { Envelope, EventName, Handler, Kind, Run, Tool } from "./events.ts"
import { changed, decodeHint, place, plain, sum, toolOf } from "./input.ts"
import { whereabouts } from "./repository.ts"
import { Budget, recurrenceOf, Tally } from "./state.ts"

export type { Envelope, EventName, Handler, Kind, Response, Run, Tool } from "./events.ts"

/**
 * Reads the text of `hooks.json` or `mcp.json`. What is malformed is a warning that names the key, and the rest counts;
 * a `hooks.json` of another version than 1 does not count at all.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const text = `{ "version": 1, "hooks": { "PreToolUse": [{ "command": "python hooks/pre_tool.py", "priority": 20 }] } }`
 * const { handlers, warnings } = BaseCoat.decode(text, "hooks.json")
 * const hook = BaseCoat.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode: (
  text: string,
  file: string
) => { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } = Config.decode

/** Hooks of code. @category models @since 0.1.0 */
export interface Runtime {
  readonly hooks: {
    /** Adds a hook, also while agents are at work, and gives back what takes it away again. */
    readonly register: (event: EventName, run: Run, options?: RegisterOptions) => () => void
  }
  /** Those that are registered now, in the order of their registration. */
  readonly handlers: () => ReadonlyArray<Handler>
}

/** @category models @since 0.1.0 */
export interface RegisterOptions {
  /** Names the hook in warnings and events. */
  readonly id?: string
  /** Lower runs first. Default 100. */
  readonly priority?: number
  readonly kind?: Kind
  readonly timeoutMs?: number
}

/**
 * Makes a place where code registers hooks.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const runtime = BaseCoat.runtime()
 * runtime.hooks.register("SessionStart", async (event) => ({
 *   action: "injectContext",
 *   additionalContext: [`You work on ${event.repository}, branch ${event.branch}.`]
 * }))
 * const hook = BaseCoat.make({ runtime, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const runtime = (): Runtime => {
  let all: ReadonlyArray<Handler> = []
  let count = 0
  return {
    hooks: {
      register: (event, run, { id, kind, priority = 100, timeoutMs } = {}) => {
        const handler: Handler = {
          event,
          file: "",
          key: id ?? `${event}#${++count}`,
          priority,
          work: { type: "code", run },
          ...(kind === undefined ? {} : { kind }),
          ...(timeoutMs === undefined ? {} : { timeoutMs })
        }
        all = [...all, handler]
        return () => void (all = all.filter((one) => one !== handler))
      }
    },
    handlers: () => all
  }
}

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `decode` read, in the order of the files. */
  readonly handlers?: ReadonlyArray<Handler>
  /** Hooks of code, which come after those of files where priorities are equal. */
  readonly runtime?: Runtime
  /**
   * The folder of the project, in which repository and branch are looked up where the session has no folder of its own.
   */
  readonly projectDir: string
  /** Runs commands and tools. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /** Milliseconds that one hook may take, unless it says otherwise. Default 3,000. */
  readonly timeoutMs?: number
  /** Tokens that count as all, until the agent says how many its window has. */
  readonly effectiveLimit?: number
  /** Milliseconds in which the same failure is told only once. Default 60,000. */
  readonly quietMs?: number
  /**
   * What a hook that broke, or took too long, means for a tool call. Those of kind `advisory` and `telemetry` never
   * block. Default `continue`, as Base Coat does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why a command or a tool may not run now, where it may not: a tool call that it could have blocked is then
   * asked about, and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Makes a hook of them. They run by priority, one after the other: what one modifies is what the next is told, context
 * adds up, and the first that blocks ends the chain but for telemetry. One that breaks
 * passes through with the warning `Hook failed: …`. Throws a `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as BaseCoat from "@belay/hook-files/BaseCoat"
 *
 * const runtime = BaseCoat.runtime()
 * runtime.hooks.register("OnBudgetExceeded", () => ({ action: "block", reason: "rotate the session before continuing" }), { kind: "policy" })
 * const hook = BaseCoat.make({ runtime, projectDir: "/srv/app", timeoutMs: 1_000 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { effectiveLimit = 0, handlers = [], name = "base-coat", quietMs = 60_000, timeoutMs = 3_000 } = options
  Result.getOrThrow(
    checkOptions(
      name,
      whole("timeoutMs", timeoutMs, 1),
      whole("quietMs", quietMs),
      whole("effectiveLimit", effectiveLimit),
      whole("drainMs", options.drainMs)
    )
  )
  const setup = {
    handlers: () => options.runtime === undefined ? handlers : [...handlers, ...options.runtime.handlers()],
    entries: Entries.make<Handler & { readonly work: Runners.Work }>({
      runners: options.runners ?? Runners.make(),
      refuse: options.refuse,
      drainMs: options.drainMs
    }),
    timeoutMs,
    blockOnError: options.onBroken === "block"
  }
  const budgets = HookState.key(`${name}/budget`, Budget, { usedTokens: 0, effectiveLimit })
  const tallies = HookState.key(`${name}/tally`, Tally, { calls: 0, failures: 0, rotations: 0, errors: [] })

  const note = (ctx: HookContext, used: number, limit: number): void =>
    ctx.root.state.set(budgets, {
      usedTokens: used,
      effectiveLimit: limit > 0 ? limit : ctx.root.state.get(budgets).effectiveLimit
    })
  const noteBudget = (ctx: HookContext, { usedTokens, windowTokens }: TokenBudget) =>
    note(ctx, usedTokens, windowTokens)

  /** Runs the hooks of an event; nothing where there are none. */
  const at = (
    event: EventName,
    ctx: HookContext,
    more: { readonly [key: string]: Json | undefined },
    metrics: (verdict: Verdict) => JsonObject = () => ({})
  ): Effect.Effect<Verdict> | undefined => {
    const found = fitting(setup, event)
    if (found.length === 0) return undefined
    return Effect.gen(function*() {
      const begin = yield* Clock.currentTimeMillis
      const envelope: Envelope = {
        hook: event,
        timestamp: new Date(begin).toISOString(),
        sessionId: ctx.root.sessionId,
        agent: ctx.agent.name,
        ...whereabouts(ctx.cwd === "" ? options.projectDir : ctx.cwd),
        budget: ctx.root.state.get(budgets),
        ...more
      }
      const verdict = yield* fire(found, envelope, place, setup, ctx)
      if (ctx.events.active) {
        const elapsedMs = (yield* Clock.currentTimeMillis) - begin
        ctx.events.emit("base-coat", {
          event,
          hooks: found.length,
          elapsedMs,
          ...metrics(verdict),
          metadata: verdict.metadata
        })
      }
      if (event !== "OnError") {
        for (const { hookId, message } of verdict.failures) {
          const heard = yield* failed(ctx, { source: "hook", hook: hookId, event }, hookId, message)
          if (heard !== undefined) told(heard, ctx)
        }
      }
      return verdict
    })
  }

  const tell = ({ warnings }: Verdict, ctx: HookContext): void => warnings.forEach((warning) => ctx.warn(warning))
  const told = ({ context, ...verdict }: Verdict, ctx: HookContext): void => {
    tell({ context, ...verdict }, ctx)
    context.forEach((one) => ctx.inject(one))
  }

  /**
   * Tells of a failure; of one that comes again soon, what hooks say about it is kept from whoever heard it already.
   */
  const failed = (
    ctx: HookContext,
    about: JsonObject,
    where: string,
    message: string,
    tool?: Tool
  ): Effect.Effect<Verdict | undefined> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const signature = `${where}: ${normalizeError(message)}`
      let recurrence = 1
      let duplicate = false
      ctx.root.state.update(tallies, (tally) => {
        const before = tally.errors.find((error) => error.signature === signature)
        recurrence = (before?.count ?? 0) + 1
        duplicate = before !== undefined && now - before.at < quietMs
        const others = tally.errors.filter((error) => error !== before)
        return {
          ...tally,
          errors: [...others, { signature, count: recurrence, at: duplicate ? before!.at : now }].slice(-100)
        }
      })
      const error = { ...about, message, signature, recurrence, duplicate }
      const fired = at(
        "OnError",
        ctx,
        { ...(tool === undefined ? {} : { tool }), error },
        () => ({ class: signature, recurrence })
      )
      if (fired === undefined) return undefined
      const verdict = yield* fired
      if (duplicate) return { ...verdict, context: [], warnings: [] }
      return verdict
    })

  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    observes: ["postLlmCall", "onLlmError"],
    onSessionStart: (start, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const { context, previous, sessionId, source } = start
      const more = {
        source,
        sessionId,
        ...(previous === undefined ? {} : { previous }),
        handoff: source === "rotate" ? context.map(text) : []
      }
      const fired = at("SessionStart", ctx, more, (verdict) => ({ memoryHits: verdict.context.length }))
      return fired && Effect.map(fired, (verdict) => {
        tell(verdict, ctx)
        if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked.reason)
        const added = verdict.context.map((content): Message => ({
          role: "user",
          content: content.slice(0, 10_000).toWellFormed(),
          source: name
        }))
        return added.length === 0 ? undefined : HookAction.transform({ ...start, context: [...context, ...added] })
      })
    },
    close: () => setup.entries.drained,
    onSessionEnd: ({ reason, sessionId }, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const fired = at(
        "SessionEnd",
        ctx,
        { reason, sessionId },
        ({ metadata }) => ({ persistedFacts: sum(metadata, "persistedFacts") })
      )
      const last = setup.entries.end(ctx.root.sessionId)
      return fired === undefined ? last : Effect.andThen(Effect.map(fired, (verdict) => tell(verdict, ctx)), last)
    },
    preToolCall: (call, ctx) => {
      const { args, id, name: tool, tool: { destructive = false, readOnly = false } } = call
      const fired = at(
        "PreToolUse",
        ctx,
        { tool: { name: tool, callId: id, input: args }, readOnly, destructive },
        ({ context, policies }) => ({
          toolCategory: readOnly ? "read" : destructive ? "destructive" : "write",
          policyChecks: policies,
          warningsInjected: context.length
        })
      )
      return fired && Effect.map(fired, (verdict) => {
        told(verdict, ctx)
        if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked.reason)
        if (verdict.asks !== undefined) {
          return HookAction.ask(verdict.asks, undefined, verdict.input === undefined ? {} : { args: verdict.input })
        }
        return verdict.input === undefined ? undefined : HookAction.transform({ id, name: tool, args: verdict.input })
      })
    },
    postToolCall: ({ call, elapsedMs, executed, result: first }, ctx) =>
      executed && (fitting(setup, "PostToolUse").length > 0 || (!first.ok && fitting(setup, "OnError").length > 0))
        ? Effect.gen(function*() {
          let result = first
          const tally = ctx.root.state.update(tallies, (old) => ({
            ...old,
            calls: old.calls + 1,
            failures: old.failures + (first.ok ? 0 : 1)
          }))
          const tool = () => toolOf(call.name, call.id, call.args, elapsedMs, result)
          // The error as the hooks of OnError make it is what the others are told.
          const error = result.ok ? undefined : yield* failed(ctx, { source: "tool" }, call.name, result.error, tool())
          if (error !== undefined) {
            told(error, ctx)
            result = changed(result, error.output)
          }
          const repeated = first.ok
            ? 0
            : recurrenceOf(ctx.root.state.get(tallies), `${call.name}: ${normalizeError(first.error)}`)
          const fired = at("PostToolUse", ctx, { tool: tool() }, () => ({
            durationMs: elapsedMs,
            success: result.ok,
            successRate: (tally.calls - tally.failures) / tally.calls,
            retryCount: repeated,
            loopScore: repeated
          }))
          const verdict = fired === undefined ? undefined : yield* fired
          if (verdict !== undefined) {
            told(verdict, ctx)
            result = changed(result, verdict.output)
          }
          const reasons = [error?.blocked?.reason, verdict?.blocked?.reason].filter((reason) => reason !== undefined)
          if (result === first) return reasons.length === 0 ? undefined : HookAction.reject(reasons.join("\n"))
          reasons.forEach((reason) => ctx.inject(reason))
          return HookAction.transform(result)
        })
        : undefined,
    postLlmCall: ({ executed, response: { usage } }, ctx) => {
      if (executed && usage !== undefined && ctx.agent.depth === 0) note(ctx, usage.inputTokens + usage.outputTokens, 0)
    },
    postStep: ({ budget }, ctx) => {
      if (ctx.agent.depth === 0) noteBudget(ctx, budget)
    },
    onLlmError: ({ error: { _tag, message }, provider }, ctx) =>
      fitting(setup, "OnError").length === 0
        ? undefined
        : Effect.map(
          failed(ctx, { source: "model", provider, class: _tag }, provider, message),
          (verdict) => verdict && told(verdict, ctx)
        ),
    preCompaction: ({ budget, hint, messages, trigger }, ctx) => {
      noteBudget(ctx, budget)
      const fired = at(
        "PreCompact",
        ctx,
        { trigger, messages: messages.map(plain), hint: { ...hint, anchors: hint.anchors ?? [] } },
        ({ context }) => ({ tokenLoad: budget.usedTokens, handoffSize: context.join("\n").length })
      )
      return fired && Effect.map(fired, (verdict) => {
        told(verdict, ctx)
        if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked.reason)
        if (verdict.input === undefined) return undefined
        const wanted = decodeHint(verdict.input)
        if (Option.isSome(wanted)) return HookAction.transform({ ...hint, ...wanted.value })
        ctx.warn("what is modified does not count at PreCompact: expected keepRecent, instructions or anchors")
        return undefined
      })
    },
    postCompaction: ({ budget, removedCount, summary }, ctx) => {
      const before = ctx.root.state.get(budgets).usedTokens
      noteBudget(ctx, budget)
      const fired = at("PostCompact", ctx, { summary, removedCount }, ({ context, metadata }) => ({
        retainedAnchors: sum(metadata, "retainedAnchors"),
        reinjectedAnchors: context.length,
        compressionRatio: before > 0 ? budget.usedTokens / before : 1
      }))
      return fired && Effect.map(fired, (verdict) => told(verdict, ctx))
    },
    onBudget: ({ kind, level, limit, scope, used }, ctx) => {
      const share = limit > 0 ? used / limit : 1
      const percent = Math.floor(100 * share)
      if (kind === "tokens" && scope === "window" && ctx.agent.depth === 0) note(ctx, used, limit)
      if (level === "warn") return ctx.warn(`${percent}% of the ${scope} budget of ${kind} is used`)
      const threshold = { kind, scope, used, limit, share }
      const rotations = ctx.root.state.get(tallies).rotations
      const fired = at("OnBudgetExceeded", ctx, { threshold }, () => ({ threshold: share, rotations }))
      return fired && Effect.map(fired, (verdict) => {
        told(verdict, ctx)
        if (verdict.blocked === undefined) return
        ctx.warn(verdict.blocked.reason)
        if (ctx.agent.depth > 0) return
        ctx.root.state.update(tallies, (tally) => ({ ...tally, rotations: tally.rotations + 1 }))
        ctx.rotate()
      })
    }
  })
}
