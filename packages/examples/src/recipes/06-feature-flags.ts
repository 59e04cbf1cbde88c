/** Every sub-agent, at any depth, gets the feature flags of the tenant, whose id is stored with the conversation. */
import { agentTool, createAgent, defineHook, HookAction, HookState } from "@belay/sdk"
import { Scripted } from "@belay/testing"

const tenantId = HookState.key("tenant_id", "")
const flagsOf: { readonly [tenant: string]: ReadonlyArray<string> } = {
  acme: ["new-checkout", "dark-mode"],
  globex: []
}

const login = defineHook({
  name: "login",
  onSessionStart: (_start, ctx) => ctx.state.durable.conversation.set(tenantId, "acme")
})
const flags = defineHook({
  name: "feature-flags",
  preDelegation: (delegation, ctx) => {
    const tenant = ctx.state.durable.conversation.get(tenantId)
    const known = Object.hasOwn(flagsOf, tenant) ? flagsOf[tenant]! : []
    const instructions = `Features that are on: ${known.join(", ") || "none"}.`
    return HookAction.transform({
      ...delegation,
      instructions: [delegation.instructions, instructions].filter(Boolean).join("\n")
    })
  }
})

const hands = (tool: string, message: string) => Scripted.toolCalls({ name: tool, args: { message } })
const worker = Scripted.make(["done"])
const lead = Scripted.make([hands("work", "Build the page."), "done"])
const tool = (name: string, provider: Scripted.Scripted, tools: ReadonlyArray<ReturnType<typeof agentTool>> = []) =>
  agentTool({ name, description: name, agent: createAgent({ name: `${name}er`, provider, tools }) })
const agent = createAgent({
  provider: Scripted.make([hands("lead", "Plan the page."), "done"]),
  tools: [tool("lead", lead, [tool("work", worker)])],
  hooks: [login, flags]
})
const { messages } = await agent.run("Make a page")
console.log(`leader reads: ${JSON.stringify(lead.requests[0]?.messages[0]?.content)}`)
console.log(`worker reads: ${JSON.stringify(worker.requests[0]?.messages[0]?.content)}`)
console.log(
  JSON.stringify([messages, lead.requests, worker.requests]).includes("acme")
    ? "a model saw the tenant"
    : "no model saw the tenant"
)
await agent.close()
