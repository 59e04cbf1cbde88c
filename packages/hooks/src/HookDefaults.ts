/**
 * What every ready-made hook can be told besides its own options: its name and place, when it counts, and how it fails.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook, HookOptions } from "@belay/core/AgentHook"
import type { HookAction } from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, names } from "@belay/core/HookPoint"
import { digest } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** What a hook decided, for `onDecision`. @category models @since 0.1.0 */
export interface Decision {
  readonly hook: string
  readonly point: HookPointName
  readonly action: Exclude<HookAction["_tag"], "Continue">
  /** Of Reject, Abort and Ask. */
  readonly reason?: string
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
}

/** Options that every ready-made hook takes. @category models @since 0.1.0 */
export interface HookDefaults extends
  Partial<
    Pick<
      HookOptions,
      | "name"
      | "priority"
      | "tier"
      | "before"
      | "after"
      | "failOpen"
      | "onFailure"
      | "onTimeout"
      | "timeout"
      | "mode"
      | "tools"
      | "override"
    >
  >
{
  /** False makes a hook that does nothing, so that a configuration can switch it off. Default true. */
  readonly enabled?: boolean
  /** The hook counts only where this is not `false`. One that breaks counts. */
  readonly when?: (ctx: HookContext) => boolean
  /** Only for agents of these names; `*` stands for any characters, a leading `!` excludes. */
  readonly agents?: string | ReadonlyArray<string>
  /** Only for agents at most so deep: 0 is the agent that the host started. */
  readonly maxDepth?: number
  /** The share of turns in which the hook counts, from 0 to 1; a turn is in or out as a whole. Default 1. */
  readonly sample?: number
  /** Hears what the hook decides, whenever it is not Continue. What it throws is ignored. */
  readonly onDecision?: (decision: Decision) => void
}

/**
 * Applies the common options to a hook. Throws a `ConfigError` for one that makes no sense.
 *
 * @example
 * ```ts
 * import { defineHook } from "@belay/core/AgentHook"
 * import * as HookAction from "@belay/core/HookAction"
 * import * as HookDefaults from "@belay/hooks/HookDefaults"
 *
 * const noDeploys = (options: HookDefaults.HookDefaults = {}) =>
 *   HookDefaults.apply(options, defineHook({ name: "no-deploys", tools: "deploy", preToolCall: () => HookAction.reject("not now") }))
 * const hook = noDeploys({ maxDepth: 0, onDecision: ({ reason }) => console.log(reason) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const apply = <R>(options: HookDefaults, hook: AgentHook<R>): AgentHook<R> => {
  const { agents, enabled, maxDepth, onDecision, sample, when } = Result.getOrThrow(
    check(options, options.name ?? hook.name)
  )
  const name = options.name ?? hook.name
  const shaped = { ...hook, ...overrides(options) }
  if (enabled === false) {
    return Object.fromEntries(Object.entries(shaped).filter(([key]) => !methods.has(key) && key !== "hold")) as never
  }
  const tests: Array<(ctx: HookContext) => boolean> = []
  if (maxDepth !== undefined) tests.push(({ agent }) => agent.depth <= maxDepth)
  if (agents !== undefined) {
    const fits = matcher(agents)
    tests.push(({ agent }) => fits(agent.name))
  }
  if (sample !== undefined) tests.push((ctx) => share(name, ctx) < sample)
  if (when !== undefined) {
    tests.push((ctx) =>
      Result.match(Result.try(() => when(ctx)), { onSuccess: (answer) => answer !== false, onFailure: () => true })
    )
  }
  if (tests.length === 0 && onDecision === undefined) return shaped
  const counts = (ctx: HookContext) => tests.every((test) => test(ctx))
  const record = shaped as unknown as Record<string, unknown>
  for (const point of names) {
    const method = record[point]
    if (typeof method !== "function") continue
    record[point] = (event: unknown, ctx: HookContext) => {
      if (!counts(ctx)) return undefined
      const answer: unknown = method.call(shaped, event, ctx)
      return onDecision === undefined
        ? answer
        : heard(answer, (action) => tell(onDecision, shaped.name, point, action, ctx))
    }
  }
  for (const wrapper of wrappers) {
    const method = record[wrapper]
    if (typeof method !== "function" || tests.length === 0) continue
    record[wrapper] = (input: unknown, next: (input: unknown) => unknown, ctx: HookContext) =>
      counts(ctx) ? method.call(shaped, input, next, ctx) : next(input)
  }
  return shaped
}

const wrappers = ["wrapLlmCall", "wrapToolCall"] as const

const methods: ReadonlySet<string> = new Set([...names, ...wrappers, "concealMessages", "revealText"])

const placed = [
  "name",
  "priority",
  "tier",
  "before",
  "after",
  "failOpen",
  "onFailure",
  "onTimeout",
  "timeout",
  "mode",
  "tools",
  "override"
] as const

const overrides = (options: HookDefaults): object =>
  Object.fromEntries(placed.flatMap((key) => options[key] === undefined ? [] : [[key, options[key]]]))

/** Where a turn falls between 0 and 1: always the same for a hook and a turn. */
const share = (name: string, { sessionId, turnNumber }: HookContext): number =>
  Number.parseInt(digest([name, sessionId, turnNumber]).slice(-8), 16) / 2 ** 32

/** Lets `listen` hear an answer, whenever it comes. */
const heard = (answer: unknown, listen: (answer: unknown) => void): unknown => {
  if (typeof answer !== "object" || answer === null) return answer
  if (Effect.isEffect(answer)) return Effect.tap(answer, (said) => Effect.sync(() => listen(said)))
  if ("then" in answer && typeof answer.then === "function") {
    return Promise.resolve(answer as PromiseLike<unknown>).then((said) => {
      listen(said)
      return said
    })
  }
  if (Symbol.iterator in answer) {
    return Effect.tap(
      Effect.gen(() => answer as Generator<never, unknown, never>),
      (said) => Effect.sync(() => listen(said))
    )
  }
  listen(answer)
  return answer
}

const tell = (
  onDecision: NonNullable<HookDefaults["onDecision"]>,
  hook: string,
  point: HookPointName,
  action: unknown,
  { sessionId, stepNumber, turnNumber }: HookContext
): void => {
  if (typeof action !== "object" || action === null || !("_tag" in action) || action._tag === "Continue") return
  const { _tag, reason } = action as { readonly _tag: Decision["action"]; readonly reason?: string }
  Result.try(() =>
    onDecision({
      hook,
      point,
      action: _tag,
      ...(reason === undefined ? {} : { reason }),
      sessionId,
      turnNumber,
      stepNumber
    })
  )
}

const check = (options: HookDefaults, name: string): Result.Result<HookDefaults, ConfigError> => {
  const { maxDepth, sample } = options
  const refuse = (key: string, expected: string, found: unknown) =>
    Result.fail(
      new ConfigError({
        key: `${name}.${key}`,
        message: `${name}.${key}: expected ${expected}, found ${String(found)}`
      })
    )
  if (sample !== undefined && !(sample >= 0 && sample <= 1)) return refuse("sample", "a number from 0 to 1", sample)
  if (maxDepth !== undefined && !(maxDepth >= 0)) return refuse("maxDepth", "a number from 0", maxDepth)
  return Result.succeed(options)
}
