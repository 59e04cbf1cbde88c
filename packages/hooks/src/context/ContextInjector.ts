/**
 * Has the model read what it should know now: the time, open files, the state of a deployment.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest } from "@belay/core/Json"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { refuse } from "./internal/refuse.ts"
import { counts, cut } from "./internal/transcript.ts"

/**
 * Where a text stands. `tail`: a message of the conversation, which stays. `ephemeral`: the last message of each
 * request, which is not
 * kept. `prefix`: the end of the instructions; a text that changes there makes vendors read the whole conversation
 * anew.
 *
 * @category models
 * @since 0.1.0
 */
export type Placement = "tail" | "prefix" | "ephemeral"

/** @category models @since 0.1.0 */
export interface Options<R = never> extends HookDefaults.HookDefaults {
  /** What the model should read, or nothing: directly, as a promise or as an Effect. */
  readonly render: (ctx: HookContext) => Eventual<string | undefined, R>
  /** Default `tail`. */
  readonly placement?: Placement
  /** At the tail: whether a text that is the same as the last one is left out. Default true. */
  readonly dedupe?: boolean
  /**
   * How many turns or model calls a text counts, whichever ends first. While it counts nothing is rendered; afterwards
   * it is, and at the
   * tail said again though it be the same. Default: rendered before every model call.
   */
  readonly ttl?: { readonly turns?: number; readonly steps?: number }
  /** Longer texts are cut, and say so. Default 2,000. */
  readonly maxTokens?: number
  /** Counts tokens. Default: four characters are one. */
  readonly tokenizer?: Tokenizer
}

/** What was rendered last. */
const Rendered = Schema.Struct({ text: Schema.String, digest: Schema.String, turn: Schema.Finite, step: Schema.Finite })

const nothing: typeof Rendered.Type = { text: "", digest: "", turn: -1, step: -1 }

/**
 * Renders a text and places it. Unless it is placed in the prefix, what was sent before stays the beginning of what is
 * sent next, so that
 * vendors' caches hold. When the conversation is compacted, a text at its tail is said again. A `render` that breaks is
 * left out.
 * Throws a `ConfigError` for an unknown placement and for numbers that are no counts.
 *
 * @example
 * ```ts
 * import * as ContextInjector from "@belay/hooks/ContextInjector"
 *
 * const branch = ContextInjector.make({ name: "branch", render: async () => "The branch is main.", ttl: { turns: 5 } })
 * const step = ContextInjector.make({ name: "step", placement: "ephemeral", render: (ctx) => `This is step ${ctx.stepNumber}.` })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(options: Options<R>): AgentHook<R> => {
  const name = options.name ?? "context-injector"
  const { maxTokens, placement } = Result.getOrThrow(check(options, name))
  const { dedupe = true, render, tokenizer = byLength, ttl } = options
  const last = HookState.key(`context-injector/${name}`, Rendered, nothing)
  const steps = HookState.key(`context-injector/${name}/steps`, 0)

  /** Whether the text that was rendered last still counts. */
  const counting = (ctx: HookContext): boolean => {
    const { step, turn } = ctx.state.get(last)
    if (ttl === undefined || turn < 0) return false
    return ctx.turnNumber - turn < (ttl.turns ?? Infinity) && ctx.state.get(steps) - step < (ttl.steps ?? Infinity)
  }

  /** Hands the text on that counts now: at once when it can be had at once. */
  const current = <A>(ctx: HookContext, use: (text: string, again: boolean) => A): A | Effect.Effect<A, unknown, R> => {
    const before = ctx.state.get(last)
    if (counting(ctx)) return use(before.text, false)
    const keep = (rendered: unknown): A => {
      const text = typeof rendered === "string" && rendered.trim() !== "" ? cut(rendered, maxTokens, tokenizer) : ""
      const found = digest(text)
      const same = before.turn >= 0 && before.digest === found
      if (!same || ttl !== undefined) {
        ctx.state.set(last, { text, digest: found, turn: ctx.turnNumber, step: ctx.state.get(steps) })
      }
      return use(text, !same || ttl !== undefined || !dedupe)
    }
    const rendered = render(ctx)
    return typeof rendered === "string" || rendered === undefined
      ? keep(rendered)
      : Effect.map(eventual(() => rendered), keep)
  }

  const say = (ctx: HookContext) =>
    current(ctx, (text, again) => {
      if (text !== "" && again) ctx.inject(text, { key: name, mode: "overwrite" })
      return undefined
    })
  const count = (ctx: HookContext): void => {
    if (ttl?.steps !== undefined) ctx.state.update(steps, (n) => n + 1)
  }

  const place: Partial<AgentHook<R>> = placement === "tail"
    ? {
      preTurn: (_input, ctx) => say(ctx),
      postStep: (_end, ctx) => say(ctx),
      preLlmCall: (_request, ctx) => count(ctx),
      postCompaction: (_end, ctx) => {
        const { text } = ctx.state.get(last)
        if (text !== "") ctx.inject(text, { key: name, mode: "overwrite" })
      }
    }
    : {
      preLlmCall: (request, ctx) => {
        const placed = current(ctx, (text) =>
          text === ""
            ? HookAction.Continue
            : HookAction.transform(
              placement === "prefix"
                ? {
                  ...request,
                  instructions: request.instructions === undefined ? text : `${request.instructions}\n\n${text}`
                }
                : {
                  ...request,
                  messages: [...request.messages, { role: "user" as const, content: text, source: name }]
                }
            ))
        count(ctx)
        return placed
      }
    }
  return HookDefaults.apply(options, { name, priority: 850, ...place })
}

const check = <R>(
  { maxTokens = 2_000, placement = "tail", ttl }: Options<R>,
  name: string
): Result.Result<{ readonly maxTokens: number; readonly placement: Placement }, ConfigError> => {
  if (!["tail", "prefix", "ephemeral"].includes(placement)) {
    return refuse(`${name}.placement`, "tail, prefix or ephemeral", placement)
  }
  if (ttl !== undefined && ttl.turns === undefined && ttl.steps === undefined) {
    return refuse(`${name}.ttl`, "turns or steps", "neither")
  }
  return Result.map(
    Result.all([
      counts(name, { "ttl.turns": ttl?.turns, "ttl.steps": ttl?.steps }, 1),
      counts(name, { maxTokens }, 16)
    ]),
    () => ({ maxTokens, placement })
  )
}
