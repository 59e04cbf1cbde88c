/** A program that prints which files and functions of core a turn with one tool call runs, as V8 counts them. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import { Session } from "node:inspector/promises"

const provider = fromPromise({
  name: "looks once",
  complete: async ({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? textResponse("done")
      : {
        ...textResponse(""),
        finishReason: "tool-calls",
        toolCalls: [{ id: `c${messages.length}`, name: "look", args: {} }]
      }
})
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: async () => "seen"
})
const agent = createAgent({ provider, tools: [look], log: false })
const session = await agent.session()
for (let turns = 0; turns < 5; turns++) await session.run("look")

const inspector = new Session()
inspector.connect()
await inspector.post("Profiler.enable")
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
await session.run("look")
const { result } = await inspector.post("Profiler.takePreciseCoverage")
const walked = result.flatMap(({ functions, url }) => {
  const ran = functions.filter(({ ranges }) => ranges[0]!.count > 0)
  return url.includes("/core/src/") && ran.length > 0 ? [[url.split("/core/src/")[1], ran.length]] : []
})
console.log(JSON.stringify(Object.fromEntries(walked)))
inspector.disconnect()
await agent.close()
