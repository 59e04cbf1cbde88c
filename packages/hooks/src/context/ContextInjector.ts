/**
 * Adds current information to the conversation, such as the time, open files or the state of a deployment.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { digest } from "@belay/core/Json"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { truncate } from "./internal/messageUnits.ts"

/**
 * Where the text is added.
 *
 * - `tail`: as a message of the conversation, which stays.
 * - `ephemeral`: as the last message of each request, which does not stay in the conversation.
 * - `prefix`: at the end of the instructions. When the text changes, the vendor's prompt cache is lost.
 *
 * @category models
 * @since 0.1.0
 */
export type Placement = "tail" | "prefix" | "ephemeral"

/** Options of `ContextInjector.make`. @category models @since 0.1.0 */
export interface Options<R = never> extends HookDefaults.HookDefaults {
  /** Returns the text, or `undefined` for none: as a value, a promise or an Effect. Required. */
  readonly render: (ctx: HookContext) => Eventual<string | undefined, R>
  /** Where the text is added. Default `tail`. */
  readonly placement?: Placement
  /** With `tail`: whether a text that is equal to the last one is left out. Default true. */
  readonly dedupe?: boolean
  /**
   * How many turns or model calls a text is valid; it ends with the first limit that is reached. While it is valid,
   * `render` is not called. After that `render` is called, and with `tail` the text is added again even if it is the
   * same. Default: `render` is called before every model call.
   */
  readonly ttl?: { readonly turns?: number; readonly steps?: number }
  /** The most tokens of the text, at least 16. A longer text is cut, with a mark. Default 2,000. */
  readonly maxTokens?: number
  /** Counts tokens. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

/** The last text, and when it was rendered. */
const Rendered = Schema.Struct({ text: Schema.String, digest: Schema.String, turn: Schema.Finite, step: Schema.Finite })

const nothing: typeof Rendered.Type = { text: "", digest: "", turn: -1, step: -1 }

const optionKinds: HookDefaults.OwnKinds<Options<never>> = {
  render: "function",
  placement: "any",
  dedupe: "flag",
  ttl: "object",
  maxTokens: "number",
  tokenizer: "object"
}

/**
 * Renders a text and adds it to the conversation. With `tail` and `ephemeral` the beginning of the request stays the
 * same, so that the vendor's prompt cache stays valid. After a compaction a text at the tail is added again. Each agent
 * of a tree gets the text in its own conversation; what it got is in `ctx.local`. When `render` fails, no text is
 * added. Throws a `ConfigError` for an invalid option.
 *
 * @example
 * ```ts
 * import * as ContextInjector from "@belay/hooks/ContextInjector"
 *
 * const branch = ContextInjector.make({ name: "branch", render: async () => "The branch is main.", ttl: { turns: 5 } })
 * const step = ContextInjector.make({
 *   name: "step",
 *   placement: "ephemeral",
 *   render: (ctx) => `This is step ${ctx.stepNumber}.`
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(options: Options<R>): AgentHook<R> => {
  HookDefaults.checkKinds("context-injector", options, optionKinds, ["render"])
  const { maxTokens = 2_000, name = "context-injector", placement = "tail", ttl } = options
  Result.getOrThrow(checkOptions(
    name,
    oneOf("placement", placement, ["tail", "prefix", "ephemeral"]),
    ["ttl", ttl, (limits: NonNullable<typeof ttl>) => (limits.turns ?? limits.steps) !== undefined, "turns or steps"],
    whole("ttl.turns", ttl?.turns, 1),
    whole("ttl.steps", ttl?.steps, 1),
    whole("maxTokens", maxTokens, 16)
  ))
  const renderer = new Renderer(options, name, maxTokens)
  const methods = placement === "tail" ? tailMethods(renderer, name) : requestMethods(renderer, name, placement)
  return HookDefaults.apply(options, { name, priority: 850, ...methods })
}

/** Renders the text when it is needed. A class: its methods share the options and the keys of the state. */
class Renderer<R> {
  private readonly options: Options<R>
  private readonly maxTokens: number
  private readonly last: HookState.StateKey<typeof Rendered.Type>
  private readonly steps: HookState.StateKey<number>

