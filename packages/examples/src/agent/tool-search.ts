/** An agent with 500 tools, of which the model reads only the definitions that it needs. */
import { createAgent, defineTool, PermissionRules } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { ToolSearch } from "@belay/tools"
import * as z from "zod"

const countries = Array.from({ length: 250 }, (_, index) => `country${index + 1}`)
const tools = countries.flatMap((country) => [
  defineTool({
    name: `${country}_weather`,
    description: `The weather in ${country}, by city.`,
    input: z.object({ city: z.string() }),
    readOnly: true,
    execute: ({ city }) => `sunny in ${city}`
  }),
  defineTool({
    name: `${country}_book_train`,
    description: `Books a train in ${country}.`,
    input: z.object({ to: z.string() }),
    execute: () => "booked"
  })
])

// A script instead of a model, so that the program always does the same.
const model = Scripted.make([
  Scripted.toolCalls({ name: "search_tools", args: { query: "weather in country7", limit: 1 } }),
  Scripted.toolCalls({ name: "call_tool", args: { name: "country7_weather", arguments: { city: "Sevenoaks" } } }),
  Scripted.toolCalls({ name: "search_tools", args: { query: "country7_book_train", limit: 1 } }),
  Scripted.toolCalls({ name: "call_tool", args: { name: "country7_book_train", arguments: { to: "Sevenoaks" } } }),
  "It is sunny, but I may not book trains."
])
const agent = createAgent({
  provider: model,
  tools: ToolSearch.make({ tools }),
  hooks: [PermissionRules.make({ deny: ["*_book_train"] })]
})
for await (const event of agent.stream("What is the weather in Sevenoaks?")) {
  if (event.type === "tool-end" && event.result.ok) console.log(`ran: ${event.call.name}`)
  if (event.type === "tool-denied") console.log(`refused: ${event.call.name}`)
}
const [{ instructions = "", tools: shown } = { tools: [] }] = model.requests
console.log(`${tools.length} tools, ${shown.length} in the request, ${instructions.split("\n").length} lines of names`)
await agent.close()
