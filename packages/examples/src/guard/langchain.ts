/** An agent of LangChain with the guard of Belay: it asks a person before a file is deleted. */
import { defineHook, HookAction } from "@belay/core"
import { Guard } from "@belay/guard"
import * as LangChain from "@belay/guard/LangChain"
import { AIMessage } from "@langchain/core/messages"
import { Command, MemorySaver } from "@langchain/langgraph"
import { fakeModel, tool } from "langchain"
import * as z from "zod"

const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.ask("really?") })
const guarded = LangChain.make(Guard.make({ hooks: [careful] }), { approvedBy: "you" })
const deleteFile = tool(({ path }) => `deleted ${path}`, {
  name: "delete_file",
  description: "Deletes a file",
  schema: z.object({ path: z.string() })
})

// A script in place of a model. A real one is, for example, new ChatOpenAI({ model: "gpt-4.1" }).
const model = fakeModel()
  .respondWithTools([{ name: "delete_file", args: { path: "notes.tmp" } }])
  .respond(new AIMessage("The file is gone."))

const agent = guarded.createAgent({ model, tools: [deleteFile], checkpointer: new MemorySaver() })
const thread = { configurable: { thread_id: "1" } }
const [question] = await agent.invoke({ messages: [{ role: "user", content: "Delete notes.tmp" }] }, thread)
  .then(() => agent.graph.getState(thread))
  .then(({ tasks }) => tasks.flatMap(({ interrupts }) => interrupts))
console.log("asked:", question?.value.actionRequests[0].description)
const { messages } = await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread)
for (const message of messages.slice(-2)) console.log(`${message.type}: ${message.text}`)
