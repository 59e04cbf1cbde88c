/**
 * Continues a long conversation in a new session before its quality suffers. A handoff summary replaces the history.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { BudgetLevel } from "@belay/core/Compaction"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type Message, text, whyInvalid } from "@belay/core/Message"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"

/** Options of `SessionRotation.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * The budgets that lead to a rotation: the model's window, or the scopes of a `Budget` hook. Default `["window"]`.
   */
  readonly scopes?: ReadonlyArray<BudgetLevel["scope"]>
  /**
   * Texts that the handoff must contain literally, such as an issue number, a branch, or the next step. Missing ones
   * are added. Default none.
   */
  readonly anchors?: ReadonlyArray<string> | ((ctx: HookContext) => ReadonlyArray<string>)
  /** Instructions for the writer of the handoff. Default none. */
  readonly instructions?: string
  /** How many recent messages the new session starts with. Default 6. */
  readonly keepRecent?: number
  /** Writes the handoff. Default: the agent's compactor, or a list of the messages if it has none. */
  readonly handoff?: (messages: ReadonlyArray<Message>, ctx: HookContext) => Eventual<string>
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  scopes: "list",
  anchors: "any",
  instructions: "text",
  keepRecent: "number",
  handoff: "function"
}

/**
 * Informs the model when most of a budget is used (`warn`), and rotates the session when the budget is exceeded. Then,
 * before the next model call, the hooks of the session's end and start run, and the handoff replaces the conversation.
 * Anchors that the handoff does not contain are added to it. Throws a `ConfigError` for an invalid number.
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
  HookDefaults.checkKinds("session-rotation", options, optionKinds)
  const { handoff, instructions, keepRecent = 6, name = "session-rotation", scopes = ["window"] } = options
  Result.getOrThrow(checkOptions(name, whole("keepRecent", keepRecent)))
  const anchors = (ctx: HookContext) =>
    typeof options.anchors === "function" ? options.anchors(ctx) : options.anchors ?? []
  return HookDefaults.apply(options, {
    name,
    onBudget: ({ kind, level, limit, scope, used }, ctx) => {
      if (!scopes.includes(scope) || ctx.agent.depth > 0) return
      const share = Math.floor(100 * used / limit)
      if (level === "warn") {
        const used = `${share} % of the ${scope} budget of ${kind} is used`
        ctx.inject(`${used}. Finish the current work before you start something new.`, {
          key: "session-rotation",
          mode: "overwrite"
        })
        return
      }
      ctx.warn(`${kindLabel(kind)} budget exceeded at ${share}% of effective window; rotate session before continuing.`)
      ctx.rotate()
    },
    preCompaction: ({ messages, trigger }, ctx) => {
      if (trigger !== "rotation") return undefined
      const required = anchors(ctx)
      if (handoff === undefined) {
        const hint = { keepRecent, anchors: required }
        return HookAction.transform(instructions === undefined ? hint : { ...hint, instructions })
      }
      return Effect.map(eventual(() => handoff(messages, ctx)), (summary) => {
        const lost = required.filter((anchor) => !summary.includes(anchor))
        const fullSummary = [summary, ...lost.map((anchor) => `keep in mind: ${anchor}`)].join("\n")
        return HookAction.respond({
          messages: [
            { role: "user", content: fullSummary, source: "handoff" },
            ...recentMessages(messages, keepRecent)
          ],
          summary: fullSummary
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

/** The pinned messages and the last ones. They do not begin with the result of an earlier tool call. */
const recentMessages = (messages: ReadonlyArray<Message>, count: number): ReadonlyArray<Message> => {
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

const kindLabel = (kind: BudgetLevel["kind"]): string =>
  ({ tokens: "Token", money: "Money", calls: "Call", time: "Time" })[kind]
