/**
 * The options that every ready-made hook takes in addition to its own: its name and order, when it is active, and how
 * it fails.
 *
 * @since 0.1.0
 */
import type { AgentHook, HookOptions } from "@belay/core/AgentHook"
import { assertArguments } from "@belay/core/ArgumentCheck"
import type { HookAction } from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, names } from "@belay/core/HookPoint"
import { digest } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as OptionCheck from "@belay/core/OptionCheck"
import { checkOptions, type OptionKinds, type OptionSpec, within } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** A decision of a hook. `onDecision` receives one for each action except Continue. @category models @since 0.1.0 */
export interface Decision {
  readonly hook: string
  readonly point: HookPointName
  readonly action: Exclude<HookAction["_tag"], "Continue">
  /** Present for Reject, Abort and Ask. */
  readonly reason?: string
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
}

/** The options of `HookOptions` that a caller can replace. */
const hookOptionNames = [
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

/**
 * Options that every ready-made hook takes. An option of `HookOptions` replaces the value that the ready-made hook has.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookDefaults extends Partial<Pick<HookOptions, (typeof hookOptionNames)[number]>> {
  /** `false` removes all methods of the hook, so that a configuration can switch it off. Default true. */
  readonly enabled?: boolean
  /** Whether the hook is active, by context. If this throws, the hook is active. Default: always. */
  readonly when?: (ctx: HookContext) => boolean
  /**
   * Names of the agents in which the hook is active; `*` stands for any characters, a leading `!` excludes. Default all
   * agents.
   */
  readonly agents?: string | ReadonlyArray<string>
  /**
   * The greatest depth of agents in which the hook is active: 0 is the agent that the host started, 1 its sub-agents.
   * Default any depth.
   */
  readonly maxDepth?: number
  /** The share of turns in which the hook is active, from 0 to 1. The choice holds for a whole turn. Default 1. */
  readonly sample?: number
  /** Receives every decision of the hook except Continue. An error that it throws is ignored. */
  readonly onDecision?: (decision: Decision) => void
}

/**
 * The options that a ready-made hook has in addition to `HookDefaults`, with their kinds.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnKinds<O> = OptionKinds<Omit<O, keyof HookDefaults>>

/**
 * The kinds of `HookDefaults`. The chain checks the options of `HookOptions` that are `any` here.
 *
 * @category models
 * @since 0.1.0
 */
export const commonKinds: OptionKinds<HookDefaults> = {
  enabled: "flag",
  when: "function",
  agents: "texts",
  maxDepth: "number",
  sample: "number",
  onDecision: "function",
  name: "text",
  priority: "any",
  tier: "any",
  before: "any",
  after: "any",
  failOpen: "any",
  onFailure: "any",
  onTimeout: "any",
  timeout: "any",
  mode: "any",
  tools: "texts",
  override: "any"
}

/**
 * Throws a `ConfigError` if a program passes an option that neither `HookDefaults` nor the hook has, an option of the
 * wrong kind, or not all required ones. `owner` is the default name of the hook.
 *
 * @category operations
 * @since 0.1.0
 */
