/** An overloaded model is asked again and again, but not more often than three times: every attempt counts. */
import { createAgent, defineHook, HookAction, ModelCallLimit, OpenAiCompatible } from "@belay/sdk"

const insist = defineHook({ name: "insist", onLlmError: () => HookAction.replace({ type: "retry", delayMs: 1 }) })
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [insist, ModelCallLimit.make({ perTurn: 3, onLimit: "abort" })]
})
const { status, text } = await agent.run("Say hello")
console.log(`${status}: ${text}`)
await agent.close()
