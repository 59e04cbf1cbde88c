/** Make room in the window: fold preCompaction, shorten, check what came out, fold postCompaction. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { CompactionHint, CompactionRequest, CompactionResult, TokenBudget } from "../../../data/Compaction.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { type Message, text, whyInvalid } from "../../../data/Message.ts"
import { byLength } from "../../../port/Tokenizer.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Turn } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"

const warnAt = 0.7
const exceededAt = 0.8

/** Compacts when the request would be too long for the window. */
export const fit = function*(turn: Turn): Effect.fn.Return<void, TurnEnded> {
  const window = turn.host.config.window!
  const used = estimate(turn)
  const fraction = used / window.tokens
  const level = levelOf(fraction)
  if (level !== turn.budgetLevel && level !== "none") {
    const folded = turn.fold("onBudget", { level, kind: "tokens", scope: "window", used, limit: window.tokens })
    const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
    if (outcome?.action._tag === "Abort") {
      return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
    }
  }
  turn.budgetLevel = level
  // A hook wants a fresh session: the conversation is made shorter there.
  if (turn.session.rotation !== undefined) return
  if (fraction >= (window.compactAt ?? exceededAt) || turn.messages.length > (window.maxMessages ?? Infinity)) {
    yield* compact(turn, "threshold")
  }
}

/** Tokens of the conversation: what the vendor last reported, and an estimate of what came since. */
const estimate = (turn: Turn): number => {
  const { messages, session } = turn
  const { config, providers } = turn.host
  const tokenizer = config.tokenizer ?? providers[0].tokenizer ?? byLength
  for (; session.counted < messages.length; session.counted++) {
    session.tokens += tokenizer.count(weight(messages[session.counted]!))
  }
  return session.tokens
}

const weight = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)

/**
 * Shortens the conversation as the hooks, the compactor or the default do; nothing when it was refused or nothing could
 * be removed.
 */
export const shortened = function*(
  turn: Turn,
  trigger: CompactionRequest["trigger"],
  limit?: number
): Effect.fn.Return<{ readonly result: CompactionResult; readonly budget: TokenBudget } | undefined> {
  const { compactor, window } = turn.host.config
  const budget: TokenBudget = { usedTokens: estimate(turn), windowTokens: limit ?? window?.tokens ?? 0 }
  const asked: CompactionRequest = {
    messages: turn.messages.slice(),
    budget,
    trigger,
    hint: { keepRecent: window?.keepRecent ?? 20 }
  }
  const folded = turn.fold("preCompaction", asked)
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Reject") return undefined
  const request = outcome?.event ?? asked
  const offered = outcome?.action._tag === "Respond"
    ? outcome.action.output
    : compactor === undefined
    ? undefined
    : yield* Effect.catchCause(
      Effect.suspend(() => compactor.compact(request, { llm: (question) => turn.lent.llm(question, "compactor") })),
      (cause) => {
        turn.warn(`the compactor failed: ${messageOf(Cause.squash(cause))}`, "runtime")
        return Effect.succeed(undefined)
      }
    )
  const result = offered === undefined ? byDropping(request) : accept(turn, request, offered) ?? byDropping(request)
  return result === undefined ? undefined : { result, budget }
}

/** Tokens of the conversation, as `fit` counts them. */
export const used = (turn: Turn): number => estimate(turn)

/** How full the window is now: what is known already is not told again. */
export const note = (turn: Turn): void => {
  const { window } = turn.host.config
  turn.budgetLevel = window === undefined ? "none" : levelOf(estimate(turn) / window.tokens)
}

const levelOf = (fraction: number): Turn["budgetLevel"] =>
  fraction >= exceededAt ? "exceeded" : fraction >= warnAt ? "warn" : "none"

/** Compacts; false when it was refused or nothing could be removed. The conversation is then as it was. */
export const compact = function*(
  turn: Turn,
  trigger: CompactionRequest["trigger"],
  limit?: number
): Effect.fn.Return<boolean> {
  const before = turn.messages
  const short = yield* shortened(turn, trigger, limit)
  if (short === undefined) return false
  const { budget, result } = short
  turn.session.replace(result.messages)
  const removedCount = before.length - result.messages.filter((message) => before.includes(message)).length
  turn.publish({ type: "compaction", removedCount, summary: result.summary })
  const end = turn.fold("postCompaction", {
    removedCount,
    summary: result.summary,
    budget: { ...budget, usedTokens: estimate(turn) },
    trigger
  })
  if (end !== undefined && Effect.isEffect(end)) yield* end
  return true
}

/** Takes a result only when nothing is lost that must not be. */
const accept = (turn: Turn, request: CompactionRequest, result: CompactionResult): CompactionResult | undefined => {
  const why = whyNot(request, result)
  if (why !== undefined) turn.warn(`a compaction was refused, the default runs: ${why}`, "runtime")
  return why === undefined ? result : undefined
}

const whyNot = ({ hint, messages }: CompactionRequest, result: CompactionResult): string | undefined => {
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
  const size = (all: ReadonlyArray<Message>) => all.reduce((sum, message) => sum + weight(message).length, 0)
  return size(result.messages) >= size(messages) ? "it is not shorter than before" : undefined
}

const isPinned = (message: Message): boolean => message.role === "user" && message.pinned === true

/** The default: keeps the recent and the pinned messages, and says of the rest, in its own words, what it was about. */
const byDropping = ({ hint, messages, trigger }: CompactionRequest): CompactionResult | undefined => {
  let from = messages.length - Math.min(hint.keepRecent ?? 20, Math.floor(messages.length / 2))
  // A step stays whole: with its results where there is room, without them where there is none.
  const step = trigger === "overflow" || trigger === "rotation" ? 1 : -1
  while (from > 0 && from < messages.length && messages[from]!.role === "tool") from += step
  const dropped = messages.slice(0, from).filter((message) => !isPinned(message))
  if (dropped.length === 0) return undefined
  const summary = summarise(dropped, hint)
  const note: Message = { role: "user", content: summary, source: "summary" }
  const kept = [note, ...messages.slice(0, from).filter(isPinned), ...messages.slice(from)]
  return whyInvalid(kept) === undefined &&
      weight(note).length < dropped.reduce((sum, message) => sum + weight(message).length, 0)
    ? { messages: kept, summary }
    : undefined
}

const summarise = (dropped: ReadonlyArray<Message>, hint: CompactionHint): string => {
  const budget = Math.max(
    200,
    Math.min(4_000, Math.floor(dropped.reduce((sum, message) => sum + text(message).length, 0) / 2))
  )
  const anchored = (hint.anchors ?? []).filter((anchor) => dropped.some((message) => text(message).includes(anchor)))
  const lines = dropped.filter(({ role }) => role !== "tool").map((message) =>
    `${message.role}: ${text(message).replaceAll(/\s+/g, " ").slice(0, 160)}`
  )
  const head = [
    `[${dropped.length} earlier messages were removed to fit the window]`,
    ...anchored.map((anchor) => `keep in mind: ${anchor}`)
  ].join("\n")
  return `${head}\n${lines.join("\n").slice(0, Math.max(0, budget - head.length))}`.trimEnd()
}
