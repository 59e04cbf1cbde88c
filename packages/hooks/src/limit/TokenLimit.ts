/**
 * Limits the tokens of a request, a turn or a session. They are estimated before a call and counted after it.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmResponse } from "@belay/core/LlmCall"
import { checkOptions, oneOf, optionsIn, whole, within } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { countTokens, requestTokens } from "./internal/requestTokens.ts"

/** The most tokens. Without a number there is no limit. @category models @since 0.1.0 */
export interface Tokens {
  /** Tokens that the model reads. */
  readonly input?: number
  /** Tokens that the model writes. */
  readonly output?: number
  /** The sum of both. */
  readonly total?: number
}

/** Options of `TokenLimit.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The most tokens of one model call. Default no limit. */
  readonly perRequest?: Tokens
  /** The most tokens of one turn, with the turns of sub-agents in it. Default no limit. */
  readonly perTurn?: Tokens
  /** The most tokens of the whole session, with sub-agents. Default no limit. */
  readonly perSession?: Tokens
  /** The share of a limit at which to warn once, from 0 to 1. Default 0.8. */
  readonly warnAt?: number
  /**
   * What happens to a call above the limit: the turn fails (`reject`), ends with the reason as its last message
   * (`abort`), or there is only another warning (`warn`, a soft limit). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort" | "warn"
  /** Counts tokens before a call. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

/** The tokens of the current turn and of the session. @category models @since 0.1.0 */
export interface Used {
  readonly turn: { readonly input: number; readonly output: number }
  readonly session: { readonly input: number; readonly output: number }
}

/** Reads the used tokens from a session's state. `name` is the name of the hook. @category reading @since 0.1.0 */
export const used = checked(
  "TokenLimit.used",
  ["state", "name"],
  (state: Pick<HookState.HookState, "get">, name = "token-limit"): Used => {
    const { session, turn } = state.get(keyOf(name))
    return { turn, session }
  }
)

const tokens = optionsIn<Tokens>("object", { input: "number", output: "number", total: "number" })
const optionKinds: HookDefaults.OwnKinds<Options> = {
  perRequest: tokens,
  perTurn: tokens,
  perSession: tokens,
  warnAt: "number",
  onLimit: "text",
  tokenizer: "object"
}

/**
 * Stops a call when the estimated tokens of its request exceed a limit. Unless it only warns, it also lowers the
 * request's `maxTokens` to the output tokens that are left. The tokens that the vendor reports count; if it reports
 * none, the estimate counts. The tokens of an agent and its sub-agents count together, without those of calls that
 * hooks make. Parallel calls are counted when they end, so they can exceed a limit together; `Budget` reserves before a
 * call. The counts are in `ctx.state`, and a turn is the turn of the agent that the host started. Throws a
 * `ConfigError` for an invalid limit.
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
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("token-limit", options, optionKinds)
  const { name = "token-limit", onLimit = "reject", tokenizer = byLength, warnAt = 0.8 } = options
  const limits = scopes.flatMap((scope) => kinds.map((kind) => ({ scope, kind, max: options[scope]?.[kind] })))
  Result.getOrThrow(checkOptions(
    name,
    ...limits.map(({ kind, max, scope }) => whole(`${scope}.${kind}`, max)),
    within("warnAt", warnAt, 0, 1),
    oneOf("onLimit", onLimit, ["reject", "abort", "warn"])
  ))
  const givenLimits = limits.filter((limit): limit is Limit => limit.max !== undefined)
  const count = (input: number, output: number, ctx: HookContext): void => {
    ctx.state.update(keyOf(ctx.hook), (before) => {
      const { session, turn, warned } = current(before, ctx)
      return {
        number: ctx.root.turnNumber,
        turn: { input: turn.input + input, output: turn.output + output },
        session: { input: session.input + input, output: session.output + output },
        warned
      }
    })
    for (const limit of givenLimits) {
      if (limit.scope !== "perRequest") warn(limit, usedOf(limit, read(ctx)), ctx)
    }
  }
  /** Warns once for each limit, and again when a soft limit is exceeded. */
  const warn = (limit: Limit, amount: number, ctx: HookContext): void => {
    if (amount < limit.max * warnAt && amount <= limit.max) return
    const level = amount > limit.max ? "exceeded" : "near"
    const key = `${limit.scope}.${limit.kind}.${level}`
    const now = read(ctx)
    if (now.warned.includes(key)) return
    ctx.state.set(keyOf(ctx.hook), { ...now, warned: [...now.warned, key] })
    ctx.warn(`${amount} of ${describe(limit)} used`)
  }
  return HookDefaults.apply(options, {
    name,
    priority: 200,
    kind: "policy",
    reinvoke: "reapply",
    observes: ["postLlmCall", "onLlmError"],
    preLlmCall: (request, ctx) => {
      const now = read(ctx)
      const input = requestTokens(request, tokenizer)
      let room = Infinity
      for (const limit of givenLimits) {
        const before = usedOf(limit, now)
        const sent = limit.kind === "output" ? 0 : input
        if (onLimit === "warn") {
          warn(limit, before + sent, ctx)
          continue
        }
        // The answer needs at least one token.
        const left = limit.max - before - sent
        if (limit.kind === "input" ? left < 0 : left < 1) {
          const used = limit.scope === "perRequest" ? "" : `${before} used, `
          return HookAction[onLimit](`limit of ${describe(limit)} reached: ${used}about ${sent} more to send`)
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
        inputTokens: requestTokens(request, tokenizer),
        outputTokens: countTokens(tokenizer, outputText(response))
      }
      count(validTokens(inputTokens), validTokens(response.usage?.billableOutputTokens ?? outputTokens), ctx)
    },
    onLlmError: ({ error: { partial } }, ctx) =>
      partial?.usage === undefined
        ? undefined
        : count(
          validTokens(partial.usage.inputTokens),
          validTokens(partial.usage.billableOutputTokens ?? partial.usage.outputTokens),
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

const keyOf = HookState.ownKey("used", Counts, { number: 0, turn: nothing, session: nothing, warned: [] })

/** The counts at the turn of the context. */
const read = (ctx: HookContext): Counts => current(ctx.state.get(keyOf(ctx.hook)), ctx)

const current = (counts: Counts, { root: { turnNumber } }: HookContext): Counts =>
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

const describe = ({ kind, max, scope }: Limit): string =>
  `${max} ${kind === "total" ? "" : `${kind} `}tokens per ${scope.slice("per".length).toLowerCase()}`

const outputText = ({ reasoning = "", text, toolCalls }: LlmResponse): string =>
  `${reasoning}${text}${toolCalls.length === 0 ? "" : JSON.stringify(toolCalls)}`

/** Some vendors report numbers that are negative or not finite. */
const validTokens = (tokens: number): number => Number.isFinite(tokens) && tokens > 0 ? tokens : 0
