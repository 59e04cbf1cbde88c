/**
 * Keeps the tokens of a request, a turn or a session below a limit: estimated before a call, counted after it.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { text } from "@belay/core/Message"
import { checkOptions, oneOf, whole, within } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"

/** Most tokens: read by the model, written by it, and both together. @category models @since 0.1.0 */
export interface Tokens {
  readonly input?: number
  readonly output?: number
  readonly total?: number
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  readonly perRequest?: Tokens
  readonly perTurn?: Tokens
  readonly perSession?: Tokens
  /** The share of a limit at which to warn, once. Default 0.8. */
  readonly warnAt?: number
  /**
   * What happens to a call that would go beyond: the turn fails (`reject`), or ends with the reason as its last word
   * (`abort`), or nothing
   * but another warning (`warn`, a soft limit). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort" | "warn"
  /** Counts tokens before the vendor does. Default: four characters a token. */
  readonly tokenizer?: Tokenizer
}

/** What was used. @category models @since 0.1.0 */
export interface Used {
  readonly turn: { readonly input: number; readonly output: number }
  readonly session: { readonly input: number; readonly output: number }
}

/** Reads from a session's state what was used, by the hook of this name. @category reading @since 0.1.0 */
export const used = (state: Pick<HookState.HookState, "get">, name = "token-limit"): Used => {
  const { session, turn } = state.get(keyOf(name))
  return { turn, session }
}

/**
 * Refuses a call when what it sends would go beyond a limit, by the tokenizer's estimate; and, unless it only warns,
 * asks the model to write no
 * more than what is left of the output. What was really used counts as the vendor reports it, and by the estimate where
 * he does not.
 * Throws a `ConfigError` for a limit that makes no sense.
 *
 * @example
 * ```ts
 * import * as TokenLimit from "@belay/hooks/TokenLimit"
 *
 * const hard = TokenLimit.make({ perRequest: { input: 100_000, output: 4_000 }, perTurn: { total: 500_000 } })
 * const soft = TokenLimit.make({ name: "soft-limit", perSession: { total: 1_000_000 }, onLimit: "warn" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { name = "token-limit", onLimit = "reject", tokenizer = byLength, warnAt = 0.8 } = options
  const limits = scopes.flatMap((scope) => kinds.map((kind) => ({ scope, kind, max: options[scope]?.[kind] })))
  Result.getOrThrow(checkOptions(
    name,
    ...limits.map(({ kind, max, scope }) => whole(`${scope}.${kind}`, max)),
    within("warnAt", warnAt, 0, 1),
    oneOf("onLimit", onLimit, ["reject", "abort", "warn"])
  ))
  const set = limits.filter((limit): limit is Limit => limit.max !== undefined)
  const state = keyOf(name)
  const count = (input: number, output: number, ctx: HookContext): void => {
    ctx.state.update(state, (before) => {
      const { session, turn, warned } = current(before, ctx)
      return {
        number: ctx.turnNumber,
        turn: { input: turn.input + input, output: turn.output + output },
        session: { input: session.input + input, output: session.output + output },
        warned
      }
    })
    for (const limit of set) {
      if (limit.scope !== "perRequest") warn(limit, usedOf(limit, current(ctx.state.get(state), ctx)), ctx)
    }
  }
  /** Warns once a limit, and once more where a soft limit is passed. */
  const warn = (limit: Limit, amount: number, ctx: HookContext): void => {
    const level = amount > limit.max ? "passed" : amount >= limit.max * warnAt ? "near" : undefined
    const key = `${limit.scope}.${limit.kind}.${level}`
    const now = current(ctx.state.get(state), ctx)
    if (level === undefined || now.warned.includes(key)) return
    ctx.state.set(state, { ...now, warned: [...now.warned, key] })
    ctx.warn(`${amount} of ${say(limit)} used`)
  }
  return HookDefaults.apply(options, {
    name,
    priority: 200,
    kind: "policy",
    reinvoke: "ifChanged",
    observes: ["postLlmCall", "onLlmError"],
    preLlmCall: (request, ctx) => {
      const now = current(ctx.state.get(state), ctx)
      const input = estimate(request, tokenizer)
      let room = Infinity
      for (const limit of set) {
        const before = usedOf(limit, now)
        const sent = limit.kind === "output" ? 0 : input
        if (onLimit === "warn") {
          warn(limit, before + sent, ctx)
          continue
        }
        // The answer needs a token at least.
        const left = limit.max - before - sent
        if (limit.kind === "input" ? left < 0 : left < 1) {
          return HookAction[onLimit](
            `limit of ${say(limit)} reached: ${
              limit.scope === "perRequest" ? "" : `${before} used, `
            }about ${sent} more to send`
          )
        }
        if (limit.scope === "perRequest") warn(limit, before + sent, ctx)
        if (limit.kind !== "input") room = Math.min(room, left)
      }
      return room < (request.parameters.maxTokens ?? Infinity)
        ? HookAction.transform({ ...request, parameters: { ...request.parameters, maxTokens: room } })
        : undefined
    },
    postLlmCall: ({ executed, request, response }, ctx) => {
      if (!executed) return
      const { inputTokens, outputTokens } = response.usage ?? {
        inputTokens: estimate(request, tokenizer),
        outputTokens: tokenizer.count(written(response))
      }
      count(sane(inputTokens), sane(response.usage?.billableOutputTokens ?? outputTokens), ctx)
    },
    onLlmError: ({ error: { partial } }, ctx) =>
      partial?.usage === undefined
        ? undefined
        : count(
          sane(partial.usage.inputTokens),
          sane(partial.usage.billableOutputTokens ?? partial.usage.outputTokens),
          ctx
        )
  })
}

