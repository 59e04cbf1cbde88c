/** The diff of a pull request has 40,000 tokens; the model reads three fields of every file. */
import { byLength } from "@belay/core/Tokenizer"
import { createAgent, defineTool, OpenAiCompatible, Projection } from "@belay/sdk"
import * as z from "zod"

const patch = "+ const answer = await ask(question)\n".repeat(480)
const files = Array.from(
  { length: 9 },
  (_, n) => ({ filename: `src/part-${n}.ts`, additions: 10 * n, deletions: n, patch })
)
const getPullRequest = defineTool({
  name: "get_pull_request",
  description: "Get a pull request with its diff",
  input: z.object({ number: z.number() }),
  execute: ({ number }) => ({ number, files })
})
const projection = Projection.make({
  projections: { get_pull_request: "files[*].{name: filename, additions: additions, deletions: deletions}" }
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [getPullRequest], hooks: [projection] })
const { messages } = await agent.run("Get the pull request 7")
const read = JSON.stringify(messages.find(({ role }) => role === "tool")?.content)
console.log(
  `the tool gave about ${byLength.count(JSON.stringify({ files }))} tokens, the model read about ${
    byLength.count(read)
  }:`
)
console.log(read)
await agent.close()
