/**
 * Limits the time of turns, steps, model calls, tool calls, and pauses in a stream.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as Deadline from "@belay/core/Deadline"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest } from "@belay/core/LlmCall"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import { Timeout } from "@belay/core/ProviderError"
import { failure, success, type ToolResult } from "@belay/core/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"

/**
 * Options of `Timeouts.make`. Every limit is a duration: a number of milliseconds, or a text such as `"30 seconds"`. A
 * limit that is absent does not hold.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HookDefaults.HookDefaults {
  /** One run of a turn, from the user's message or from a resume. */
  readonly turn?: Duration.Input
  /** One step: a model call with its retries, and the tool calls that follow. */
  readonly step?: Duration.Input
  /** One attempt of a model call. */
  readonly llmCall?: Duration.Input
  /** The time to the first part of a streamed answer. */
  readonly firstChunk?: Duration.Input
  /** The time between two parts of a streamed answer. */
  readonly chunk?: Duration.Input
  /** One execution of a tool. */
  readonly tool?: Duration.Input
  /**
   * One execution of a tool, by name; `*` stands for any characters. The first pattern that matches takes precedence
   * over `tool`.
   */
  readonly perTool?: { readonly [pattern: string]: Duration.Input }
  /**
   * What the model reads about a tool that took too long: an error (`error`), or a result with advice (`feedback`).
   * Default `error`.
   */
  readonly onToolTimeout?: "error" | "feedback"
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  turn: "any",
  step: "any",
  llmCall: "any",
  firstChunk: "any",
  chunk: "any",
  tool: "any",
  perTool: "object",
  onToolTimeout: "text"
}

/**
 * Interrupts what takes too long, without waiting until the interruption is complete. A model call fails with
 * `Timeout`, which is retried or falls back like other errors; when the step's time is over it is not retried, and when
 * the turn's time is over the turn is aborted. A tool call gets a result for the model. Throws a `ConfigError` for a
 * limit that is not a duration.
 *
 * @example
 * ```ts
 * import * as Timeouts from "@belay/hooks/Timeouts"
 *
 * const timeouts = Timeouts.make({
 *   turn: "5 minutes",
 *   llmCall: "60 seconds",
 *   firstChunk: "20 seconds",
 *   chunk: "10 seconds",
 *   tool: "30 seconds",
 *   perTool: { "build_*": "10 minutes" }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("timeouts", options, optionKinds)
  const { name = "timeouts", onToolTimeout = "error", perTool = {}, tools, ...rest } = options
  const durations = [
    ...limitNames.map((key) => [key, rest[key]] as const),
    ...Object.entries(perTool).map(([key, value]) => [`perTool["${key}"]`, value] as const)
  ]
  Result.getOrThrow(checkOptions(
    name,
    ...durations.map(([key, value]) => [key, value, isDuration, "a duration above zero"] as const),
    oneOf("onToolTimeout", onToolTimeout, ["error", "feedback"])
  ))
  const limits: Limits = {
    turn: millis(rest.turn),
    step: millis(rest.step),
    llmCall: millis(rest.llmCall),
    firstChunk: millis(rest.firstChunk),
    chunk: millis(rest.chunk)
  }
  const toolLimit = toolLimits(tools, perTool, rest.tool)
  const clocks = new WeakMap<AbortSignal, RunClock>()
  /** The clock of the run. A turn that is resumed is another run with another signal, and has the full time again. */
  const clockOf = (ctx: HookContext, now: number): RunClock => {
    const known = clocks.get(ctx.signal)
    if (known !== undefined) return known
    const clock = startClock(now, limits)
    clocks.set(ctx.signal, clock)
    return clock
  }
  const turnIsOver = HookAction.abort(`the turn took longer than ${limits.turn} ms and was stopped`)
  const hasChunkLimit = limits.firstChunk !== Infinity || limits.chunk !== Infinity
  return HookDefaults.identify(
    options,
    HookDefaults.apply(
      { ...rest, name },
      withoutUndefined<AgentHook>({
        name,
        // Places the hook inside of retries and caches, as the last one to decide about a retry.
        priority: 800,
        kind: "policy",
        reinvoke: "ifChanged",
        preTurn: limits.turn === Infinity
          ? undefined
          : (_input, ctx) => Effect.map(Deadline.now, (now) => void clockOf(ctx, now)),
        preLlmCall: (_request, ctx) =>
          Effect.map(Deadline.now, (now) => {
            const clock = clockOf(ctx, now)
            if (clock.step !== ctx.stepNumber) {
              clock.step = ctx.stepNumber
              clock.stepEnds = now + limits.step
            }
            return now >= clock.turnEnds ? turnIsOver : undefined
          }),
        onLlmError: ({ decision }, ctx) =>
          Effect.map(Deadline.now, (now) => {
            const { stepEnds, turnEnds } = clockOf(ctx, now)
            const next = decision.type === "retry" ? now + decision.delayMs : now
            if (now >= turnEnds || (decision.type === "retry" && next >= turnEnds)) return turnIsOver
            return decision.type !== "fail" && next >= stepEnds
              ? HookAction.transform({ type: "fail" } as const)
              : undefined
          }),
        wrapLlmCall: (request, next, ctx) =>
          Effect.flatMap(Deadline.clock, (read) => {
            const now = read()
            const run = clockOf(ctx, now)
            run.now = read
            run.chunkDue = now + limits.firstChunk
            run.hasBegun = false
            const callEnds = Math.min(run.turnEnds, run.stepEnds, now + limits.llmCall)
            if (callEnds === Infinity && !hasChunkLimit) return next(request)
            const timeout = () => Effect.fail(timeoutError(name, request, run, limits))
            // The deadline is read again after each part, because the next part may be due earlier than the first one
            // was.
            return Deadline.until(next(request), () => Math.min(callEnds, run.chunkDue), timeout, limits.chunk)
          }),
        onLlmDelta: hasChunkLimit
          ? (_delta, ctx) => {
            const clock = clocks.get(ctx.signal)
            if (clock === undefined) return
            clock.hasBegun = true
            clock.chunkDue = clock.now() + limits.chunk
          }
          : undefined,
        wrapToolCall: (call, next, ctx) =>
          Effect.flatMap(Deadline.now, (now) => {
            const limit = toolLimit(call.name)
            const { stepEnds, turnEnds } = clockOf(ctx, now)
            const end = Math.min(now + limit, stepEnds, turnEnds)
            if (end === Infinity) return next(call)
            const parent = end === turnEnds ? "turn" : "step"
            const problem = end === now + limit
              ? `did not answer within ${limit} ms`
              : `did not answer before its ${parent} was over`
            const late = () => Effect.succeed(timeoutResult(call.name, problem, onToolTimeout))
            return Deadline.until(next(call), () => end, late)
          })
      })
    )
  )
}

