/**
 * The default compaction. It keeps recent and pinned messages and replaces the others by a short summary, without a
 * model.
 */
import type { CompactionHint, CompactionRequest, CompactionResult } from "../../../data/Compaction.ts"
import { type Message, text, whyInvalid } from "../../../data/Message.ts"
import { countedText } from "./tokens.ts"

/** Returns the shorter conversation, or nothing if no message can be dropped or the result would not be shorter. */
export const dropOldMessages = ({ hint, messages, trigger }: CompactionRequest): CompactionResult | undefined => {
  let from = messages.length - Math.min(hint.keepRecent ?? 20, Math.floor(messages.length / 2))
  // A step is never split: it is kept whole or dropped whole.
  const direction = trigger === "overflow" || trigger === "rotation" ? 1 : -1
  while (from > 0 && from < messages.length && messages[from]!.role === "tool") from += direction
  const dropped = messages.slice(0, from).filter((message) => !isPinned(message))
  if (dropped.length === 0) return undefined
  const summary = summarise(dropped, hint)
  const note: Message = { role: "user", content: summary, source: "summary" }
  const kept = [note, ...messages.slice(0, from).filter(isPinned), ...messages.slice(from)]
  const droppedLength = dropped.reduce((sum, message) => sum + countedText(message).length, 0)
  const isShorter = countedText(note).length < droppedLength
  return whyInvalid(kept) === undefined && isShorter ? { messages: kept, summary } : undefined
}

/** Whether a message must survive every compaction. */
export const isPinned = (message: Message): boolean => message.role === "user" && message.pinned === true

/** Lists the beginnings of the dropped messages, one line each, with at most half of their total length. */
const summarise = (dropped: ReadonlyArray<Message>, hint: CompactionHint): string => {
  const length = dropped.reduce((sum, message) => sum + text(message).length, 0)
  const maxLength = Math.max(200, Math.min(4_000, Math.floor(length / 2)))
  const anchors = (hint.anchors ?? []).filter((anchor) => dropped.some((message) => text(message).includes(anchor)))
  const head = [
    `[${dropped.length} earlier messages were removed to fit the window]`,
    ...anchors.map((anchor) => `keep in mind: ${anchor}`)
  ].join("\n")
  const lines = dropped.filter(({ role }) => role !== "tool").map((message) =>
    `${message.role}: ${text(message).replaceAll(/\s+/g, " ").slice(0, 160)}`
  )
  return `${head}\n${lines.join("\n").slice(0, Math.max(0, maxLength - head.length))}`.trimEnd()
}