const scopes = ["perRequest", "perTurn", "perSession"] as const
const kinds = ["input", "output", "total"] as const

interface Limit {
  readonly scope: (typeof scopes)[number]
  readonly kind: (typeof kinds)[number]
  readonly max: number
}

const Amount = Schema.Struct({ input: Schema.Finite, output: Schema.Finite })
const Counts = Schema.Struct({
  number: Schema.Finite,
  turn: Amount,
  session: Amount,
  warned: Schema.Array(Schema.String)
})
type Counts = Schema.Schema.Type<typeof Counts>

const nothing = { input: 0, output: 0 }

const keyOf = (name: string): HookState.StateKey<Counts> =>
  HookState.key(`${name}/used`, Counts, { number: 0, turn: nothing, session: nothing, warned: [] })

/** The counts, as they are for the turn of the context. */
const current = (counts: Counts, { turnNumber }: HookContext): Counts =>
  counts.number === turnNumber
    ? counts
    : {
      ...counts,
      number: turnNumber,
      turn: nothing,
      warned: counts.warned.filter((key) => !key.startsWith("perTurn"))
    }

const usedOf = ({ kind, scope }: Limit, { session, turn }: Counts): number => {
  if (scope === "perRequest") return 0
  const amount = scope === "perTurn" ? turn : session
  return kind === "total" ? amount.input + amount.output : amount[kind]
}

const say = ({ kind, max, scope }: Limit): string =>
  `${max} ${kind === "total" ? "" : `${kind} `}tokens per ${scope.slice("per".length).toLowerCase()}`

/** What a request sends, without files. */
const estimate = ({ instructions = "", messages, tools }: LlmRequest, tokenizer: Tokenizer): number => {
  let tokens = tokenizer.count(instructions)
  for (const message of messages) {
    tokens += tokenizer.count(text(message))
    if (message.role === "assistant" && message.toolCalls !== undefined) {
      tokens += tokenizer.count(JSON.stringify(message.toolCalls))
    }
  }
  return tools.length === 0 ? tokens : tokens + tokenizer.count(JSON.stringify(tools))
}

const written = ({ reasoning = "", text: said, toolCalls }: LlmResponse): string =>
  `${reasoning}${said}${toolCalls.length === 0 ? "" : JSON.stringify(toolCalls)}`

/** Vendors have reported stranger things than numbers. */
const sane = (tokens: number): number => Number.isFinite(tokens) && tokens > 0 ? tokens : 0
