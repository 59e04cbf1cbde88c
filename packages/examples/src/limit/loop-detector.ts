/**
 * A model that asks for the same thing over and over: it is advised, then its calls are blocked, then the turn ends.
 */
import { createAgent, defineTool, LoopDetector } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const search = defineTool({
  name: "search",
  description: "Search the manual",
  input: z.object({ query: z.string() }),
  execute: () => "no results"
})
const again = () => Scripted.toolCalls({ name: "search", args: { query: "how to stop" } })

const agent = createAgent({
  provider: Scripted.make(Array.from({ length: 9 }, () => again)),
  tools: [search],
  hooks: [LoopDetector.make({ ladder: { observe: false, steer: 2, escalate: false, block: 3, stop: 4 } })]
})
agent.on((event) => event.type === "inject" ? console.log("advice:", event.text) : undefined)
const { status, text } = await agent.run("How do I stop?")
console.log(`${status}: ${text}`)
await agent.close()
