/** Models of LangChain that answer from a script, and agents with tools that note what they did. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage } from "@langchain/core/messages"
import type { StructuredToolInterface } from "@langchain/core/tools"
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph"
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt"
import { fakeModel, tool } from "langchain"
import * as z from "zod"
import * as Guard from "../../src/Guard.ts"
import * as LangChain from "../../src/LangChain.ts"

let ids = 0

/** The model asks for tools. Without an id, each call gets a new one. */
export const calls = (...given: ReadonlyArray<readonly [name: string, args: object, id?: string]>): AIMessage =>
  new AIMessage({
    content: "",
    tool_calls: given.map(([name, args, id = `call-${++ids}`]) => ({ name, args: { ...args }, id, type: "tool_call" }))
  })

/** The model says something. */
export const says = (text: string): AIMessage => new AIMessage(text)

/** A model that gives these answers, one after the other, then says `done`. */
export const scripted = (...script: ReadonlyArray<AIMessage | Error>) => {
  const model = fakeModel()
  for (const step of script) model.respond(step)
  for (let more = 0; more < 3; more++) model.respond(says("done"))
  return model
}

/** What the model has read in its last call. */
export const lastInput = (model: ReturnType<typeof fakeModel>): string =>
  model.calls.at(-1)?.messages.map((message) => `${message.type}: ${message.text}`).join("\n") ?? ""

export const toolsOf = (ran: Array<string>) =>
  [
    tool(({ to }) => {
      ran.push(to)
      return `sent ${to}`
    }, { name: "send_mail", description: "Sends a mail", schema: z.object({ to: z.string() }) }),
    tool(({ url }) => {
      ran.push(url)
      return `the secret of ${url} is 4711`
    }, { name: "read_page", description: "Reads a page", schema: z.object({ url: z.string() }) })
  ] as const

/** A guarded agent with two tools, and what they have done. */
export const kit = (
  hooks: ReadonlyArray<AgentHook>,
  options: LangChain.LangChainOptions = {},
  more: Guard.GuardOptions = {},
  checkpointer = new MemorySaver()
) => {
  const ran: Array<string> = []
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = LangChain.make(guard, options)
  const tools = toolsOf(ran)
  const agent = (model: ReturnType<typeof fakeModel>) => guarded.createAgent({ model, tools: [...tools], checkpointer })
  return { agent, checkpointer, guard, guarded, ran, tools }
}

/** The conversation of a test. */
export const thread = { configurable: { thread_id: "t" } }

/** A message of the user. */
export const user = (content: string) => ({ messages: [{ role: "user" as const, content }] })

/** A loop of a model and its tools that the program makes itself. */
export const loopOf = (model: BaseChatModel, tools: ReadonlyArray<StructuredToolInterface>) => {
  const bound = model.bindTools!([...tools])
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await bound.invoke(messages)] }))
    .addNode("tools", new ToolNode([...tools]))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition, ["tools", END])
    .addEdge("tools", "agent")
}
