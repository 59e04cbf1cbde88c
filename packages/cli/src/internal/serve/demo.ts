/** The demo agent: a rule-based model on loopback, and tools that do no harm. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as Approval from "@belay/hooks/Approval"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Endpoint from "@belay/testing/Endpoint"
import * as Schema from "effect/Schema"
import { join } from "node:path"

const weather = defineTool({
  name: "get_weather",
  description: "Returns the weather of a city",
  readOnly: true,
  input: Schema.Struct({ city: Schema.String }),
  execute: ({ city }) => ({ city, degrees: 10 + city.length, sky: "clear" })
})

const email = defineTool({
  name: "send_email",
  description: "Sends an email to somebody",
  input: Schema.Struct({ to: Schema.String, text: Schema.String }),
  execute: ({ to }) => `The demo has sent nothing to ${to}.`
})

/** Makes the host of the demo agent. Its sessions are in a file of the data folder. */
export const makeDemo = async (data: string): Promise<Host.Host> => {
  const endpoint = await Endpoint.start()
  const store = SqliteStore.make({ path: join(data, "serve.db") })
  const agent = createAgent({
    name: "demo",
    provider: OpenAiCompatible.make({ model: "demo", baseUrl: endpoint.url, apiKey: "none" }),
    store: store.sessions,
    tools: [weather, email],
    hooks: [Approval.make({ tools: "send_email" })]
  })
  return Host.make({ agent, store })
}
