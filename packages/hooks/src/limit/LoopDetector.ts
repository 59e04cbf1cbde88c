/**
 * Stops an agent that goes in circles: first a word to the developer, then to the model, then to a person, then no more
 * calls, then the end.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import { digest, type Json } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import * as Loop from "./internal/loop.ts"

/** What is repeated. @category models @since 0.1.0 */
export type Kind = "calls" | "invalid-arguments" | "errors" | "text" | "compaction"

/**
 * A loop that was found: what `advice` is asked about, and the payload of the event `loop`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly kind: Kind
  /** How often in a row, the last time included. */
  readonly count: number
  /** What is repeated, in words: `search` for the calls of a tool, `the same answer` for a text. */
  readonly what: string
}

/** At which repetition each rung is reached; `false` leaves a rung out. @category models @since 0.1.0 */
export interface Ladder {
  /** Warns and sends the event `loop`. Default 2. */
  readonly observe?: number | false
  /** Has the model read advice. Default 3. */
  readonly steer?: number | false
  /** Asks or tells a person. Default 4. */
  readonly escalate?: number | false
  /** Keeps the call from running. Default 5. */
  readonly block?: number | false
  /** Ends the turn. Default 8. */
  readonly stop?: number | false
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  readonly ladder?: Ladder
  /**
   * How often one call may fail with the same error text before it is blocked, until something new was done. Default 3;
   * `false` leaves failures
   * to the ladder.
   */
  readonly failures?: number | false
  /**
   * How a person is involved: a question that suspends the run at the next such call, or a notice. Default `notify`.
   */
  readonly escalate?: "ask" | "notify"
  /** How often a person is involved in one turn. Default 2. */
  readonly maxEscalations?: number
  /**
   * By tool, what makes two calls the same: fields of the arguments, a function of them, or `false` for a tool that
   * never counts. Default: all arguments.
   */
  readonly loopKey?: { readonly [tool: string]: false | ReadonlyArray<string> | ((args: Json) => Json) }
  /** What the model reads. Default: that it repeats itself, and to do something else. */
  readonly advice?: string | ((found: Found) => string)
}

