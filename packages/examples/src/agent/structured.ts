/** An answer that is data: the schema goes to the model, the answer comes back decoded and typed. */
import { createAgent, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const schema = z.object({ to: z.string().describe("Email address"), copies: z.number().int() })

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), output: { name: "order", schema } })
const result = await agent.run("Send 3 copies to ada@example.com")
if (result.status === "completed") console.log(`${result.object.copies} for ${result.object.to}`)
await agent.close()
