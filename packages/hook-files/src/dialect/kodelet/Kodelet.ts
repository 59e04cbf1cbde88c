/**
 * Executables of Kodelet as one hook: a file each, which says what it is for (`<file> hook`) and is told what happens
 * (`<file> run`).
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { PostStepEvent } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import type { JsonObject } from "@belay/core/Json"
import { type Message, text, type ToolCall } from "@belay/core/Message"
import { checkOptions, whole, within } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Entries from "../../engine/entries.ts"
import { notifyRefusal as tellUser } from "../../engine/refusal.ts"
import type { Finished } from "../../process/Command.ts"
import * as Runners from "../../Runners.ts"
import type { Warning } from "../claude/HookConfig.ts"
import { type Known, known, type ToolNames } from "../shared/toolNames.ts"
import { type Answer, type Change, meant, nothing, read, shown, type Type } from "./answer.ts"
import { executables, type Folder, type Handler } from "./config.ts"
import { ask, type Asked, type Typed } from "./events.ts"
import { cook, type Recipe } from "./recipes.ts"

export type { Folder, Handler } from "./config.ts"
export { folders } from "./config.ts"
export type { Recipe, RecipeInput } from "./recipes.ts"

/** @category models @since 0.1.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "timeout" | "onTimeout"> {
  /** What `find` found, in the order in which it counts. */
  readonly handlers: ReadonlyArray<Handler>
  /** The folder in which executables are asked what they are for. They run in the session's folder. */
  readonly projectDir: string
  /** Runs them. Default `Runners.make()`. */
  readonly runners?: Runners.Runners
  /**
   * What tools are called for executables. Default: as they are, but a shell of any name is `bash` with its `command`.
   */
  readonly toolNames?: ToolNames
  /** What callbacks may run. `compact` is there without being named: the agent's model writes a summary. */
  readonly recipes?: { readonly [name: string]: Recipe }
  /**
   * Runs the recipe `compact` after a step when so much of the window is used, from 0 to 1; 0 never does. Default: not
   * at all.
   */
  readonly autoCompact?: number
  /** Milliseconds that one run may take. Default 30,000. */
  readonly timeoutMs?: number
  /**
   * What one that broke, took too long, or could not say what it is for, means for a prompt or a tool call. Default
   * `continue`, as Kodelet does.
   */
  readonly onBroken?: "continue" | "block"
  /** Milliseconds that what nobody waits for may go on after the session's end. Default 5,000. */
  readonly drainMs?: number
  /**
   * Says why an executable may not run now, where it may not: a tool call that it could have blocked is then asked
   * about, and elsewhere it counts as broken.
   */
  readonly refuse?: (handler: Handler) => string | undefined
}

/**
 * Lists the executables of folders, and runs nothing: regular files with an execute bit, by name, without those that
 * end with `.disable`.
 *
 * @example
 * ```ts
 * import * as Kodelet from "@belay/hook-files/Kodelet"
 *
 * const { handlers } = Kodelet.find(Kodelet.folders({ cwd: "/srv/app", home: "/srv/ada" }))
 * const hook = Kodelet.make({ handlers, projectDir: "/srv/app", autoCompact: 0.8 })
 * ```
 * @category reading
 * @since 0.1.0
 */
export const find = (
  folders: ReadonlyArray<Folder>
): { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } => {
  const { found, warnings } = executables(folders)
  return { handlers: found, warnings }
}