/**
 * Finds calls that are repeated with the same result, alone or in turns with others; calls that fail again and again;
 * empty or broken
 * arguments; the same answer again; compactions that make nothing shorter. A result that differs is progress, and so is
 * a call that was not
 * made lately: it starts every count anew. Several equal calls in one step count once. What counts is kept in the
 * session's state,
 * as digests, by agent and turn. Throws a `ConfigError` for a bad option.
 *
 * @example
 * ```ts
 * import * as LoopDetector from "@belay/hooks/LoopDetector"
 *
 * const usual = LoopDetector.make()
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
  const name = options.name ?? "loop-detector"
  const ladder = { ...defaults, ...options.ladder }
  const { advice, escalate = "notify", failures = 3, loopKey = {}, maxEscalations = 2 } = options
  Result.getOrThrow(checkOptions(
    name,
    ...Object.entries(ladder).map(([rung, at]) => whole(`ladder.${rung}`, at === false ? undefined : at, 1)),
    whole("failures", failures === false ? undefined : failures, 1),
    whole("maxEscalations", maxEscalations),
    oneOf("escalate", escalate, ["ask", "notify"])
  ))
  const at = (rung: keyof typeof defaults): number => ladder[rung] === false ? Infinity : ladder[rung]
  // Its own filter: steps have calls of all tools in them.
  const { tools, ...common } = options
  const wants = tools === undefined ? () => true : matcher(tools)
  const state = HookState.key(`${name}/trails`, Schema.Array(Loop.Trail), [])

  const change = (ctx: HookContext, f: (trail: Loop.Trail) => Loop.Trail): Loop.Trail => {
    const agent = agentOf(ctx)
    let next: Loop.Trail | undefined
    ctx.state.update(state, (trails) => {
      const known = trails.find((trail) => trail.agent === agent)
      next = f(known?.turn === ctx.turnNumber ? known : Loop.begin(agent, ctx.turnNumber))
      // A session has one turn at a time: the steps of other agents are over.
      return [...trails.filter((trail) => trail.agent !== agent).map((trail) => ({ ...trail, open: [] })), next].slice(
        -maxAgents
      )
    })
    return next!
  }
  const trailOf = (ctx: HookContext): Loop.Trail => {
    const agent = agentOf(ctx)
    const known = ctx.state.get(state).find((trail) => trail.agent === agent)
    return known?.turn === ctx.turnNumber ? known : Loop.begin(agent, ctx.turnNumber)
  }
  /** Absent for a call that does not count. */
  const keyOf = (tool: string, args: Json): string | undefined => {
    const key = Object.hasOwn(loopKey, tool) ? loopKey[tool] : undefined
    if (key === false || !wants(tool)) return undefined
    if (key === undefined) return digest([tool, args])
    // A key that breaks says nothing: then all arguments count.
    return digest([
      tool,
      typeof key === "function" ? Result.getOrElse(Result.try(() => key(args)), () => args) : fieldsOf(args, key)
    ])
  }
  /** The rungs that only speak, each at its repetition. */
  const tell = (found: Found, ctx: HookContext): void => {
    const { count } = found
    const words = describe(found)
    if (count === at("observe")) ctx.warn(words)
    if (count >= at("observe")) ctx.events.emit("loop", { kind: found.kind, count, what: found.what })
    if (count === at("steer")) {
      const said = typeof advice === "function"
        ? Result.getOrElse(Result.try(() => advice(found)), () => usual(found))
        : advice ?? usual(found)
      ctx.inject(said, { key: name, mode: "overwrite" })
    }
    if (
      count < at("escalate") || (escalate === "ask" && found.kind === "calls") ||
      trailOf(ctx).escalations >= maxEscalations
    ) return
    change(ctx, (trail) => ({ ...trail, escalations: trail.escalations + 1 }))
    ctx.notifyUser(words)
  }
  const stopped = (found: Found): HookAction.Abort => HookAction.abort(`${describe(found)} The turn was stopped.`)

  return HookDefaults.apply(common, {
    name,
    priority: 5,
    kind: "policy",
    preToolCall: ({ args, id, name: tool }, ctx): ActionAt<"preToolCall"> | undefined => {
      const key = keyOf(tool, args)
      if (key === undefined) return undefined
      const trail = trailOf(ctx)
      const count = Loop.timesOf(trail, key) + 1
      const failure = trail.failures.find((one) =>
        one.key === key && !one.again && failures !== false && one.count >= failures
      )
      const blocked = count >= at("block") || failure !== undefined
      const asks = !blocked && escalate === "ask" && count >= at("escalate") && trail.escalations < maxEscalations
      change(ctx, (now) => {
        const next = Loop.opened(now, id, key, blocked)
        return asks ? { ...next, escalations: next.escalations + 1 } : next
      })
      const found: Found = { kind: "calls", count, what: tool }
      if (count >= at("stop")) return stopped(found)
      if (failure !== undefined) return HookAction.reject(repeatedly(failure))
      if (blocked) return HookAction.reject(`${describe(found)} It was not made again. Change strategy.`)
      return asks ? HookAction.ask(describe(found), { tool, count }) : undefined
    },
    postToolCall: ({ call, result }, ctx) => {
      const key = Loop.openOf(trailOf(ctx), call.id)?.key ?? keyOf(call.name, call.args)
      if (key === undefined || failures === false) return undefined
      if (result.ok) {
        if (trailOf(ctx).failures.length > 0) change(ctx, (trail) => Loop.succeeded(trail, key))
        return undefined
      }
      return Effect.map(Clock.currentTimeMillis, (now) => {
        const trail = change(ctx, (before) => Loop.failed(before, key, digest(result.error), ctx.stepNumber, now))
        const failure = trail.failures.find((one) => one.key === key)!
        return failure.count >= failures ? HookAction.reject(repeatedly(failure)) : undefined
      })
    },
    postStep: ({ messages }, ctx) => {
      const before = trailOf(ctx)
      const made = Loop.lastStep(messages).flatMap(
        ([call, message]): ReadonlyArray<Loop.Made & { readonly invalid: boolean }> => {
          const open = Loop.openOf(before, call.id)
          // What never reached the hooks did not fit the tool, or the policy refused it.
          const invalid = open === undefined && message.isError === true &&
            (call.malformed !== undefined || Loop.isEmpty(call.args))
          const own = keyOf(call.name, call.args)
          const key = own === undefined ? undefined : open?.key ?? (invalid ? digest([call.name, "invalid"]) : own)
          if (key === undefined) return []
          const error = message.isError === true ? digest(message.content) : undefined
          return [{
            key,
            tool: call.name,
            result: invalid ? "invalid" : digest(message.content),
            error,
            blocked: open?.blocked ?? false,
            invalid
          }]
        }
      )
      if (made.length === 0) return undefined
      const trail = change(ctx, (now) => Loop.stepped(now, made, ctx.stepNumber))
      const worst = made.reduce((one, other) =>
        Loop.timesOf(trail, other.key) > Loop.timesOf(trail, one.key) ? other : one
      )
      const count = Loop.timesOf(trail, worst.key)
      const found: Found = count >= trail.error.count
        ? { kind: worst.invalid ? "invalid-arguments" : "calls", count, what: worst.tool }
        : { kind: "errors", count: trail.error.count, what: worst.tool }
      tell(found, ctx)
      return found.count >= at("stop") ? stopped(found) : undefined
    },
    postLlmCall: ({ response: { text, toolCalls } }, ctx) => {
      const said = text.trim()
      if (toolCalls.length > 0 || said === "") return undefined
      const key = digest(said)
      const { text: { count } } = change(
        ctx,
        (trail) => ({ ...trail, text: { key, count: trail.text.key === key ? trail.text.count + 1 : 1 } })
      )
      const found: Found = { kind: "text", count, what: "the same answer" }
      tell(found, ctx)
      return count >= at("stop") ? stopped(found) : undefined
    },
    preCompaction: ({ budget }, ctx) => {
      const { compactions: { count } } = change(ctx, ({ compactions, ...trail }) => ({
        ...trail,
        compactions: { count: compactions.count + 1, before: budget.usedTokens }
      }))
      const found: Found = { kind: "compaction", count, what: "a compaction without effect" }
      tell(found, ctx)
      if (count >= at("stop")) change(ctx, (trail) => ({ ...trail, stop: stopped(found).reason }))
      return count >= at("block") ? HookAction.reject(describe(found)) : undefined
    },
    postCompaction: ({ budget }, ctx) => {
      const { compactions } = trailOf(ctx)
      if (budget.usedTokens < compactions.before * reduced) {
        change(ctx, (trail) => ({ ...trail, compactions: { count: 0, before: 0 } }))
      }
    },
    preLlmCall: (_request, ctx) => {
      const { stop } = trailOf(ctx)
      return stop === "" ? undefined : HookAction.abort(stop)
    }
  })
}

