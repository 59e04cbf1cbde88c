/**
 * A scripted endpoint in a process of its own, so that its work is not counted: ten calls of `add`, then text; or a
 * long stream, at once or slowly; or an answer after a while.
 */
import { createServer, type ServerResponse } from "node:http"

const turns = 10
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const head = { id: "chatcmpl-1", object: "chat.completion", created: 1_790_000_000, model: "bench" }
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${
    JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })
  }\n\n`
const end = `data: ${
  JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage })
}\n\ndata: [DONE]\n\n`

const text = JSON.stringify({
  ...head,
  choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
  usage
})

const answer = (
  body: {
    readonly stream?: boolean
    readonly model: string
    readonly messages: ReadonlyArray<{ readonly role: string }>
  }
): string => {
  const done = body.messages.filter(({ role }) => role === "tool").length
  if (body.model === "text") return body.stream === true ? chunk({ content: "done" }) + chunk({}, "stop") + end : text
  const pieces = /^stream-(\d+)$/.exec(body.model)
  if (pieces !== null) {
    return Array.from({ length: Number(pieces[1]) }, (_, index) => chunk({ content: ` word${index}` })).join("") +
      chunk({}, "stop") + end
  }
  const call = { id: `call_${done}`, type: "function", function: { name: "add", arguments: `{"a":${done},"b":1}` } }
  if (body.stream === true) {
    return (done < turns
      ? chunk({ tool_calls: [{ index: 0, ...call }] }) + chunk({}, "tool_calls")
      : chunk({ content: "done" }) + chunk({}, "stop")) + end
  }
  const message = done < turns
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: "done" }
  return JSON.stringify({
    ...head,
    choices: [{ index: 0, message, finish_reason: done < turns ? "tool_calls" : "stop" }],
    usage
  })
}

/** Sends a piece every 5 milliseconds. */
const sendSlowly = (response: ServerResponse, pieces: number): void => {
  response.write(chunk({ content: "Hello" }))
  let sent = 1
  const timer = setInterval(() => {
    if (sent++ < pieces) return void response.write(chunk({ content: ` word${sent}` }))
    clearInterval(timer)
    response.end(chunk({}, "stop") + end)
  }, 5)
}

const server = createServer((request, response) => {
  let received = ""
  request.setEncoding("utf8").on("data", (part: string) => received += part).on("end", () => {
    const body = JSON.parse(received)
    const waits = /^wait-(\d+)$/.exec(body.model)
    if (waits !== null) {
      response.setHeader("content-type", "application/json")
      return void setTimeout(() => response.end(text), Number(waits[1]))
    }
    const slow = /^slow-(\d+)$/.exec(body.model)
    response.setHeader("content-type", body.stream === true ? "text/event-stream" : "application/json")
    if (slow === null) response.end(answer(body))
    else sendSlowly(response, Number(slow[1]))
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : 0)
})
process.on("disconnect", () => process.exit(0))
