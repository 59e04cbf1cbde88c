/**
 * A process that works on a turn of many steps, and ends after every third tool. Its arguments are the store, the file in
 * which the tools are noted, the number of steps, and the step whose tool always ends the process.
 */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { fromPromise } from "@belay/core/LlmProvider"
import * as Host from "@belay/server/Host"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { pollMs } from "./hosted.ts"
import { openStore } from "./openStore.ts"

const [where = "", log = "", steps = "0", fatal = "-1"] = process.argv.slice(2)

const store = openStore(where)
let done = 0
const work = defineTool({
  name: "work",
  description: "Works",
  input: { type: "object" },
  idempotent: true,
  execute: (args: unknown) => {
    if (Number(Object(args).n) === Number(fatal)) process.exit(7)
    appendFileSync(log, "work\n")
    if (++done > 3) process.exit(7)
    return "ok"
  }
})
const provider = fromPromise({
  name: "steps",
  complete: async ({ messages }) => {
    const n = messages.filter(({ role }) => role === "tool").length
    const isDone = n >= Number(steps)
    const toolCalls = isDone ? [] : [{ id: `c${n}`, name: "work", args: { n } }]
    return { model: "steps", text: isDone ? `done ${n}` : "", toolCalls, finishReason: isDone ? "stop" : "tool-calls" }
  }
})
const agent = createAgent({ provider, store: store.sessions, tools: [work], log: false })
await Host.make({ agent, store, pollMs, maxAttempts: 2 }).start()
setInterval(() => {}, 1_000)
