import { createAgent, defineTool } from "@belay/core"
import * as Effect from "effect/Effect"
let mode = process.argv[2]
const provider = { name: "fake", complete: () => mode === "sync" ? Effect.succeed(R) : Effect.promise(async () => R) }
const R: any = { model: "fake", text: "done", toolCalls: [], finishReason: "stop", usage: { inputTokens: 10, outputTokens: 5 } }
const agent = createAgent({ provider, freeze: false })
const s0 = await agent.session()
const kinds: any = {
  session: async () => { const s = await agent.session(); await s.close() },
  reuse: async () => { await s0.run("x") },
  run: async () => { await agent.run("x") },
}
for (const [k, f] of Object.entries<any>(kinds)) { for (let i=0;i<5000;i++) await f(); const c = process.cpuUsage(); const t = performance.now(); for (let i=0;i<50000;i++) await f(); const d = process.cpuUsage(c); console.log(k, ((d.user + d.system) / 50000).toFixed(2), "wall", ((performance.now() - t) * 1000 / 50000).toFixed(2)) }
const x = Effect.sync(()=>1)
for (let i=0;i<5000;i++) await Effect.runPromiseExit(x); const c = process.cpuUsage(); for (let i=0;i<50000;i++) await Effect.runPromiseExit(x);  const d = process.cpuUsage(c); console.log("bare runPromiseExit", ((d.user + d.system) / 50000).toFixed(2))
