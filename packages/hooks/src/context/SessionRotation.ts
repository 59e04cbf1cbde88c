/**
 * Has a conversation go on in a fresh session before its quality suffers, with a handoff in place of what was said.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { BudgetLevel } from "@belay/core/Compaction"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type Message, text, whyInvalid } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Which budgets lead to a rotation: the model's window, or those that a budget hook keeps. Default `["window"]`. */
  readonly scopes?: ReadonlyArray<BudgetLevel["scope"]>
  /**
   * Texts that have to survive literally: issue number, branch, blockers, next step. What is missing afterwards is put
   * back.
   */
  readonly anchors?: ReadonlyArray<string> | ((ctx: HookContext) => ReadonlyArray<string>)
  /** What the handoff must say, in words, for whoever writes it. */
  readonly instructions?: string
  /** Recent messages that go along as they are. Default 6. */
  readonly keepRecent?: number
  /** Writes the handoff. Default: the agent's compactor, and without one a list of what was said. */
  readonly handoff?: (messages: ReadonlyArray<Message>, ctx: HookContext) => Eventual<string>
}

/**
 * Tells the model when a budget is nearly used up (`warn`), and rotates the session when it is (`exceeded`): before the
 * model is asked again, the handoff takes
 * the place of the conversation, hooks see the old session end and the new one start, and anchors that were lost are
 * put back.
 * Throws a `ConfigError` for a bad number.
 *
 * @example
 * ```ts
 * import * as SessionRotation from "@belay/hooks/SessionRotation"
 *
 * const rotation = SessionRotation.make({
 *   anchors: ["issue #42", "branch fix/retries"],
 *   instructions: "Say what was tried, what is open, and what comes next."
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const { handoff, instructions, keepRecent = 6, scopes = ["window"] } = Result.getOrThrow(check(options))
  const anchors = (ctx: HookContext) =>
    typeof options.anchors === "function" ? options.anchors(ctx) : options.anchors ?? []
  return HookDefaults.apply(options, {
    name: "session-rotation",
    onBudget: ({ kind, level, limit, scope, used }, ctx) => {
      if (!scopes.includes(scope) || ctx.agent.depth > 0) return
      const share = Math.floor(100 * used / limit)
      if (level === "warn") {
        ctx.inject(
          `${share} % of the ${scope} budget of ${kind} is used. Finish what is open before you begin something new.`,
          {
            key: "session-rotation",
            mode: "overwrite"
          }
        )
        return
      }
      ctx.warn(`${label(kind)} budget exceeded at ${share}% of effective window; rotate session before continuing.`)
      ctx.rotate()
    },
    preCompaction: ({ messages, trigger }, ctx) => {
      if (trigger !== "rotation") return undefined
      const kept = anchors(ctx)
      if (handoff === undefined) {
        return HookAction.transform({
          keepRecent,
          anchors: kept,
          ...(instructions === undefined ? {} : { instructions })
        })
      }
      return Effect.map(eventual(() => handoff(messages, ctx)), (summary) => {
        const lost = kept.filter((anchor) => !summary.includes(anchor))
        const whole = [summary, ...lost.map((anchor) => `keep in mind: ${anchor}`)].join("\n")
        return HookAction.respond({
          messages: [{ role: "user", content: whole, source: "handoff" }, ...ending(messages, keepRecent)],
          summary: whole
        })
      })
    },
    postCompaction: ({ summary }, ctx) => {
      const lost = anchors(ctx).filter((anchor) => !summary.includes(anchor))
      if (lost.length > 0) {
        ctx.inject(lost.map((anchor) => `keep in mind: ${anchor}`).join("\n"), {
          key: "session-rotation/anchors",
          mode: "overwrite",
          pinned: true
        })
      }
    }
  })
}

/**
 * What goes along as it is: pinned messages, and the last ones, beginning with none that answers something before them.
 */
const ending = (messages: ReadonlyArray<Message>, count: number): ReadonlyArray<Message> => {
  let from = Math.max(0, messages.length - count)
  while (from < messages.length && messages[from]!.role === "tool") from++
  const last = messages.slice(from)
  const kept = [
    ...messages.slice(0, from).filter((message) => message.role === "user" && message.pinned === true),
    ...last
  ]
  return whyInvalid(kept) === undefined
    ? kept
    : kept.filter((message) => message.role === "user" && text(message) !== "")
}

const label = (kind: BudgetLevel["kind"]): string =>
  ({ tokens: "Token", money: "Money", calls: "Call", time: "Time" })[kind]

const check = (options: Options): Result.Result<Options, ConfigError> => {
  const { keepRecent } = options
  return keepRecent === undefined || (Number.isSafeInteger(keepRecent) && keepRecent >= 0)
    ? Result.succeed(options)
    : Result.fail(
      new ConfigError({
        key: "session-rotation.keepRecent",
        message: `session-rotation.keepRecent: expected a whole number of messages, found ${String(keepRecent)}`
      })
    )
}