export const checkKinds = (
  owner: string,
  options: unknown,
  own: { readonly [option: string]: OptionSpec },
  required: ReadonlyArray<string> = []
): void => {
  assertArguments(typeof owner === "string", "HookDefaults.checkKinds", ["owner"], [owner])
  Result.getOrThrow(OptionCheck.checkKinds(owner, options, { ...commonKinds, ...own }, required))
  if (typeof options === "object" && options !== null) owners.set(options, owner)
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null

/** The default name of the hook for which options were checked. */
const owners = new WeakMap<object, string>()

/**
 * Sets the `identity` of a ready-made hook, if it has none: in a tree of agents, it is the same hook as another one
 * that was made from the same options. They must have been checked with `checkKinds`.
 *
 * @category constructors
 * @since 0.2.0
 */
export const identify = <R>(options: object, hook: AgentHook<R>): AgentHook<R> => {
  assertArguments(isObject(hook), "HookDefaults.identify", ["options", "hook"], [options, hook])
  const kind = owners.get(options)
  return kind === undefined || hook.identity !== undefined ? hook : { ...hook, identity: { kind, options } }
}

/**
 * Applies the common options to a hook, for authors of ready-made hooks. Throws a `ConfigError` for an invalid option.
 * If `options` were checked with `checkKinds`, it also identifies the hook (see `identify`).
 *
 * @example
 * ```ts
 * import { defineHook } from "@belay/core/AgentHook"
 * import * as HookAction from "@belay/core/HookAction"
 * import * as HookDefaults from "@belay/hooks/HookDefaults"
 *
 * const noDeploys = (options: HookDefaults.HookDefaults = {}) =>
 *   HookDefaults.apply(
 *     options,
 *     defineHook({ name: "no-deploys", tools: "deploy", preToolCall: () => HookAction.reject("not now") })
 *   )
 * const hook = noDeploys({ maxDepth: 0, onDecision: ({ reason }) => console.log(reason) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const apply = <R>(options: HookDefaults, hook: AgentHook<R>): AgentHook<R> => {
  assertArguments(isObject(options) && isObject(hook), "HookDefaults.apply", ["options", "hook"], [options, hook])
  const name = options.name ?? hook.name
  Result.getOrThrow(checkOptions(
    name,
    within("sample", options.sample, 0, 1),
    ["maxDepth", options.maxDepth, (depth: number) => depth >= 0, "a number from 0"]
  ))
  const configured = { ...identify(options, hook), ...hookOptionsOf(options) }
  if (options.enabled === false) return withoutMethods(configured)
  const conditions = conditionsOf(options, name)
  if (conditions.length === 0 && options.onDecision === undefined) return configured
  const isActive = (ctx: HookContext) => conditions.every((condition) => condition(ctx))
  // Methods are replaced by name, so the types of their events do not matter here.
  const methods = configured as unknown as Record<string, unknown>
  for (const point of names) {
    const method = methods[point]
    if (typeof method === "function") {
      methods[point] = conditionalPoint(configured, method, point, isActive, options.onDecision)
    }
  }
  if (conditions.length > 0) {
    for (const wrapper of wrapperNames) {
      const method = methods[wrapper]
      if (typeof method === "function") methods[wrapper] = conditionalWrapper(configured, method, isActive)
    }
  }
  return configured
}

const wrapperNames = ["wrapLlmCall", "wrapToolCall"] as const

const methodNames: ReadonlySet<string> = new Set([...names, ...wrapperNames, "concealMessages", "revealText", "hold"])

const hookOptionsOf = (options: HookDefaults): object =>
  Object.fromEntries(hookOptionNames.flatMap((key) => options[key] === undefined ? [] : [[key, options[key]]]))

/** All methods of an `AgentHook` are optional, so its name and order alone are an `AgentHook` too. */
const withoutMethods = <R>(hook: AgentHook<R>): AgentHook<R> =>
  Object.fromEntries(Object.entries(hook).filter(([key]) => !methodNames.has(key))) as never

type Condition = (ctx: HookContext) => boolean

const conditionsOf = (options: HookDefaults, name: string): ReadonlyArray<Condition> => {
  const { agents, maxDepth, sample, when } = options
  const conditions: Array<Condition> = []
  if (maxDepth !== undefined) conditions.push(({ agent }) => agent.depth <= maxDepth)
  if (agents !== undefined) {
    const matches = matcher(agents)
    conditions.push(({ agent }) => matches(agent.name))
  }
  if (sample !== undefined) conditions.push((ctx) => positionOfTurn(name, ctx) < sample)
  if (when !== undefined) {
    conditions.push((ctx) => Result.getOrElse(Result.try(() => when(ctx)), () => true) !== false)
  }
  return conditions
}

/** A number from 0 to 1 that is always the same for a hook and a turn. */
const positionOfTurn = (name: string, { sessionId, turnNumber }: HookContext): number =>
  Number.parseInt(digest([name, sessionId, turnNumber]).slice(-8), 16) / 2 ** 32

/** Calls the method of a point if the hook is active, and reports the decision. */
const conditionalPoint = (
  hook: { readonly name: string },
  method: Function,
  point: HookPointName,
  isActive: Condition,
  onDecision: HookDefaults["onDecision"]
) =>
(event: unknown, ctx: HookContext): unknown => {
  if (!isActive(ctx)) return undefined
  const answer: unknown = method.call(hook, event, ctx)
  if (onDecision === undefined) return answer
  return observe(answer, (action) => reportDecision(onDecision, hook.name, point, action, ctx))
}

/** Calls a wrapper if the hook is active; otherwise calls only the wrapped operation. */
const conditionalWrapper =
  (hook: object, method: Function, isActive: Condition) =>
  (input: unknown, next: (input: unknown) => unknown, ctx: HookContext): unknown =>
    isActive(ctx) ? method.call(hook, input, next, ctx) : next(input)

/** Calls `listener` with the value of an answer: a plain value, a promise, an Effect or a generator. */
const observe = (answer: unknown, listener: (value: unknown) => void): unknown => {
  if (typeof answer !== "object" || answer === null) return answer
  if (Effect.isEffect(answer)) return Effect.tap(answer, (value) => Effect.sync(() => listener(value)))
  if ("then" in answer && typeof answer.then === "function") {
    return Promise.resolve(answer as PromiseLike<unknown>).then((value) => {
      listener(value)
      return value
    })
  }
  if (Symbol.iterator in answer) {
    // The only iterable that a hook may return is the generator of an Effect.
    const generator = Effect.gen(() => answer as Generator<never, unknown, never>)
    return Effect.tap(generator, (value) => Effect.sync(() => listener(value)))
  }
  listener(answer)
  return answer
}

const reportDecision = (
  onDecision: NonNullable<HookDefaults["onDecision"]>,
  hook: string,
  point: HookPointName,
  action: unknown,
  { sessionId, stepNumber, turnNumber }: HookContext
): void => {
  if (typeof action !== "object" || action === null || !("_tag" in action) || action._tag === "Continue") return
  // Every other object with a tag is an action of a hook.
  const { _tag, reason } = action as { readonly _tag: Decision["action"]; readonly reason?: string }
  const decision = { hook, point, action: _tag, sessionId, turnNumber, stepNumber }
  Result.try(() => onDecision(reason === undefined ? decision : { ...decision, reason }))
}
