import * as core from "@belay/core"
import * as hooks from "@belay/hooks"
import * as providers from "@belay/providers"
import * as sdk from "@belay/sdk"
import { Endpoint } from "@belay/testing"
import { assert, describe, it } from "vitest"

describe("@belay/sdk", () => {
  it("has every name of core, hooks and providers, and nothing else", () => {
    const expected: { readonly [name: string]: unknown } = { ...core, ...hooks, ...providers }
    assert.deepStrictEqual({ ...sdk }, { ...expected })
    assert.strictEqual(
      Object.keys(sdk).length,
      [core, hooks, providers].reduce((count, one) => count + Object.keys(one).length, 0)
    )
  })

  it("runs an agent with a tool and a hook from one import", async () => {
    const endpoint = await Endpoint.start()
    const { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } = sdk
    const agent = createAgent({
      provider: OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "none", model: "demo" }),
      tools: [defineTool({ name: "greet", description: "Greets", input: { type: "object" }, execute: () => "hello" })],
      hooks: [defineHook({
        name: "quiet",
        preTurn: ({ message }) => message === "shout" ? HookAction.reject("no shouting") : undefined
      })]
    })
    try {
      assert.isString((await agent.run("hi")).text)
      const refused = await agent.run("shout").then(() => "", (error: unknown) => String(error))
      assert.include(refused, "no shouting")
    } finally {
      await agent.close()
      await endpoint.close()
    }
  })
})
