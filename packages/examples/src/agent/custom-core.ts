/** Another turn strategy: answers twice and keeps the longer answer. Every hook around the model calls still runs. */
import type { AgentCore } from "@belay/core/AgentCore"
import { createAgent, OpenAiCompatible } from "@belay/sdk"
import * as Effect from "effect/Effect"

const bestOfTwo: AgentCore = {
  coreType: "best-of-two",
  runTurn: Effect.fnUntraced(function*(_input, ctx) {
    const first = yield* ctx.callModel
    const second = yield* ctx.callModel
    return first.text.length >= second.text.length ? first : second
  })
}

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  core: bestOfTwo,
  hooks: [{
    name: "count",
    kind: "observer",
    postLlmCall: ({ response }) => console.log(`answer of ${response.text.length} characters`)
  }]
})
const { steps, text } = await agent.run("Say hello")
console.log(`${steps} model calls`)
console.log(text)
await agent.close()
