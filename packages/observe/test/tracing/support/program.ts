/** A program that traces and never closes anything. */
import { createAgent } from "@belay/core"
import * as Tracing from "@belay/observe/Tracing"
import * as Scripted from "@belay/testing/Scripted"

const tracing = Tracing.make({ exportEveryMs: 200 })
for (let left = Number(process.env["RUNS"] ?? 1); left > 0; left--) {
  const agent = createAgent({ provider: Scripted.make(["done"]), plugins: [tracing.plugin] })
  console.log((await agent.run("hi")).text)
}
