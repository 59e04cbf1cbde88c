/** How many tokens a conversation has: what the vendor last reported, and an estimate of what came since. */
import { type Message, text } from "../../../data/Message.ts"
import { byLength } from "../../../port/Tokenizer.ts"
import type { Turn } from "../turn/turn.ts"

/** Tokens of the conversation. Every message is counted once. */
export const tokensOf = ({ agent: { config, providers }, messages, session }: Turn): number => {
  const tokenizer = config.tokenizer ?? providers[0].tokenizer ?? byLength
  for (; session.countedMessages < messages.length; session.countedMessages++) {
    session.tokens += tokenizer.count(countedText(messages[session.countedMessages]!))
  }
  return session.tokens
}

/** What counts of a message: its text, and the tool calls in it. */
export const countedText = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)
