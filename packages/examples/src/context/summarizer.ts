/** A conversation that outgrows its window is summarised by a model; what must not be lost is not. */
import { createAgent, OpenAiCompatible, Summarizer } from "@belay/sdk"

const provider = OpenAiCompatible.fromEnv()
const agent = createAgent({
  provider,
  hooks: [
    Summarizer.make({ keep: 2, anchors: ["issue 4711"], summaryPrompt: "Summarise." }),
    { name: "log", postCompaction: ({ removedCount }) => console.log(`${removedCount} messages became a summary`) }
  ],
  window: { tokens: 600 }
})
const session = await agent.session()
await session.run(`We work on issue 4711. ${"It is about the import of orders. ".repeat(20)}`)
for (let step = 1; step <= 3; step++) await session.run(`Note ${step}: ${"the order came twice. ".repeat(20)}`)
console.log(JSON.stringify(session.messages).includes("issue 4711") ? "the issue is still known" : "the issue is lost")
await session.close()
await agent.close()
