/** A billing agent begins with the account and its invoices, and need not ask for them. */
import { agentTool, createAgent, defineHook, HookAction, OpenAiCompatible } from "@belay/sdk"
import { Scripted } from "@belay/testing"

const fetchAccount = async (id: string) => ({ id, status: "past due" })
const fetchInvoices = async (id: string) => [{ id: `${id}-17`, amount: "$120.00", paid: false }]

const prefetch = defineHook({
  name: "billing-prefetch",
  preDelegation: async (delegation) => {
    if (delegation.agent !== "ask_billing") return undefined
    const [account, invoices] = await Promise.all([fetchAccount("acme"), fetchInvoices("acme")])
    const content = `What is known of the account: ${JSON.stringify({ account, invoices })}`
    return HookAction.transform({
      ...delegation,
      context: [...(delegation.context ?? []), { role: "user", content, source: "billing-prefetch" }]
    })
  }
})

const model = Scripted.make(["The invoice acme-17 over $120.00 is not paid."])
const billing = createAgent({ name: "billing", provider: model })
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [agentTool({ name: "ask_billing", description: "Ask the billing agent", agent: billing })],
  hooks: [prefetch]
})
const { text } = await agent.run("Ask billing why the account is locked")
for (const { content } of model.requests[0]?.messages ?? []) console.log(`billing reads: ${JSON.stringify(content)}`)
console.log(`in ${model.requests.length} call`)
console.log(text)
await agent.close()
