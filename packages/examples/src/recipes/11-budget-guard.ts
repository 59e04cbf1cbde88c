/**
 * What a conversation has cost is kept with it; when that is too much, no more tools run, in this process and in the
 * next.
 */
import * as SessionStore from "@belay/core/SessionStore"
import { createAgent, defineHook, defineTool, HookAction, HookState, Message } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const spent = HookState.key("micro_dollars", 0)
const limit = 50

const budget = defineHook({
  name: "budget-guard",
  kind: "policy",
  allowReentry: true,
  observes: ["postLlmCall"],
  postLlmCall: ({ executed, response }, ctx) => {
    const { inputTokens = 0, outputTokens = 0 } = response.usage ?? {}
    if (executed) ctx.state.durable.conversation.update(spent, (sum) => sum + inputTokens + 4 * outputTokens)
  },
  preToolCall: (_call, ctx) => {
    const sum = ctx.state.durable.conversation.get(spent)
    return sum < limit ? undefined : HookAction.reject(`BUDGET_EXCEEDED: ${sum} of ${limit} micro-dollars are spent`)
  }
})

const search = defineTool({ name: "search", description: "Search", input: z.object({}), execute: () => "found" })
const store = SessionStore.inMemory()
/** Every model call costs 30 micro-dollars: 10 tokens in, 5 out. */
const converse = async (...script: ReadonlyArray<Scripted.Entry>) => {
  const agent = createAgent({ provider: Scripted.make(script), store, tools: [search], hooks: [budget] })
  const session = await agent.session({ id: "research" })
  const { messages } = await session.run("Search")
  await agent.close()
  return Message.text(messages.findLast(({ role }) => role === "tool")!)
}
const searches = () => Scripted.toolCalls({ name: "search" })
console.log(`first: ${await converse(searches(), "enough")}`)
console.log(`second, after a restart: ${await converse(searches(), "enough")}`)
console.log(`third, after a restart: ${await converse(searches(), "enough")}`)
