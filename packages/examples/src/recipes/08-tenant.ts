/** Every call of a database tool gets the tenant of the conversation, whatever the model writes there. */
import { createAgent, defineHook, defineTool, HookState, ToolArguments } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const tenantId = HookState.key("tenant_id", "")
const login = defineHook({
  name: "login",
  onSessionStart: (_start, ctx) => ctx.state.durable.conversation.set(tenantId, "acme")
})
const tenant = ToolArguments.make({
  name: "tenant",
  tools: "db_*",
  confidential: true,
  rewrite: (args, _call, ctx) => ({ ...Object(args), tenant_id: ctx.state.durable.conversation.get(tenantId) })
})

const input = z.object({ table: z.string(), tenant_id: z.string().optional() })
const database = (name: string) =>
  defineTool({
    name,
    description: name,
    input,
    execute: ({ table, tenant_id }) => console.log(`${name} ${table} of ${tenant_id}`)
  })

const agent = createAgent({
  provider: Scripted.make([
    Scripted.toolCalls(
      { name: "db_read", args: { table: "orders" } },
      { name: "db_write", args: { table: "orders", tenant_id: "globex" } },
      { name: "weather", args: { table: "clouds" } }
    ),
    "done"
  ]),
  tools: [database("db_read"), database("db_write"), database("weather")],
  hooks: [login, tenant]
})
const { messages } = await agent.run("Update the orders")
console.log(JSON.stringify(messages).includes("acme") ? "the model saw the tenant" : "the model never saw the tenant")
await agent.close()
