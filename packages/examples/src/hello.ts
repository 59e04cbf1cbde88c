import { Approval, CostTracker, createAgent, defineTool, InputGuardrail, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const deleteFile = defineTool({
  name: "delete_file",
  description: "Delete a file",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `deleted ${path}`
})
const guardrail = InputGuardrail.make({ patterns: ["(?i)password"] })
const cost = CostTracker.make({ costPerInputToken: 4e-7, costPerOutputToken: 1.6e-6, limit: 0.05 })
const ask = ({ tool }: Approval.Request) => (console.log(`approving ${tool}`), { type: "approve" as const })
const hooks = [guardrail, cost, Approval.make({ tools: ["delete_*"], ask })]

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [deleteFile], hooks })
const { text } = await agent.run("Delete the file notes.tmp")
console.log(text)
await agent.close()
