/** State under plain names, read and written by several hooks, and limits that hold for a tree of agents. */
import { agentTool, createAgent, defineHook } from "@belay/sdk"
import { Scripted } from "@belay/testing"

const cost = defineHook({
  name: "cost",
  priority: 50,
  postLlmCall: ({ response }, { state }) => {
    state.update("total_tokens", (total) => Number(total ?? 0) + (response.usage?.outputTokens ?? 0))
    state.update("model_calls", (calls) => Number(calls ?? 0) + 1)
  }
})
const report = defineHook({
  name: "report",
  postTurn: (_output, { agent, state }) => {
    if (agent.depth === 0) console.log(`model calls of the tree: ${Number(state.get("model_calls"))}`)
  }
})

const ask = Scripted.toolCalls({ name: "search", args: { message: "look again" } })
const searcher = createAgent({ name: "search", provider: Scripted.make(["found 1", "found 2"]), hooks: [cost] })
const lead = createAgent({
  name: "lead",
  provider: Scripted.make([ask, ask, "Two things."]),
  tools: [agentTool({ name: "search", description: "Searches", agent: searcher })],
  hooks: [cost, report]
})
const { status } = await lead.run("What is there?")
console.log(status)

const hungry = createAgent({
  name: "lead",
  provider: Scripted.make([ask, ask, ask, "never said"]),
  tools: [
    agentTool({
      name: "search",
      description: "Searches",
      agent: createAgent({ name: "search", provider: Scripted.make(["1", "2", "3"]) })
    })
  ],
  limits: { steps: 4 }
})
const limited = await hungry.run("What is there?")
console.log(limited.status === "limited" ? `${limited.status}: ${limited.limit}` : limited.status)
await lead.close()
await hungry.close()
