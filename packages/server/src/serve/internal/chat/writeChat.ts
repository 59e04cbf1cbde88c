/** Writes what happens in a turn as chunks of chat completions. */
import type { PendingAsk } from "@belay/core/RunState"
import type { Usage } from "@belay/core/Usage"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { isClientCall } from "../act.ts"
import type { Item } from "../follow.ts"
import { askIdOfAll, type Asking, clientCallIdOf, type Token } from "../identity.ts"
import { refusalOfOutcome } from "../refusal.ts"

/** A piece of an answer, before it is written as a chunk or as a part of a whole answer. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "calls"; readonly calls: ReadonlyArray<ChatCall> }
  | { readonly type: "end"; readonly finishReason: string; readonly usage: Usage; readonly text: string }

interface ChatCall {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Yields the pieces of an answer. Throws a `Refusal` if the turn ends without one. */
export async function* piecesOf(serve: Serve, token: Token, items: AsyncIterable<Item>): AsyncGenerator<Piece> {
  let shown = ""
  let isFirst = true
  let finishReason = "stop"
  for await (const item of items) {
    if (item.type === "end") {
      yield* endOf(serve, token, item.outcome, shown, finishReason)
      continue
    }
    const { event } = item
    if (event.parent !== undefined) continue
    switch (event.type) {
      // The text of each call of the model is a paragraph.
      case "llm-start":
        if (shown !== "") isFirst = false
        shown = ""
        break
      case "text-delta":
        yield { type: "text", text: shown === "" && !isFirst ? `\n\n${event.text}` : event.text }
        shown += event.text
        break
      case "reasoning-delta":
        yield { type: "reasoning", text: event.text }
        break
      case "llm-end":
        finishReason = finishReasons[event.finishReason] ?? "stop"
        break
      default:
    }
  }
}

const finishReasons: { readonly [reason: string]: string } = { length: "length", "content-filter": "content_filter" }

async function* endOf(
  serve: Serve,
  token: Token,
  outcome: Outcome,
  shown: string,
  finishReason: string
): AsyncGenerator<Piece> {
  switch (outcome.status) {
    case "completed":
    case "limited":
    case "aborted": {
      // A hook may have answered in place of the model.
      if (shown === "" && outcome.text !== "") yield { type: "text", text: outcome.text }
      const reason = outcome.status === "completed"
        ? finishReason
        : outcome.status === "limited"
        ? "length"
        : "content_filter"
      return yield { type: "end", finishReason: reason, usage: outcome.usage, text: outcome.text }
    }
    case "suspended": {
      const { pending, turnNumber, usage } = outcome
      const asking = { token, turnNumber }
      const mine = pending.filter(isClientCall)
      if (mine.length > 0) {
        yield { type: "calls", calls: await Promise.all(mine.map((ask) => chatCall(asking, ask))) }
        return yield { type: "end", finishReason: "tool_calls", usage, text: shown }
      }
      const question = await questionOf(asking, pending)
      yield { type: "text", text: shown === "" ? question : `\n\n${question}` }
      return yield {
        type: "end",
        finishReason: "stop",
        usage,
        text: shown === "" ? question : `${shown}\n\n${question}`
      }
    }
    case "delivered":
      return yield { type: "end", finishReason, usage: { inputTokens: 0, outputTokens: 0 }, text: "" }
    default:
      throw refusalOfOutcome(serve, outcome)
  }
}

const chatCall = async (asking: Asking, ask: PendingAsk): Promise<ChatCall> => {
  const { args, tool: name } = ask
  const id = await clientCallIdOf(asking, ask)
  return { id, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } }
}

/**
 * Asks the user of a chat in words. The mark at the end names the session and the questions, so that an answer counts
 * for exactly these.
 */
export const questionOf = async (asking: Asking, pending: ReadonlyArray<PendingAsk>): Promise<string> => {
  const calls = pending.map(({ args, reason, tool }) => `- **${tool}** \`${JSON.stringify(args)}\`: ${reason}`)
  return `These tools need your approval:\n${calls.join("\n")}\n\nAnswer "yes" or "no". ` +
    `[approval ${asking.token}.${await askIdOfAll(asking, pending)}]`
}

/** Reads the mark of `questionOf` at the end of a text. */
export const markOf = (text: string): { readonly token: Token; readonly asks: string } | undefined => {
  const [, token, asks] = /\[approval ([\w-]{23})\.([\w-]{22})\]\s*$/.exec(text) ?? []
  return token === undefined || asks === undefined ? undefined : { token, asks }
}

/** Whether a text says yes and nothing else. */
export const isYes = (text: string): boolean => /^\s*(?:yes|y|ok|okay|approved?|allow)\s*[.!]*\s*$/i.test(text)
