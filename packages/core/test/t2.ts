import { createAgent, defineTool, HookAction, LlmProvider } from "@belay/core"
import { explain } from "@belay/core/HookRecord"
import * as Schema from "effect/Schema"
let n = 0
const provider = LlmProvider.fromPromise({
  name: "fake",
  complete: async (r) => {
    n++
    if (n === 1) {
      return {
        model: "m",
        text: "",
        toolCalls: [{ id: "1", name: "add", args: { a: 1, b: 2 } }, { id: "2", name: "del", args: { path: "x" } }, {
          id: "3",
          name: "nope",
          args: {}
        }],
        finishReason: "tool-calls",
        usage: { inputTokens: 10, outputTokens: 5 }
      }
    }
    return {
      model: "m",
      text: `done ${r.messages.length}`,
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 10, outputTokens: 5 }
    }
  }
})
const add = defineTool({
  name: "add",
  description: "adds",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  execute: ({ a, b }) => a + b
})
const del = defineTool({
  name: "del",
  description: "del",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
  execute: async (a) => {
    console.log("DEL", a)
    return "deleted"
  }
})
const agent = createAgent({
  provider,
  tools: [add, del],
  records: true,
  hooks: [
    { name: "ask", tools: "del", preToolCall: (c) => HookAction.ask("dangerous") },
    { name: "rw", tools: "add", preToolCall: ({ args, ...c }: any) => HookAction.transform({ ...c, args: { ...args, b: 40 } }) }
  ]
})
agent.on((e) => console.log(e.seq, e.type, JSON.stringify(e).slice(60, 200)))
const r = await agent.run("hi")
console.log(r.status, r.status === "suspended" && r.pending)
if (r.status === "suspended") {
  const text = JSON.stringify(r.snapshot)
  const r2 = await agent.resume(text, { "2": { type: "edit", args: { path: "y" } } })
  console.log(r2.status, r2.text, JSON.stringify(r2.messages, null, 1))
  console.log(explain(r2.records))
}
await agent.close()