  constructor(options: Options<R>, name: string, maxTokens: number) {
    this.options = options
    this.maxTokens = maxTokens
    this.last = HookState.key(`context-injector/${name}`, Rendered, nothing)
    this.steps = HookState.key(`context-injector/${name}/steps`, 0)
  }

  lastText(ctx: HookContext): string {
    return ctx.local.get(this.last).text
  }

  countStep(ctx: HookContext): void {
    if (this.options.ttl?.steps !== undefined) ctx.local.update(this.steps, (steps) => steps + 1)
  }

  /**
   * Calls `use` with the current text, and whether it has to be added. If the text is available at once, so is the
   * call.
   */
  withText<A>(ctx: HookContext, use: (text: string, isNew: boolean) => A): A | Effect.Effect<A, unknown, R> {
    const before = ctx.local.get(this.last)
    if (this.isValid(ctx)) return use(before.text, false)
    const store = (rendered: unknown): A => {
      const { dedupe = true, tokenizer = byLength, ttl } = this.options
      const isText = typeof rendered === "string" && rendered.trim() !== ""
      const text = isText ? truncate(rendered, this.maxTokens, tokenizer) : ""
      const textDigest = digest(text)
      const isNew = before.turn < 0 || before.digest !== textDigest || ttl !== undefined
      if (isNew) {
        const step = ctx.local.get(this.steps)
        ctx.local.set(this.last, { text, digest: textDigest, turn: ctx.turnNumber, step })
      }
      return use(text, isNew || !dedupe)
    }
    const rendered = this.options.render(ctx)
    return typeof rendered === "string" || rendered === undefined
      ? store(rendered)
      : Effect.map(eventual(() => rendered), store)
  }

  /** Whether the last text is still valid. */
  private isValid(ctx: HookContext): boolean {
    const { ttl } = this.options
    const { step, turn } = ctx.local.get(this.last)
    if (ttl === undefined || turn < 0) return false
    return ctx.turnNumber - turn < (ttl.turns ?? Infinity) &&
      ctx.local.get(this.steps) - step < (ttl.steps ?? Infinity)
  }
}

const tailMethods = <R>(renderer: Renderer<R>, name: string): Partial<AgentHook<R>> => {
  const inject = (text: string, ctx: HookContext) => ctx.inject(text, { key: name, mode: "overwrite" })
  const addText = (ctx: HookContext) =>
    renderer.withText(ctx, (text, isNew) => {
      if (text !== "" && isNew) inject(text, ctx)
      return undefined
    })
  return {
    preTurn: ({ part }, ctx) => part === undefined ? addText(ctx) : undefined,
    postStep: (_end, ctx) => addText(ctx),
    preLlmCall: (_request, ctx) => renderer.countStep(ctx),
    postCompaction: (_end, ctx) => {
      const text = renderer.lastText(ctx)
      if (text !== "") inject(text, ctx)
    }
  }
}

const requestMethods = <R>(
  renderer: Renderer<R>,
  name: string,
  placement: "prefix" | "ephemeral"
): Partial<AgentHook<R>> => ({
  preLlmCall: (request, ctx) => {
    const action = renderer.withText(ctx, (text) => {
      if (text === "") return HookAction.Continue
      if (placement === "ephemeral") {
        const message = { role: "user" as const, content: text, source: name }
        return HookAction.transform({ ...request, messages: [...request.messages, message] })
      }
      const instructions = request.instructions === undefined ? text : `${request.instructions}\n\n${text}`
      return HookAction.transform({ ...request, instructions })
    })
    renderer.countStep(ctx)
    return action
  }
})
