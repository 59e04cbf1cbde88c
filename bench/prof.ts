import { createAgent, defineTool } from "@belay/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
const turns = +process.argv[2]
const script = () => { let step = 0; return (): any => step++ < turns ? { model: "fake", text: "", toolCalls: [{ id: `call_${step}`, name: "add", args: { a: step, b: 1 } }], finishReason: "tool-calls", usage: { inputTokens: 10, outputTokens: 5 } } : { model: "fake", text: "done", toolCalls: [], finishReason: "stop", usage: { inputTokens: 10, outputTokens: 5 } } }
let answer = script()
const provider = { name: "fake", complete: () => Effect.promise(async () => answer()) }
const add = defineTool({ name: "add", description: "Adds two numbers", input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }), execute: async ({ a, b }) => a + b })
const agent = createAgent({ provider, tools: [add], freeze: false })
const go = async (n: number) => { for (let i = 0; i < n; i++) { answer = script(); const s = await agent.session(); await s.run("add"); await s.close() } }
await go(2000)
const c = process.cpuUsage(); const t = performance.now(); await go(+process.argv[3]); const d = process.cpuUsage(c)
console.log("us per tool turn", (d.user + d.system) / (+process.argv[3]*turns), "wall", (performance.now() - t) * 1000 / (+process.argv[3]*turns))
