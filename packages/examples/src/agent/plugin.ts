/** A plugin: memory, a tool and a hook under one name. */
import type { Plugin } from "@belay/core/Plugin"
import { createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import * as Effect from "effect/Effect"
import * as z from "zod"

const notes = (): Plugin => {
  const learnt: Array<string> = []
  return {
    name: "notes",
    memory: {
      preTurnContext: () =>
        Effect.succeed(
          learnt.length === 0 ? [] : [{ role: "user", content: `Earlier notes: ${learnt.join("; ")}`, source: "notes" }]
        ),
      postTurnObserve: (input) => Effect.sync(() => void learnt.push(input.message))
    },
    tools: [
      defineTool({
        name: "count_notes",
        description: "Count the notes",
        input: z.object({}),
        execute: () => learnt.length
      })
    ],
    hooks: [{ name: "notes/log", kind: "observer", postToolCall: ({ call }) => console.log(`used ${call.name}`) }]
  }
}

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), plugins: [notes()] })
const session = await agent.session()
await session.run("Hello there")
const { text } = await session.run("Count the notes")
console.log(text)
await session.close()
await agent.close()
