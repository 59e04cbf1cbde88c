import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"

const tool = (name: string, more: Partial<AnyTool> = {}): AnyTool => ({
  ...defineTool({ name, description: name, input: { type: "object" } as const, execute: () => `${name} ran` }),
  ...more
})

describe("a tool", () => {
  it("brings its hooks to every agent that has it, and each of them once", async () => {
    const seen: Array<string> = []
    const hook: AgentHook = { name: "seen", preToolCall: ({ name }) => void seen.push(name) }
    const provider = Scripted.make([Scripted.toolCalls({ name: "a" }, { name: "b" }), "done"])
    await using agent = createAgent({
      provider,
      hooks: [hook],
      tools: [tool("a", { hooks: [hook] })],
      plugins: [{ name: "p", tools: [tool("b", { hooks: [hook] })] }],
      log: false
    })
    await agent.run("go")
    assert.deepEqual(seen, ["a", "b"])
  })

  it("brings a text to the instructions, after those of the agent, and each of them once", async () => {
    const make = async (instructions: string | undefined, tools: ReadonlyArray<AnyTool>) => {
      const provider = Scripted.make(["done"])
      await using agent = createAgent({
        provider,
        tools,
        log: false,
        ...(instructions === undefined ? {} : { instructions })
      })
      await agent.run("go")
      return provider.requests[0]!.instructions
    }
    const tools = [tool("a", { instructions: "A" }), tool("b", { instructions: "A" }), tool("c", { instructions: "C" })]
    assert.strictEqual(await make("Be brief.", tools), "Be brief.\n\nA\n\nC")
    assert.strictEqual(await make(undefined, tools), "A\n\nC")
    assert.isUndefined(await make(undefined, [tool("a")]))
  })

  it("that is deferred is left out of requests, and runs when the model asks for it", async () => {
    const provider = Scripted.make([Scripted.toolCalls({ name: "b" }), "done"])
    await using agent = createAgent({
      provider,
      tools: [tool("a"), tool("b", { deferred: true }), tool("c", { deferred: "vendor" })],
      log: false
    })
    const { messages } = await agent.run("go")
    assert.deepEqual(provider.requests[0]!.tools.map(({ deferred, name }) => [name, deferred]), [
      ["a", undefined],
      ["c", "vendor"]
    ])
    assert.strictEqual(messages.find(({ role }) => role === "tool")!.content, "b ran")
  })

  it("has these options checked", () => {
    const make = (more: object) =>
      createAgent({ provider: Scripted.make([]), tools: [tool("a", more as never)], log: false })
    assert.throws(() => make({ hooks: {} }), /tools\.a\.hooks: expected a list/)
    assert.throws(() => make({ instructions: 1 }), /tools\.a\.instructions: expected a text/)
    assert.throws(() => make({ deferrd: true }), /did you mean "deferred"/)
    assert.throws(() => make({ hooks: [{ name: "x", preTool: () => {} }] }), /preTool/)
  })
})
