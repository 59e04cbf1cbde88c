/** The types of the OpenAI Agents SDK survive the guard. */
import { Agent, tool } from "@openai/agents"
import { expectTypeOf } from "vitest"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"

interface Context {
  readonly user: string
}

const guarded = OpenAiAgents.make(Guard.make())
const act = tool({
  name: "act",
  description: "Acts",
  parameters: z.object({ to: z.string() }),
  execute: ({ to }) => to
})
const schema = z.object({ n: z.number() })
const plain = new Agent<Context, typeof schema>({ name: "lead", tools: [act], outputType: schema })
const agent = guarded.agent(plain)

expectTypeOf(agent).toEqualTypeOf<Agent<Context, typeof schema>>()

export const run = async () => {
  const result = await guarded.runner().run(agent, "go", { context: { user: "ada" } })
  expectTypeOf(result.finalOutput).toEqualTypeOf<{ n: number } | undefined>()
  // @ts-expect-error the answer has a number
  void result.finalOutput?.total
}

// @ts-expect-error this is not an agent
guarded.agent({ name: "lead" })
// @ts-expect-error a model is an object; names belong to the runner
guarded.model("gpt-4.1")
// @ts-expect-error there is no such option of a run
guarded.runner({ tracing: false })
