/**
 * Compacts a conversation:
 * 1. runs the `preCompaction` hooks, which may forbid the compaction or provide its result
 * 2. if they provide none: runs the agent's compactor, or the default one (`dropOldMessages`)
 * 3. checks that the result keeps everything that must stay; if not, runs the default compactor
 * 4. runs the `postCompaction` hooks
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { CompactionRequest, CompactionResult, TokenBudget } from "../../../data/Compaction.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import { type Message, text, whyInvalid } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { askHooks, notifyHooks } from "../../../guard/internal/point/askHooks.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { AgentTurn } from "../running/turnParts.ts"
import { dropOldMessages, isPinned } from "./dropOldMessages.ts"
import { countedText, tokensOf } from "./tokens.ts"

/** The shorter conversation, and how full the window was before. */
export interface Shortened {
  readonly result: CompactionResult
  readonly budget: TokenBudget
}

/**
 * Compacts the conversation. Returns false, and leaves it unchanged, if a hook forbids it or nothing can be removed.
 */
export const compact = function*(
  turn: AgentTurn,
  trigger: CompactionRequest["trigger"],
  limit?: number
): Step<boolean> {
  const before = turn.messages
  const shortened = yield* shorten(turn, trigger, limit)
  if (shortened === undefined) return false
  const { budget, result: { messages, summary } } = shortened
  turn.session.replaceMessages(messages)
  const removedCount = before.length - messages.filter((message) => before.includes(message)).length
  turn.io.publish({ type: "compaction", removedCount, summary })
  const after: TokenBudget = { ...budget, usedTokens: tokensOf(turn) }
  yield* notifyHooks(turn, "postCompaction", { removedCount, summary, budget: after, trigger })
  return true
}

/**
 * Returns the shorter conversation, or nothing if a hook forbids it or nothing can be removed. It does not change the
 * session.
 */
export const shorten = function*(
  turn: AgentTurn,
  trigger: CompactionRequest["trigger"],
  limit?: number
): Step<Shortened | undefined> {
  const { window } = turn.agent.config
  const budget: TokenBudget = { usedTokens: tokensOf(turn), windowTokens: limit ?? window?.tokens ?? 0 }
  const hint = { keepRecent: window?.keepRecent ?? 20 }
  const asked: CompactionRequest = { messages: turn.messages.slice(), budget, trigger, hint }
  const outcome = yield* askHooks(turn, "preCompaction", asked)
  if (outcome?.action._tag === "Reject") return undefined
  const request = outcome?.event ?? asked
  const offered = outcome?.action._tag === "Respond" ? outcome.action.output : yield* askCompactor(turn, request)
  const why = offered === undefined ? undefined : whyRefused(request, offered)
  if (why !== undefined) turn.io.warn(`a compaction was refused, the default runs: ${why}`, "runtime")
  const result = offered === undefined || why !== undefined ? dropOldMessages(request) : offered
  return result === undefined ? undefined : { result, budget }
}

/** Runs the agent's compactor, if there is one. */
const askCompactor = function*(turn: AgentTurn, request: CompactionRequest): Step<CompactionResult | undefined> {
  const { compactor } = turn.agent.config
  if (compactor === undefined) return undefined
  const llm = turn.capabilities.llm
  return yield* Effect.catchCause(
    portEffect("compact", () => compactor.compact(request, { llm: (question) => llm(question, "compactor") })),
    (cause) => {
      turn.io.warn(`the compactor failed: ${messageOf(Cause.squash(cause))}`, "runtime")
      return Effect.succeed(undefined)
    }
  )
}

/** Describes what a compaction lost although it must stay. */
const whyRefused = ({ hint, messages }: CompactionRequest, result: CompactionResult): string | undefined => {
  if (!Array.isArray(result?.messages) || typeof result.summary !== "string") return "expected { messages, summary }"
  const invalid = whyInvalid(result.messages)
  if (invalid !== undefined) return invalid
  const lostPin = messages.find((message) =>
    isPinned(message) && !result.messages.some((kept: Message) => text(kept) === text(message))
  )
  if (lostPin !== undefined) return `a pinned message is gone: "${text(lostPin).slice(0, 60)}"`
  const whole = result.messages.map(text).join("\n")
  const lostAnchor = hint.anchors?.find((anchor) =>
    !whole.includes(anchor) && messages.some((message) => text(message).includes(anchor))
  )
  if (lostAnchor !== undefined) return `the anchor "${lostAnchor}" is gone`
  return lengthOf(result.messages) >= lengthOf(messages) ? "it is not shorter than before" : undefined
}

const lengthOf = (messages: ReadonlyArray<Message>): number =>
  messages.reduce((sum, message) => sum + countedText(message).length, 0)
