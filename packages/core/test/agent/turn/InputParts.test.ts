/** The hooks of an input see every part of it that the model will read. */
import { assert, describe, it } from "vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { LlmRequest } from "../../../src/data/LlmCall.ts"
import type { TurnInput } from "../../../src/data/Turn.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { scripted } from "../../support/model.ts"

const input: TurnInput = {
  message: "go",
  instructions: "be brief",
  before: [{ role: "user", content: "earlier" }, { role: "assistant", content: "yes" }],
  tools: [{
    name: "look",
    description: "Looks",
    inputSchema: { type: "object", properties: { at: { type: "string" } } }
  }]
}

const run = async (hooks: ReadonlyArray<AgentHook>) => {
  const { provider, requests } = scripted(["done"])
  await using agent = createAgent({ provider, hooks })
  const result = await agent.run(input)
  return { result, requests }
}

/** What the model reads. */
const read = ([request]: ReadonlyArray<LlmRequest>) => [
  request?.instructions,
  ...(request?.messages.map(({ content }) => content) ?? [])
]

describe("the parts of an input", () => {
  it("are each shown to the hooks, and the model reads what they make of them", async () => {
    const seen: Array<string> = []
    const loud: AgentHook = {
      name: "loud",
      preTurn: ({ message, part = "message", ...rest }) => {
        seen.push(`${part}: ${message}`)
        return HookAction.transform(
          { ...rest, part, message: part === "tools" ? message : message.toUpperCase() } as TurnInput
        )
      }
    }
    const { requests } = await run([loud])
    assert.deepStrictEqual(seen, [
      "instructions: be brief",
      "tools: look",
      "tools: Looks",
      "tools: {\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}",
      "before: earlier",
      "before: yes",
      "message: go"
    ])
    assert.deepStrictEqual(read(requests), ["BE BRIEF", "EARLIER", "YES", "GO"])
  })

  it.each(["instructions", "tools", "before"] as const)("can each be refused: %s", async (refused) => {
    const { requests, result } = await run([
      { name: "no", preTurn: ({ part }) => part === refused ? HookAction.reject("not this") : undefined }
    ]).catch((error: unknown) => ({ requests: [], result: error }))
    assert.lengthOf(requests, 0)
    assert.include(String(result), "not this")
  })

  it("reach the model as they are if no hook looks at inputs", async () => {
    const { requests } = await run([])
    assert.deepStrictEqual(read(requests), ["be brief", "earlier", "yes", "go"])
    assert.deepStrictEqual(requests[0]?.tools.map(({ name }) => name), ["look"])
  })
})