/**
 * Makes a hook of executables. Each is asked once what it is for, when the hook first runs. They run one after the
 * other: of those before a tool call or a message the first that blocks decides and the
 * others are not run; a new input or output is what the next one is told. One that breaks is a warning. Throws a
 * `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as Kodelet from "@belay/hook-files/Kodelet"
 *
 * const { handlers } = Kodelet.find([{ path: "/srv/ada/.kodelet/hooks", ofProject: false }])
 * const hook = Kodelet.make({
 *   handlers,
 *   projectDir: "/srv/app",
 *   recipes: { handoff: "Write a handoff for {{.reader}}.", last: ({ messages }) => `${messages.length} messages so far` }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { autoCompact, handlers, name = "kodelet", projectDir, recipes = {}, timeoutMs = 30_000, toolNames = {} } =
    options
  Result.getOrThrow(
    checkOptions(
      name,
      within("autoCompact", autoCompact, 0, 1),
      whole("timeoutMs", timeoutMs, 1),
      whole("drainMs", options.drainMs)
    )
  )
  const { onBroken = "continue", refuse, runners = Runners.make() } = options
  const entries = Entries.make<Running>({
    runners,
    refuse: refuse === undefined ? undefined : ({ handler }) => refuse(handler),
    refuser: refuse,
    drainMs: options.drainMs
  })
  const turns = HookState.key(`${name}/turn`, Turn, { turn: 0 })
  const counts = HookState.key(`${name}/counts`, Counts, { turn: 0, steps: 0, before: none, now: none })

  let asking: Fiber.Fiber<Asked> | undefined
  const told = new Set<string>()
  /** What the executables are for; each is asked once, and not by a turn that may be cancelled. */
  const all = (ctx: HookContext): Effect.Effect<Asked> =>
    Effect.suspend(() => {
      if (handlers.length === 0 || current(ctx).off) {
        return Effect.succeed({ typed: [], problems: [], broken: [], refused: [] })
      }
      asking ??= Effect.runFork(ask(handlers, projectDir, { runners, refuse }, ctx))
      return Effect.map(Fiber.join(asking), (asked) => {
        asked.problems.filter((problem) => !told.has(problem)).forEach(ctx.warn)
        asked.problems.forEach((problem) => told.add(problem))
        for (const { handler, why } of asked.refused) tellUser(refuse!, handler.file, why, ctx)
        // They are asked as soon as they may run.
        if (asked.refused.length > 0) asking = undefined
        return asked
      })
    })
  const of = (ctx: HookContext, ...wanted: ReadonlyArray<Type>): Effect.Effect<ReadonlyArray<Typed>> =>
    Effect.map(all(ctx), ({ typed }) => typed.filter(({ type }) => wanted.includes(type)))

  /** Why nobody knows whether an executable would have blocked, where that counts. */
  const unsure = (ctx: HookContext): Effect.Effect<string | undefined> =>
    onBroken === "block"
      ? Effect.map(all(ctx), ({ broken }) => broken.length === 0 ? undefined : `a hook broke: ${broken.join("; ")}`)
      : never

  /** What the host said about this turn. */
  const current = (ctx: HookContext): { readonly recipe?: string; readonly off: boolean } => {
    const { off = false, recipe, turn } = ctx.root.state.get(turns)
    return turn !== ctx.root.turnNumber ? { off: false } : { off, ...(recipe === undefined ? {} : { recipe }) }
  }

  const run = ({ handler, type }: Typed, more: JsonObject, ctx: HookContext): Effect.Effect<Answer> => {
    const { recipe = "" } = current(ctx)
    const input = {
      event: type,
      conv_id: ctx.sessionId,
      cwd: ctx.cwd,
      invoked_by: ctx.agent.invokedBy,
      ...(recipe === "" ? {} : { recipe_name: recipe }),
      ...more
    }
    let asks: string | undefined
    const said = (finished: Finished, refused: string | undefined) => {
      asks = refused
      return Entries.answered(read(type, name))(finished, refused)
    }
    return Effect.map(
      entries.run({ ...handler, event: type, handler }, { input, cwd: ctx.cwd, timeoutMs }, said, ctx),
      ({ answer }) =>
        Result.match(answer, {
          onFailure: (problem) => {
            ctx.warn(`${handler.key} (${type}) ${problem}`)
            const guards = onBroken === "block" && (type === "before_tool_call" || type === "user_message_send")
            return guards
              ? { ...nothing, blocked: `a hook broke: it ${problem}` }
              : { ...nothing, ...(asks === undefined ? {} : { asks }) }
          },
          onSuccess: (said) => {
            for (const problem of said.problems) ctx.warn(`${handler.key}: ${problem}`)
            return said
          }
        })
    )
  }

  const seen = (call: ToolCall, about: ToolMeta | undefined, ctx: HookContext): Known => {
    const one = known(call.name, call.args, toolNames, ctx.cwd, about)
    if (Object.hasOwn(toolNames, call.name)) return one
    return one.name === "Bash"
      ? { ...one, name: "bash" }
      : known(call.name, call.args, { [call.name]: { name: call.name } }, ctx.cwd, about)
  }

  /** Counts a step, and says what is used of the conversation so far. */
  const usage = (
    { budget, usage: { inputTokens, outputTokens } }: Pick<PostStepEvent, "budget" | "usage">,
    ctx: HookContext,
    step: boolean
  ) => {
    const { before, now, steps } = ctx.state.update(counts, (old) => ({
      turn: ctx.turnNumber,
      steps: old.steps + (step ? 1 : 0),
      before: old.turn === ctx.turnNumber
        ? old.before
        : { input: old.before.input + old.now.input, output: old.before.output + old.now.output },
      now: { input: inputTokens, output: outputTokens }
    }))
    return {
      steps,
      usage: {
        input_tokens: before.input + now.input,
        output_tokens: before.output + now.output,
        current_context_window: budget.usedTokens,
        max_context_window: budget.windowTokens
      }
    }
  }
  const compacting = autoCompact === undefined || autoCompact === 0
    ? { auto_compact_enabled: false }
    : { auto_compact_enabled: true, auto_compact_threshold: autoCompact }

  /** The history after a change; nothing where it stays as it is. */
  const changed = (change: Change | undefined, messages: ReadonlyArray<Message>, ctx: HookContext) => {
    if (change === undefined) return Effect.succeed(undefined)
    if (change.type === "mutate") return Effect.succeed(HookAction.transform(change.messages))
    return Effect.map(
      cook(change.recipe, { messages, args: change.args, ctx }, recipes),
      (output) =>
        output === undefined
          ? undefined
          : HookAction.transform([{ role: "user" as const, content: output, source: name }])
    )
  }

  return HookDefaults.apply(options, {
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    close: () => entries.drained,
    onSessionEnd: (_end, ctx) => ctx.agent.depth > 0 ? undefined : entries.end(ctx.root.sessionId),
    preTurn: ({ message, metadata = {} }, ctx) =>
      Effect.gen(function*() {
        if (ctx.agent.depth === 0) {
          const { hooks, recipe } = metadata
          ctx.root.state.set(turns, {
            turn: ctx.root.turnNumber,
            ...(typeof recipe === "string" ? { recipe } : {}),
            ...(hooks === "none" ? { off: true } : {})
          })
        }
        const why = yield* unsure(ctx)
        if (why !== undefined) return HookAction.reject(`message blocked by hook: ${why}`)
        for (const one of yield* of(ctx, "user_message_send")) {
          const { blocked } = yield* run(one, { message }, ctx)
          if (blocked !== undefined) return HookAction.reject(`message blocked by hook: ${blocked}`)
        }
        return undefined
      }),
    preToolCall: (call, ctx) =>
      Effect.gen(function*() {
        const why = yield* unsure(ctx)
        if (why !== undefined) return HookAction.reject(why)
        const { back, input: first, name: tool } = seen(call, call.tool, ctx)
        let input = first
        let unaware: ReadonlyArray<Typed> = []
        const hooks = yield* of(ctx, "before_tool_call")
        // What could not be asked may guard calls, for all that is known.
        let asks = (yield* all(ctx)).refused[0]?.why
        const judge = (one: Typed) => run(one, { tool_name: tool, tool_input: input, tool_user_id: call.id }, ctx)
        for (const [index, one] of hooks.entries()) {
          const answer = yield* judge(one)
          if (answer.blocked !== undefined) return HookAction.reject(answer.blocked)
          asks ??= answer.asks
          if (answer.input !== undefined && one.handler.ofProject) {
            unaware = hooks.slice(0, index).filter(({ handler }) => !handler.ofProject)
          }
          input = answer.input ?? input
        }
        // What the project made of a call after the user's had let it pass is theirs to judge as well.
        for (const one of unaware) {
          const answer = yield* judge(one)
          if (answer.blocked !== undefined) return HookAction.reject(answer.blocked)
          asks ??= answer.asks
          input = answer.input ?? input
        }
        if (asks !== undefined) return HookAction.ask(asks, undefined, input === first ? {} : { args: back(input) })
        return input === first ? undefined : HookAction.transform({ id: call.id, name: call.name, args: back(input) })
      }),
    postToolCall: ({ call, executed, result: first, tool: about }, ctx) =>
      Effect.gen(function*() {
        if (!executed) return undefined
        const { input, name: tool } = seen(call, about, ctx)
        let result = first
        for (const one of yield* of(ctx, "after_tool_call")) {
          const output = shown(tool, result, new Date(yield* Clock.currentTimeMillis).toISOString())
          const answer = yield* run(one, {
            tool_name: tool,
            tool_input: input,
            tool_output: output,
            tool_user_id: call.id
          }, ctx)
          if (answer.output !== undefined) result = meant(result, output, answer.output) ?? result
        }
        return result === first ? undefined : HookAction.transform(result)
      }),
    postStep: (step, ctx) =>
      Effect.gen(function*() {
        const { steps, usage: used } = usage(step, ctx, true)
        const { current_context_window: now, max_context_window: most } = used
        if (!current(ctx).off && compacting.auto_compact_enabled && most > 0 && now / most >= autoCompact!) {
          return yield* changed({ type: "callback", recipe: "compact", args: {} }, step.messages, ctx)
        }
        const last = step.messages.findLast((message) => message.role === "assistant")
        const about = {
          after_turn: {
            turn_number: steps,
            tools_used: (last?.toolCalls ?? []).length > 0,
            usage: used,
            ...compacting
          },
          turn_end: { turn_number: steps, response: last === undefined ? "" : text(last) }
        }
        let change: Change | undefined
        for (const one of yield* of(ctx, "after_turn", "turn_end")) {
          const answer = yield* run(one, about[one.type as keyof typeof about], ctx)
          change = first(change, answer.change, one, ctx)
        }
        return yield* changed(change, step.messages, ctx)
      }),
    preStop: (stop, ctx) =>
      Effect.gen(function*() {
        const { usage: used } = usage(stop, ctx, false)
        const { recipe = "" } = current(ctx)
        const about = { messages: stop.messages.flatMap(spoken), usage: used, invoked_recipe: recipe, ...compacting }
        const followUps: Array<string> = []
        let change: Change | undefined
        for (const one of yield* of(ctx, "agent_stop")) {
          const answer = yield* run(one, about, ctx)
          change = first(change, answer.change, one, ctx)
          followUps.push(...answer.followUps)
        }
        if (change === undefined) followUps.forEach(ctx.followUp)
        return yield* changed(change, stop.messages, ctx)
      }),
    preCompaction: ({ messages, trigger }, ctx) =>
      trigger !== "manual" || (autoCompact === undefined && !Object.hasOwn(recipes, "compact"))
        ? undefined
        : Effect.map(cook("compact", { messages, args: {}, ctx }, recipes), (summary) =>
          summary === undefined
            ? undefined
            : HookAction.respond({
              messages: [...messages.filter((message) => message.role === "user" && message.pinned === true), {
                role: "user" as const,
                content: summary,
                source: name
              }],
              summary
            }))
  })
}

/** An executable that is run for what it is for. */
interface Running extends Entries.Entry {
  readonly handler: Handler
}

const Turn = Schema.Struct({
  turn: Schema.Finite,
  recipe: Schema.optionalKey(Schema.String),
  off: Schema.optionalKey(Schema.Boolean)
})
const Tokens = Schema.Struct({ input: Schema.Finite, output: Schema.Finite })
const Counts = Schema.Struct({ turn: Schema.Finite, steps: Schema.Finite, before: Tokens, now: Tokens })
const none = { input: 0, output: 0 }
const never = Effect.succeed(undefined)

const first = (
  change: Change | undefined,
  next: Change | undefined,
  { handler }: Typed,
  ctx: HookContext
): Change | undefined => {
  if (change === undefined || next === undefined) return change ?? next
  ctx.warn(
    `${handler.key} wants to ${
      next.type === "mutate" ? "change the history" : "run a recipe"
    }, but an earlier hook did already`
  )
  return change
}

const spoken = (message: Message): ReadonlyArray<JsonObject> => {
  const content = message.role === "tool" ? "" : text(message)
  return content === "" ? [] : [{ role: message.role, content }]
}
