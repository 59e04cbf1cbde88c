/** Long results of tools are cleared from what is sent once newer ones have come. */
import { ContextEditing, createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const read = defineTool({
  name: "read_page",
  description: "Read a page",
  readOnly: true,
  input: z.object({ url: z.string() }),
  execute: ({ url }) => `${url}: ${"lorem ipsum ".repeat(500)}`
})

const sizes: Array<number> = []
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [read],
  hooks: [
    ContextEditing.make({ trigger: 2_000, keep: 1 }),
    { name: "size", priority: 999, preLlmCall: ({ messages }) => void sizes.push(JSON.stringify(messages).length) }
  ]
})
const page = (n: number) => `read the page https://example.com/${n}`
const { messages } = await agent.run(`Please ${page(1)}, then ${page(2)}, then ${page(3)}`)
console.log(
  `sent at most ${Math.ceil(Math.max(...sizes) / 1_000)} of ${
    Math.ceil(JSON.stringify(messages).length / 1_000)
  } thousand characters`
)
await agent.close()
