/** A program that speaks ACP, with the SDK of the protocol. The text of a prompt decides what it does. */
import { agent, type AgentContext, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk"
import { appendFileSync } from "node:fs"
import { Readable, Writable } from "node:stream"

const { LOG: log = "", MODE: mode = "" } = process.env
const note = (line: string) => log === "" ? undefined : appendFileSync(log, `${line}\n`)
const cancelled = new Set<string>()
let prompts = 0

if (mode === "no-start") {
  process.stderr.write("please log in first\n")
  process.exit(3)
}

const permission = async (
  client: AgentContext,
  sessionId: string,
  kind: "execute" | "edit",
  rawInput: object | null
) => {
  const { outcome } = await client.request("session/request_permission", {
    sessionId,
    toolCall: { toolCallId: "t1", kind, title: rawInput === null ? null : "Does it", rawInput },
    options: [
      { optionId: "always", name: "Always", kind: "allow_always" },
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" }
    ]
  })
  return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome
}

const failing = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => JSON.stringify(value),
    (error: Error) => `error: ${error.message} ${JSON.stringify(Object(error).data ?? "")}`
  )

const work = async (client: AgentContext, sessionId: string, text: string): Promise<string> => {
  const [verb = "", ...rest] = text.split("\n").at(-1)!.split(" ")
  const what = rest.join(" ")
  switch (verb) {
    case "shell":
      return `said ${await permission(client, sessionId, "execute", { command: what })}`
    case "words":
      return `said ${await permission(client, sessionId, "execute", { command: ["rm", "-rf", "my dir"] })}`
    case "edit":
      return `said ${await permission(client, sessionId, "edit", {
        file_path: what,
        old_string: "a",
        new_string: "b"
      })}`
    case "known": {
      const update = {
        sessionUpdate: "tool_call" as const,
        toolCallId: "t1",
        title: "Deploys",
        rawInput: { command: what }
      }
      // Both arrive together.
      const shown = client.notify("session/update", { sessionId, update })
      const said = permission(client, sessionId, "execute", null)
      await shown
      return `said ${await said}`
    }
    case "two":
      return (await Promise.all([
        permission(client, sessionId, "execute", { command: "one" }),
        permission(client, sessionId, "execute", { command: "two" })
      ])).join(" and ")
    case "read":
      return await failing(client.request("fs/read_text_file", { sessionId, path: what }))
    case "write":
      return await failing(client.request("fs/write_text_file", { sessionId, path: what, content: "written" }))
    case "run": {
      const created = client.request("terminal/create", { sessionId, command: what })
      const { terminalId } = await created
      const output = await client.request("terminal/output", { sessionId, terminalId })
      const end = await client.request("terminal/wait_for_exit", { sessionId, terminalId })
      await client.request("terminal/release", { sessionId, terminalId })
      return JSON.stringify({ output: output.output.trim(), code: end.exitCode })
    }
    case "spend":
      for (const amount of [0.25, 0.5]) {
        await client.notify("session/update", {
          sessionId,
          update: { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount, currency: "USD" } }
        })
      }
      return "spent"
    case "crash":
      process.exit(1)
      break
    case "hang":
      while (!cancelled.has(sessionId)) await new Promise((resolve) => setTimeout(resolve, 5))
      note("cancelled")
      return "stopped"
  }
  return `prompt ${++prompts}: ${text}`
}

const app = agent({ name: "scripted" })
  .onRequest("initialize", ({ params }) => {
    note(JSON.stringify(params.clientCapabilities))
    return { protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }
  })
  .onRequest("session/new", ({ params }) => {
    note(`new in ${params.cwd}`)
    if (mode === "auth") throw RequestError.authRequired()
    return { sessionId: "s1" }
  })
  .onRequest("session/prompt", async ({ client, params: { prompt, sessionId } }) => {
    const text = prompt.flatMap((block) => block.type === "text" ? [block.text] : []).join("\n")
    note(`prompt ${text.split("\n").at(-1)}`)
    const said = await work(client, sessionId, text).catch((error: Error) => `error: ${error.message}`)
    const content = { type: "text" as const, text: said }
    await client.notify("session/update", { sessionId, update: { sessionUpdate: "agent_message_chunk", content } })
    return { stopReason: cancelled.delete(sessionId) ? "cancelled" as const : "end_turn" as const }
  })
  .onNotification("session/cancel", ({ params: { sessionId } }) => void cancelled.add(sessionId))

await app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as never)).closed
