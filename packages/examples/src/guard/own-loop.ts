/** A loop of your own, fully guarded: each message, model call and tool call asks the guard first. */
import * as GuardSession from "@belay/core/GuardSession"
import { Hooks, type Message, OpenAiCompatible, type PendingAsk } from "@belay/sdk"
import * as Effect from "effect/Effect"

const files = new Set(["notes.tmp", "report.md"])
const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const tools = [{ name: "delete_file", description: "Delete a file", inputSchema: path, destructive: true }]
const run = (args: unknown) => `deleted: ${files.delete(Object(args).path)}`

const model = OpenAiCompatible.fromEnv()
const onAsk = ({ reason, tool }: PendingAsk) => (
  console.log(`asked about ${tool}: ${reason}`), { type: "approve", by: "you" } as const
)
const session = GuardSession.make({ hooks: Hooks.safeDefaults(), tools, onAsk })

const answerTo = async (text: string): Promise<string> => {
  const said = await session.userMessage(text)
  if (said.type !== "allow") return said.type === "respond" ? said.text : said.reason
  const messages: Array<Message.Message> = [{ role: "user", content: said.input.message }]
  for (;;) {
    const request = { messages, tools, parameters: {} }
    const answered = await session.callModel(request, (allowed) => Effect.runPromise(model.complete(allowed)))
    if (answered.type !== "allow") return answered.reason
    const { text: content, toolCalls } = answered.response
    messages.push({ role: "assistant", content, ...(toolCalls.length > 0 && { toolCalls }) })
    for (const { args, id, name } of toolCalls) {
      const done = await session.callTool({ id, name, args }, run)
      if (done.type === "stop") return done.reason
      const refused = done.type === "deny" ? done.reason : "nobody has decided about this call"
      const { result } = done.type === "allow" ? done : { result: { ok: false, error: refused } as const }
      messages.push({ role: "tool", toolCallId: id, toolName: name, content: result.ok ? result.output : result.error })
    }
    if (toolCalls.length > 0) continue
    const end = await session.beforeStop({ text: content, messages })
    if (end.type !== "continue") return end.type === "allow" ? end.shown : end.reason
    messages.push({ role: "user", content: end.message })
  }
}

console.log(await answerTo(process.argv[2] ?? "Delete the file notes.tmp"))
console.log(`left: ${[...files].join(", ")}`)
await session.end()
