/** A long conversation of which the model is sent the beginning and the end; the conversation itself stays whole. */
import { createAgent, OpenAiCompatible, SlidingWindow } from "@belay/sdk"

const sent: Array<number> = []
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [
    SlidingWindow.make({ first: 1, last: 3 }),
    { name: "count", priority: 999, preLlmCall: ({ messages }) => void sent.push(messages.length) }
  ]
})
const session = await agent.session()
await session.run("Hello, my name is Ada.")
for (let question = 1; question <= 4; question++) await session.run(`Say ${question}`)
const { text } = await session.run("What is my name?")
console.log(text)
console.log(`${session.messages.length} messages, sent at most ${Math.max(...sent)}`)
await session.close()
await agent.close()
