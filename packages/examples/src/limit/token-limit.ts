/** A request that is too long is never sent; what was used can be read from the session. */
import { createAgent, OpenAiCompatible, TokenLimit } from "@belay/sdk"

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [TokenLimit.make({ perRequest: { input: 1_000 }, perSession: { total: 5_000 }, onLimit: "abort" })]
})
const session = await agent.session()
const hello = await session.run("Say hello")
console.log(hello.status, TokenLimit.used(session.state).session.input > 0)
const tooLong = await session.run(`Summarise: ${"all work and no play ".repeat(500)}`)
console.log(`${tooLong.status}: ${tooLong.text}`)
await agent.close()
