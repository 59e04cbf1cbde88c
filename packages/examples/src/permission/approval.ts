/**
 * A deployment that two people have to approve: the run waits, each answer is signed, and the second one lets it run.
 */
import * as Approvals from "@belay/core/Approvals"
import type { Suspended } from "@belay/core/RunResult"
import { Approval, createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const key = { id: "demo", secret: "not-a-secret-just-an-example" }
const deploy = defineTool({
  name: "deploy_service",
  description: "Deploy a service",
  input: z.object({}),
  execute: () => "deployed"
})
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [deploy],
  approvals: { keys: [key] },
  hooks: [Approval.make({ tools: "deploy_*", quorum: 2, approvers: ["ada", "bob"], expiresIn: "1 hour" })]
})

let run = await agent.run("Deploy the service")
for (const by of ["ada", "bob"]) {
  if (run.status !== "suspended") break
  const { pending: [ask], sessionId, snapshot, turnNumber }: Suspended = run
  console.log(`${ask!.tool} needs ${ask!.quorum}, approved by ${ask!.approved?.join(", ") ?? "nobody"}: ${by} approves`)
  const decision = await Approvals.sign(key, { sessionId, turnNumber, ask: ask! }, { type: "approve", by })
  run = await agent.resume(JSON.stringify(snapshot), { [ask!.callId]: decision })
}
console.log(`${run.status}: ${run.text}`)
await agent.close()
