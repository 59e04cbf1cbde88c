/** A conversation that is handed over: the specialist also answers the next message, and hands it back. */
import { agentTool, createAgent } from "@belay/sdk"
import { Scripted } from "@belay/testing"

const billing = createAgent({
  name: "billing",
  provider: Scripted.make([
    "Your invoice is for 12 euros.",
    "You can pay until Friday.",
    Scripted.toolCalls({ name: "hand_back", args: { message: "The invoice is explained." } })
  ])
})

const desk = createAgent({
  name: "desk",
  provider: Scripted.make([
    Scripted.toolCalls({ name: "to_billing", args: { message: "A question about an invoice" } }),
    "Happy to help. Anything else?"
  ]),
  tools: [
    agentTool({
      name: "to_billing",
      description: "Takes over questions about money",
      agent: billing,
      type: "transfer",
      stays: true
    })
  ]
})

const session = await desk.session()
for (const message of ["How much is my invoice?", "And until when?", "Thanks, that is all about money."]) {
  let from = "desk"
  for await (const event of session.stream(message)) if (event.type === "llm-end") from = event.agent
  const last = session.messages.at(-1)
  console.log(`${from}: ${typeof last?.content === "string" ? last.content : ""}`)
}
await desk.close()
