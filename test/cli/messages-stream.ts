/** Answers in the stream of the Messages API of Anthropic, as far as the programs need it. */
import type { ServerResponse } from "node:http"

/** A part of an answer: a text, or a call of a tool. */
export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

let answers = 0

/** The message of an answer before its parts are known. */
export const emptyMessage = () => ({
  id: `msg_${++answers}`,
  type: "message",
  role: "assistant",
  model: "demo",
  content: [],
  stop_reason: null,
  usage: { input_tokens: 1, output_tokens: 1 }
})

const eventsOf = (blocks: ReadonlyArray<Block>) => [
  { type: "message_start", message: emptyMessage() },
  ...blocks.flatMap((block, index) => [
    {
      type: "content_block_start",
      index,
      content_block: block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} }
    },
    {
      type: "content_block_delta",
      index,
      delta: block.type === "text"
        ? { type: "text_delta", text: block["text"] }
        : { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }
    },
    { type: "content_block_stop", index }
  ]),
  {
    type: "message_delta",
    delta: { stop_reason: blocks[0]?.type === "text" ? "end_turn" : "tool_use", stop_sequence: null },
    usage: { output_tokens: 1 }
  },
  { type: "message_stop" }
]

/** Sends an answer and ends the response. */
export const sendMessage = (response: ServerResponse, blocks: ReadonlyArray<Block>): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of eventsOf(blocks)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}
