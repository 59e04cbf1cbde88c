/** Words that may not get out are redacted in every place, those of another list stop the turn. */
import { createAgent, OpenAiCompatible, RegexFilter } from "@belay/sdk"

const filter = RegexFilter.make({
  rules: [
    { name: "project", pattern: "(?i)project falcon", strategy: "redact", replacement: "[a project]" },
    { name: "insult", pattern: "(?i)\\bblockhead\\b" }
  ],
  presets: ["secrets"]
})
const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), hooks: [filter] })
console.log((await agent.run("Tell me about Project Falcon")).text)
await agent.run("Tell me, blockhead").catch((error: Error) => console.log(error.message))
await agent.close()
