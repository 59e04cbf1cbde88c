/** Reads the prompt of an editor, and shows a stored conversation to it. */
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk"
import type { FilePart, Message } from "@belay/core/Message"
import { text } from "@belay/core/Message"

export interface Prompt {
  readonly text: string
  readonly files: ReadonlyArray<FilePart>
}

/** Returns the text and the files of a prompt. What the editor only links to is named in the text. */
export const promptOf = (blocks: ReadonlyArray<ContentBlock>): Prompt => ({
  text: blocks.flatMap(wordsOf).join(""),
  files: blocks.flatMap((block): ReadonlyArray<FilePart> =>
    block.type === "image" || block.type === "audio"
      ? [{ type: "file", mediaType: block.mimeType, url: `data:${block.mimeType};base64,${block.data}` }]
      : []
  )
})

const wordsOf = (block: ContentBlock): ReadonlyArray<string> => {
  if (block.type === "text") return [block.text]
  if (block.type === "resource_link") return [`[${block.name}](${block.uri})`]
  if (block.type !== "resource") return []
  const { resource } = block
  return ["text" in resource ? `\n${resource.uri}:\n${resource.text}\n` : `[${resource.uri}]`]
}

const textBlock = (words: string): ContentBlock => ({ type: "text", text: words })

export const said = (words: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: textBlock(words)
})

export const thought = (words: string): SessionUpdate => ({
  sessionUpdate: "agent_thought_chunk",
  content: textBlock(words)
})

/** Shows the messages of a conversation, as they would have been shown while they were written. */
export const replay = (messages: ReadonlyArray<Message>): ReadonlyArray<SessionUpdate> => {
  const results = new Map(messages.flatMap((message) => message.role === "tool" ? [[message.toolCallId, message]] : []))
  return messages.flatMap((message): ReadonlyArray<SessionUpdate> => {
    if (message.role === "tool" || (message.role === "user" && message.source !== undefined)) return []
    if (message.role === "user") return [{ sessionUpdate: "user_message_chunk", content: textBlock(text(message)) }]
    const { content, reasoning, toolCalls = [] } = message
    return [
      ...(reasoning === undefined ? [] : [thought(reasoning)]),
      ...(content === "" ? [] : [said(content)]),
      ...toolCalls.map(({ args, id, name }): SessionUpdate => {
        const result = results.get(id)
        return {
          sessionUpdate: "tool_call",
          toolCallId: id,
          title: name,
          kind: "other",
          status: result?.isError === true ? "failed" : "completed",
          rawInput: args,
          rawOutput: result?.content
        }
      })
    ]
  })
}
