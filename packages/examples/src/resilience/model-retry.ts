/** An overloaded model is asked again after short pauses; when that does not help, the turn ends with a text. */
import { createAgent, ModelRetry, OpenAiCompatible } from "@belay/sdk"

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [
    ModelRetry.make({
      maxRetries: 3,
      initialDelayMs: 5,
      perError: { RateLimited: { maxRetries: 5 } },
      whenExhausted: { respond: (error) => `Sorry, the model cannot be reached (${error._tag}).` }
    })
  ]
})
agent.on((event) =>
  event.type === "llm-error" ? console.log(`attempt ${event.attempt}: ${event.decision.type}`) : undefined
)
const { text } = await agent.run("Say hello")
console.log(text)
await agent.close()
