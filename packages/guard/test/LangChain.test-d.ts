/** Types of LangChain survive the guard. */
import { fakeModel, tool } from "langchain"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as LangChain from "../src/LangChain.ts"

const guarded = LangChain.make(Guard.make())
const add = tool(({ a }) => a + 1, { name: "add", schema: z.object({ a: z.number() }) })
const [own] = guarded.tools([add])
void own.invoke({ a: 1 })
// @ts-expect-error -- the arguments keep their type
void own.invoke({ a: "one" })

const agent = guarded.createAgent({
  model: fakeModel(),
  tools: [add],
  responseFormat: z.object({ sum: z.number() })
})
void agent.invoke({ messages: [] }).then(({ structuredResponse: { sum } }) => sum.toFixed())
// @ts-expect-error -- the answer keeps its type
void agent.invoke({ messages: [] }).then(({ structuredResponse: { total } }) => total)
