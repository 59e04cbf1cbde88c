/** A tool that fetches may reach one host, and nothing inside the network, however it is written. */
import { createAgent, defineTool, EgressGuard, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const fetchPage = defineTool({
  name: "fetch_page",
  description: "Fetch a page",
  input: z.object({ url: z.string() }),
  execute: ({ url }) => `the page at ${url}`
})
const guard = EgressGuard.make({ tools: "fetch_*", allow: ["*.example.com"] })

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [fetchPage], hooks: [guard] })
for (
  const url of [
    "https://docs.example.com/a",
    "http://0x7f.1/admin",
    "http://169.254.169.254/latest",
    "https://example.org/"
  ]
) {
  const { messages } = await agent.run(`Fetch the page "${url}"`)
  console.log(messages.find(({ role }) => role === "tool")?.content)
}
await agent.close()
