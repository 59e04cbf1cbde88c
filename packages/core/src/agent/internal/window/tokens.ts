/**
 * Counts the tokens of a conversation: the number that the vendor last reported, plus an estimate for later messages.
 */
import { type Message, text } from "../../../data/Message.ts"
import { byLength } from "../../../port/Tokenizer.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/** Returns the tokens of the conversation. Every message is counted once. */
export const tokensOf = ({ agent: { config, providers }, messages, session }: AgentTurn): number => {
  const tokenizer = config.tokenizer ?? providers[0].tokenizer ?? byLength
  for (; session.countedMessages < messages.length; session.countedMessages++) {
    session.tokens += tokenizer.count(countedText(messages[session.countedMessages]!))
  }
  return session.tokens
}

/** Returns the parts of a message that are counted: its text and its tool calls. */
export const countedText = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)
