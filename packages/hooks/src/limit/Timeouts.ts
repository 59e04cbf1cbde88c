/**
 * Bounds in time: of a turn, a step, a model call, the pauses of a stream, and of every tool.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { until } from "@belay/core/Deadline"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import { Timeout } from "@belay/core/ProviderError"
import { failure, success, type ToolResult } from "@belay/core/Tool"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"

/**
 * Every bound is a duration, a number of milliseconds or such as `"30 seconds"`, and off unless it is set.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HookDefaults.HookDefaults {
  /** One run of a turn, from the user's words or from a resume. */
  readonly turn?: Duration.Input
  /** One step: a model call, with its retries, and the tools it asks for. */
  readonly step?: Duration.Input
  /** One attempt of a model call. */
  readonly llmCall?: Duration.Input
  /** Until the first piece of a streamed answer. */
  readonly firstChunk?: Duration.Input
  /** Between two pieces of a streamed answer. */
  readonly chunk?: Duration.Input
  /** One execution of a tool. */
  readonly tool?: Duration.Input
  /** The same for tools by name, where `*` stands for any characters; the first that fits counts, before `tool`. */
  readonly perTool?: { readonly [pattern: string]: Duration.Input }
  /**
   * What the model reads of a tool that took too long: an error (`error`), or a result with advice (`feedback`).
   * Default `error`.
   */
  readonly onToolTimeout?: "error" | "feedback"
}

/**
 * Interrupts what takes too long, and does not wait for how it takes that. A model call fails with `Timeout`, which is
 * retried and falls back as any other;
 * when the step is over it is not retried, when the turn is over the turn is aborted. A tool gets a result that the
 * model reads.
 * Throws a `ConfigError` for a bound that is no duration.
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
export const make = (options: Options): AgentHook => {
  const { name = "timeouts", onToolTimeout = "error", perTool = {}, tools, ...rest } = options
  const given = [
    ...bounds.map((key) => [key, rest[key]] as const),
    ...Object.entries(perTool).map(([key, value]) => [`perTool["${key}"]`, value] as const)
  ]
  Result.getOrThrow(checkOptions(
    name,
    ...given.map(([key, value]) => [key, value, isDuration, "a duration above zero"] as const),
    oneOf("onToolTimeout", onToolTimeout, ["error", "feedback"])
  ))
  const ms = (input: Duration.Input | undefined): number => input === undefined ? Infinity : Duration.toMillis(input)
  const turnMs = ms(options.turn)
  const stepMs = ms(options.step)
  const llmMs = ms(options.llmCall)
  const firstMs = ms(options.firstChunk)
  const chunkMs = ms(options.chunk)
  const wants = tools === undefined ? () => true : matcher(tools)
  const table = Object.entries(perTool).map(([pattern, value]) => ({ fits: matcher(pattern), ms: ms(value) }))
  const toolMs = (tool: string): number =>
    wants(tool) ? table.find(({ fits }) => fits(tool))?.ms ?? ms(options.tool) : Infinity

  const overTurn = HookAction.abort(`the turn took longer than ${turnMs} ms and was stopped`)
  /** By the signal of the run: a resumed turn is another run, with time of its own. */
  const runs = new WeakMap<AbortSignal, Run>()
  const runOf = (ctx: HookContext, now: number): Run => {
    const known = runs.get(ctx.signal)
    if (known !== undefined) return known
    const made = {
      turnEnds: now + turnMs,
      step: -1,
      stepEnds: now + stepMs,
      chunkDue: Infinity,
      hasBegun: false,
      now: () => 0
    }
    runs.set(ctx.signal, made)
    return made
  }
  return HookDefaults.apply({ ...rest, name }, {
    name,
    // Within retries and caches, and the last word about a retry.
    priority: 800,
    kind: "policy",
    reinvoke: "ifChanged",
    ...(turnMs === Infinity
      ? {}
      : { preTurn: (_input, ctx) => Effect.map(Clock.currentTimeMillis, (now) => void runOf(ctx, now)) }),
    preLlmCall: (_request, ctx) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const run = runOf(ctx, now)
        if (run.step !== ctx.stepNumber) {
          run.step = ctx.stepNumber
          run.stepEnds = now + stepMs
        }
        return now >= run.turnEnds ? overTurn : undefined
      }),
    onLlmError: ({ decision }, ctx) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { stepEnds, turnEnds } = runOf(ctx, now)
        const next = decision.type === "retry" ? now + decision.delayMs : now
        if (now >= turnEnds || (decision.type === "retry" && next >= turnEnds)) return overTurn
        return decision.type !== "fail" && next >= stepEnds
          ? HookAction.transform({ type: "fail" } as const)
          : undefined
      }),
    wrapLlmCall: (request, next, ctx) =>
      Clock.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        const run = runOf(ctx, now)
        run.now = () => clock.currentTimeMillisUnsafe()
        run.chunkDue = now + firstMs
        run.hasBegun = false
        const ends = [run.turnEnds, run.stepEnds, now + llmMs] as const
        if (Math.min(...ends, firstMs, chunkMs) === Infinity) return next(request)
        const late = () => {
          const end = Math.min(...ends, run.chunkDue)
          const failed = (took: string, phase: Timeout["phase"]) =>
            Effect.fail(
              new Timeout({
                provider: name,
                message: `the model call took longer than ${took}`,
                phase,
                ...(request.model === undefined ? {} : { model: request.model })
              })
            )
          if (end === run.chunkDue) {
            return run.hasBegun
              ? failed(`${chunkMs} ms to go on`, "idle")
              : failed(`${firstMs} ms to begin`, "first-event")
          }
          return failed(
            end === ends[0] ? "is left of its turn" : end === ends[1] ? "is left of its step" : `${llmMs} ms`,
            "total"
          )
        }
        // With the first piece, the next may be due sooner than the first was.
        return until(next(request), () => Math.min(...ends, run.chunkDue), late, chunkMs)
      }),
    ...(firstMs === Infinity && chunkMs === Infinity ? {} : {
      onLlmDelta: (_delta, ctx) => {
        const run = runs.get(ctx.signal)
        if (run === undefined) return
        run.hasBegun = true
        run.chunkDue = run.now() + chunkMs
      }
    }),
    wrapToolCall: (call, next, ctx) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const own = toolMs(call.name)
        const { stepEnds, turnEnds } = runOf(ctx, now)
        const end = Math.min(now + own, stepEnds, turnEnds)
        if (end === Infinity) return next(call)
        const what = end === now + own
          ? `did not answer within ${own} ms`
          : `did not answer before its ${end === turnEnds ? "turn" : "step"} was over`
        return until(next(call), () => end, () => Effect.succeed(expired(call.name, what, onToolTimeout)))
      })
  })
}

const bounds = ["turn", "step", "llmCall", "firstChunk", "chunk", "tool"] as const

interface Run {
  readonly turnEnds: number
  step: number
  stepEnds: number
  /** When the next piece of a stream has to be there; it moves on with every piece. */
  chunkDue: number
  hasBegun: boolean
  now: () => number
}

const isDuration = (input: Duration.Input): boolean =>
  Result.match(Result.try(() => Duration.toMillis(input)), { onSuccess: (ms) => ms > 0, onFailure: () => false })

const expired = (tool: string, what: string, as: "error" | "feedback"): ToolResult =>
  as === "error"
    ? failure(`${tool} ${what} and was stopped`)
    : success(
      `${tool} ${what} and was stopped. Whether it had an effect is unknown: check that before you call it again, or ask it for less.`
    )
