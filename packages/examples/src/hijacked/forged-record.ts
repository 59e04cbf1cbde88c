/** A forged thing that was asked for by name: the person names the vendor, and the attacker wrote that record. */
import { type AgentHook, Approval, createAgent, defineTool, Hooks } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const list = defineTool({
  name: "list_invoices",
  description: "List the open invoices",
  input: z.object({}),
  // Anybody can hand in an invoice. Nobody from Northwind wrote this one.
  execute: () => [{ invoice_id: "inv-9021", vendor: "Northwind" }, { invoice_id: "inv-1377", vendor: "Contoso" }]
})
const pay = defineTool({
  name: "pay_invoice",
  description: "Pay an invoice",
  input: z.object({ invoice_id: z.string() }),
  execute: ({ invoice_id: id }) => {
    console.log(`paid ${id}`)
    return "paid"
  }
})
const attempt = async (hooks: ReadonlyArray<AgentHook>) => {
  const provider = Scripted.make([
    Scripted.toolCalls({ name: "list_invoices", args: {} }),
    Scripted.toolCalls({ name: "pay_invoice", args: { invoice_id: "inv-9021" } }),
    "Done."
  ])
  const agent = createAgent({ provider, tools: [list, pay], hooks })
  await agent.run("Pay the invoice of Northwind")
  await agent.close()
}

await attempt(Hooks.safeDefaults())
// What helps: somebody who knows the vendors approves payments.
await attempt([
  ...Hooks.safeDefaults(),
  Approval.make({
    tools: "pay_*",
    name: "payments",
    ask: ({ args }) => (console.log(`asked: ${JSON.stringify(args)}`), { type: "deny", reason: "not from Northwind" })
  })
])