const limitNames = ["turn", "step", "llmCall", "firstChunk", "chunk", "tool"] as const

/** Milliseconds; `Infinity` for no limit. */
interface Limits {
  readonly turn: number
  readonly step: number
  readonly llmCall: number
  readonly firstChunk: number
  readonly chunk: number
}

/** When the parts of one run have to end, in milliseconds of `Deadline.now`. */
interface RunClock {
  readonly turnEnds: number
  step: number
  stepEnds: number
  /** When the next part of a stream is due. Every part moves it. */
  chunkDue: number
  hasBegun: boolean
  now: () => number
}

const startClock = (now: number, limits: Limits): RunClock => ({
  turnEnds: now + limits.turn,
  step: -1,
  stepEnds: now + limits.step,
  chunkDue: Infinity,
  hasBegun: false,
  now: () => 0
})

const millis = (duration: Duration.Input | undefined): number =>
  duration === undefined ? Infinity : Duration.toMillis(duration)

const isDuration = (input: Duration.Input): boolean =>
  Result.match(Result.try(() => Duration.toMillis(input)), { onSuccess: (ms) => ms > 0, onFailure: () => false })

/** The limit of a tool by its name. */
const toolLimits = (
  tools: Options["tools"],
  perTool: NonNullable<Options["perTool"]>,
  otherwise: Duration.Input | undefined
) => {
  const isLimited = tools === undefined ? () => true : matcher(tools)
  const patterns = Object.entries(perTool).map(([pattern, value]) => ({
    matches: matcher(pattern),
    limit: millis(value)
  }))
  return (tool: string): number => {
    if (!isLimited(tool)) return Infinity
    return patterns.find(({ matches }) => matches(tool))?.limit ?? millis(otherwise)
  }
}

/** The error of a model call, which says which of the limits was the first to be reached. */
const timeoutError = (provider: string, { model }: LlmRequest, run: RunClock, limits: Limits): Timeout => {
  const [took, phase] = reachedLimit(run, limits)
  const message = `the model call took longer than ${took}`
  return new Timeout(model === undefined ? { provider, message, phase } : { provider, message, phase, model })
}

const reachedLimit = (run: RunClock, limits: Limits): readonly [string, Timeout["phase"]] => {
  const now = run.now()
  if (run.chunkDue <= now) {
    return run.hasBegun
      ? [`${limits.chunk} ms to send the next part`, "idle"]
      : [`${limits.firstChunk} ms to send the first part`, "first-event"]
  }
  if (run.turnEnds <= now) return ["the time that is left of its turn", "total"]
  return [run.stepEnds <= now ? "the time that is left of its step" : `${limits.llmCall} ms`, "total"]
}

const timeoutResult = (tool: string, problem: string, as: "error" | "feedback"): ToolResult => {
  const text = `${tool} ${problem} and was stopped`
  return as === "error"
    ? failure(text)
    : success(`${text}. It may have had an effect: check that before you call it again, or ask it for less.`)
}
