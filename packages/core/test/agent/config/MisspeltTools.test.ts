/** A guard for a tool that nobody has guards nothing, so a misspelt name is warned about. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { scripted } from "../../support/model.ts"

const tool = (name: string) => defineTool({ name, description: name, input: Schema.Struct({}), execute: () => "done" })

/** What an agent with the tools `deploy` and `ask_helper` warns about. Its sub-agent has the tool `send_mail`. */
const warningsOf = async (tools: string | ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const warnings: Array<string> = []
  const helper = createAgent({ name: "helper", provider: scripted(["hi"]).provider, tools: [tool("send_mail")] })
  const agent = createAgent({
    name: "lead",
    provider: scripted(["hi"]).provider,
    tools: [tool("deploy"), agentTool({ name: "ask_helper", description: "helps", agent: helper })],
    hooks: [{ name: "guard", tools, preToolCall: () => undefined }],
    log: ({ message }) => void warnings.push(message)
  })
  await agent.run("go")
  await agent.close()
  return warnings
}

describe("a hook for a tool that no agent of the tree has", () => {
  it("is warned about if a tool has nearly that name", async () =>
    assert.deepStrictEqual(await warningsOf("deplyo"), [
      `hook guard is for the tool "deplyo", which lead does not have; did you mean "deploy"?`
    ]))

  it("is warned about in each of its names, also in those that it excludes", async () =>
    assert.deepStrictEqual(
      (await warningsOf(["deploy", "!askhelper", "sendmail", "deploy_*"])).map((line) => line.split("did you")[1]),
      [` mean "ask_helper"?`, ` mean "send_mail"?`]
    ))

  it("is not warned about if its name is another one, a pattern, or that of a sub-agent's tool", async () =>
    assert.deepStrictEqual(await warningsOf(["refund_customer", "deplo*", "send_mail", "deploy"]), []))
})
