/** A tool finds a key in a file; neither the model nor the log ever sees it. */
import { createAgent, defineTool, OpenAiCompatible, Secrets } from "@belay/sdk"

const key = ["sk", "proj", "FakeKey1For2Examples3Only4x"].join("-")
const read = defineTool({
  name: "read_config",
  description: "Read the config",
  input: { type: "object" },
  execute: () => `OPENAI_API_KEY=${key}\nregion=eu`
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [read], hooks: [Secrets.make()] })
const { messages, text } = await agent.run("Read the config")
console.log(text)
console.log(JSON.stringify(messages).includes(key) ? "the key leaked" : "the key is nowhere")
await agent.close()
