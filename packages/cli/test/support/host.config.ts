/**
 * A config file. Messages begin with what the model does: `work` and `danger` call the tool, `slow` writes its answer
 * slowly, and everything else is repeated. A tool takes as many milliseconds as the message says, or with `told` until
 * there is a file beside the log.
 */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { appendFileSync, existsSync } from "node:fs"
import process from "node:process"

const { BELAY_TEST_LOG: log, BELAY_TEST_STORE: path = ":memory:" } = process.env
const note = (line: string) => log === undefined ? undefined : appendFileSync(log, `${line}\n`)
const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

const provider = fromPromise({
  name: "test",
  complete: async ({ messages }) => {
    const said = text(messages.findLast(({ role }) => role === "user")!)
    const [tool = ""] = said.split(" ")
    if (messages.at(-1)?.role === "tool") return textResponse(`finished: ${said}`)
    if (tool === "slow") {
      note("model begins")
      await pause(Number(said.split(" ")[1]))
      note("model ends")
    }
    if (tool === "fail") throw new Error("the model is on strike")
    return tool === "work" || tool === "danger"
      ? {
        ...textResponse(""),
        finishReason: "tool-calls",
        toolCalls: [{ id: `c${messages.length}`, name: tool, args: { said } }]
      }
      : textResponse(`re: ${said}`)
  }
})

const run = (name: string) =>
  defineTool({
    name,
    description: name,
    input: { type: "object" },
    execute: async (args) => {
      note(`${name} begins`)
      const [, time] = String(Object(args).said).split(" ")
      while (time === "told" && !existsSync(`${log}.told`)) await pause(10)
      await pause(Number(time) || 0)
      note(`${name} ends`)
      return "done"
    }
  })

const store = SqliteStore.make({ path })
const agent = createAgent({
  provider,
  store: store.sessions,
  tools: [run("work"), run("danger")],
  hooks: [{ name: "gate", tools: "danger", preToolCall: () => HookAction.ask("is that \u001b[2J safe?") }],
  log: false
})

export default { agent, store, pollMs: 20 }
