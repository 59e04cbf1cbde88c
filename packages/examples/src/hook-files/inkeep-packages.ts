/** A stored hook imports an allowed package, sees the tenant of each conversation, and counts its calls. */
import { Inkeep } from "@belay/hook-files"
import { createAgent, defineTool } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

// What code may import. Bundle a package of npm into one ES module to allow it.
const allowed: Inkeep.Packages = {
  money: { version: "1.0.0", code: `export const euros = (cents) => (cents / 100).toFixed(2) + " EUR"` }
}
const saved = JSON.stringify(Inkeep.bundle({
  id: "invoice",
  dependencies: { money: "1.0.0" },
  executeCode: `import { euros } from "money"
    export default async ({ conversation, result, variableBag }) => {
      const calls = (await variableBag.get("calls") ?? 0) + 1
      await variableBag.set("calls", calls)
      return { action: "proceed", result: conversation.tenantId + ": " + euros(result.cents) + ", call " + calls }
    }`
}, allowed))

const hook = Inkeep.make({
  definitions: [JSON.parse(saved)],
  attachments: [{ hookDefinitionId: "invoice", scope: "project", hookPoint: "after-result" }],
  tenantId: ({ root }) => root.sessionId.split(".")[0]!
})
const price = defineTool({ name: "price", description: "Price", input: z.object({}), execute: () => ({ cents: 1250 }) })
const asks = [Scripted.toolCalls({ name: "price" }, { name: "price" }), "done"]
const agent = createAgent({ provider: Scripted.make([...asks, ...asks]), tools: [price], hooks: [hook] })
for (const id of ["acme.1", "globex.1"]) {
  const session = await agent.session({ id })
  const { messages } = await session.run("What does it cost?")
  for (const message of messages) if (message.role === "tool") console.log(message.content)
}
await agent.close()