const defaults: { readonly [K in keyof Ladder]-?: number | false } = {
  observe: 2,
  steer: 3,
  escalate: 4,
  block: 5,
  stop: 8
}

/** Most agents whose trails one session keeps. */
const maxAgents = 8

/** A compaction counts when what is left is below this share of what was. */
const reduced = 0.95

const agentOf = ({ agent }: HookContext): string => `${agent.name}/${agent.depth}`

const fieldsOf = (args: Json, fields: ReadonlyArray<string>): Json =>
  typeof args === "object" && args !== null && !Array.isArray(args)
    ? fields.map((field) => Object.hasOwn(args, field) ? (args as { readonly [field: string]: Json })[field]! : null)
    : args

const repeatedly = ({ count, last, since }: Loop.Trail["failures"][number]): string => {
  const minutes = Math.max(1, Math.ceil((last - since) / 60_000))
  return `Loop detected: identical failing command executed ${count} time${
    count === 1 ? "" : "s"
  } in ${minutes} minute${minutes === 1 ? "" : "s"}. Escalate or change strategy.`
}

const describe = ({ count, kind, what }: Found): string => {
  const words: { readonly [K in Kind]: string } = {
    calls: `the same call of ${what} ${count} times without a new result`,
    "invalid-arguments": `${what} was called ${count} times with empty or broken arguments`,
    errors: `${what} failed with the same error ${count} times in a row`,
    text: `${what} ${count} times in a row`,
    compaction: `${count} compactions in a row that made nothing shorter`
  }
  return `Loop detected: ${words[kind]}.`
}

const usual = (found: Found): string =>
  `${
    describe(found)
  } Repeating it will not help. Do something else: use other arguments or another tool, or say what you need.`
