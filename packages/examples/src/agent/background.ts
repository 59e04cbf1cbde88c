/** Two agents in the background: the lead agent goes on while they work, and reads both answers before it ends. */
import { agentTool, createAgent } from "@belay/sdk"
import { Scripted } from "@belay/testing"

const researcher = (name: string, answer: string) => createAgent({ name, provider: Scripted.make([answer]) })

const lead = createAgent({
  name: "lead",
  provider: Scripted.make([
    Scripted.toolCalls({ name: "prices", args: { message: "paper" } }, { name: "stock", args: { message: "paper" } }),
    "I have asked two colleagues.",
    "One of them has answered.",
    ({ messages }) => {
      const answers = messages.flatMap((message) => message.role === "tool" ? [JSON.stringify(message.content)] : [])
        .slice(-2)
      return `They say: ${answers.sort().join(", ")}`
    }
  ]),
  tools: [
    agentTool({
      name: "prices",
      description: "Knows prices",
      agent: researcher("prices", "4.50 euros"),
      background: true
    }),
    agentTool({
      name: "stock",
      description: "Knows the stock",
      agent: researcher("stock", "12 boxes"),
      background: true
    })
  ]
})

for await (const event of lead.stream("What about paper?")) {
  if (event.type === "llm-end" && event.agent === "lead" && event.text !== "") console.log(event.text)
}
await lead.close()
