/**
 * Stops an agent that repeats itself. The measures become stronger with every repetition: a warning for the developer,
 * advice for the model, a question to a person, blocked calls, and the end of the turn.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf, optionsIn, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import type { DetectedLoop, Ladder, LoopKeys } from "./internal/detectedLoop.ts"
import { LoopWatch } from "./internal/loopWatch.ts"

export type { DetectedLoop, Kind, Ladder } from "./internal/detectedLoop.ts"

/** Options of `LoopDetector.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** When each measure begins. Default: the defaults of `Ladder`. */
  readonly ladder?: Ladder
  /**
   * How often a call may fail with the same error before it is blocked. The block ends when another call has a new
   * result. With `false` only `ladder` applies to failures. Default 3.
   */
  readonly failures?: number | false
  /**
   * How a person is involved: by a question that suspends the run before the next such call (`ask`), or by a
   * notification (`notify`). Default `notify`.
   */
  readonly escalate?: "ask" | "notify"
  /** How often a person is involved in one turn, at most. Default 2. */
  readonly maxEscalations?: number
  /**
   * Which calls of a tool are the same, by the name of the tool: those with equal values of these fields, or those for
   * which this function returns the same value. `false` excludes a tool. Default: calls with equal arguments.
   */
  readonly loopKey?: LoopKeys
  /** The advice for the model. Default: that it repeats itself and should do something else. */
  readonly advice?: string | ((loop: DetectedLoop) => string)
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  ladder: optionsIn<Ladder>("object", {
    observe: ["number", "flag"],
    steer: ["number", "flag"],
    escalate: ["number", "flag"],
    block: ["number", "flag"],
    stop: ["number", "flag"]
  }),
  failures: ["number", "flag"],
  escalate: "text",
  maxEscalations: "number",
  loopKey: "any",
  advice: "any"
}

/**
 * Detects an agent that repeats itself: calls with the same result, alone or in a cycle with other calls; calls that
 * keep failing; calls with empty or broken arguments; the same answer; compactions without effect.
 *
 * A different result is progress, and so is a call that was not made recently: both reset all counts. Several equal
 * calls in one step count once. Every agent of a tree is watched alone: the counts of its turn are in `ctx.local`, as
 * digests. Throws a `ConfigError` for an invalid option.
 *
 * @example
 * ```ts
 * import * as LoopDetector from "@belay/hooks/LoopDetector"
 *
 * const detector = LoopDetector.make()
 * const strict = LoopDetector.make({
 *   ladder: { observe: false, steer: 2, block: 3, stop: 5 },
 *   escalate: "ask",
 *   loopKey: { wait: false, search: ["query"] }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("loop-detector", options, optionKinds)
  const { advice, escalate = "notify", failures = 3, loopKey = {}, maxEscalations = 2, name = "loop-detector" } =
    options
  const ladder = { ...defaults, ...options.ladder }
  Result.getOrThrow(checkOptions(
    name,
    ...Object.entries(ladder).map(([measure, count]) =>
      whole(`ladder.${measure}`, count === false ? undefined : count, 1)
    ),
    whole("failures", failures === false ? undefined : failures, 1),
    whole("maxEscalations", maxEscalations),
    oneOf("escalate", escalate, ["ask", "notify"])
  ))
  // The hook filters tools itself, because a step may have calls of several tools.
  const { tools, ...common } = options
  const watch = new LoopWatch({
    name,
    advice,
    escalate,
    failures: failures === false ? Infinity : failures,
    ladder,
    loopKey,
    maxEscalations,
    isWatched: tools === undefined ? () => true : matcher(tools)
  })
  return HookDefaults.apply(
    common,
    HookDefaults.identify(options, {
      name,
      priority: 5,
      kind: "policy",
      preToolCall: (call, ctx) => watch.beforeCall(call, ctx),
      postToolCall: (event, ctx) => watch.afterCall(event, ctx),
      postStep: ({ messages }, ctx) => watch.afterStep(messages, ctx),
      postLlmCall: ({ response }, ctx) => watch.afterAnswer(response, ctx),
      preCompaction: ({ budget }, ctx) => watch.beforeCompaction(budget.usedTokens, ctx),
      postCompaction: ({ budget }, ctx) => watch.afterCompaction(budget.usedTokens, ctx),
      preLlmCall: (_request, ctx) => watch.beforeModelCall(ctx)
    })
  )
}

const defaults: { readonly [K in keyof Ladder]-?: number | false } = {
  observe: 2,
  steer: 3,
  escalate: 4,
  block: 5,
  stop: 8
}
