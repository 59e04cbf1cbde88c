/** What the model should know now: the branch once, and the clock in every request without leaving a trace. */
import { text } from "@belay/core/Message"
import { ContextInjector, createAgent, OpenAiCompatible } from "@belay/sdk"

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [
    ContextInjector.make({ name: "branch", render: async () => "The branch is main.", ttl: { turns: 10 } }),
    ContextInjector.make({ name: "clock", placement: "ephemeral", render: (ctx) => `This is turn ${ctx.turnNumber}.` }),
    {
      name: "show",
      priority: 999,
      preLlmCall: ({ messages }) =>
        console.log(
          messages.map((message) => message.role === "user" ? message.source ?? "user" : message.role).join(" ")
        )
    }
  ]
})
const session = await agent.session()
await session.run("Hello")
await session.run("Hello again")
console.log(session.messages.filter((message) => message.role === "user").map(text).join(" | "))
await session.close()
await agent.close()
