/** The parts of an agent: plugins, memory, policy, and names that must not clash. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { Plugin } from "../../../src/agent/Plugin.ts"
import type { MemoryPlugin } from "../../../src/port/MemoryPlugin.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"
import { memoryOf, policyOf } from "../../support/ports.ts"

describe("plugins and memory", () => {
  // rows: A-46
  it("uses memory and policy that come from the configuration or from a plugin", async () => {
    const log: Array<string> = []
    const look = recording("look")
    const backup = scripted(["from the backup"], { name: "backup" })
    const model = scripted([asks(["look"]), () => {
      log.push("provider")
      return "done"
    }])
    const plugin: Plugin = {
      name: "bundle",
      hooks: [{ name: "bundled", preTurn: () => void log.push("bundled hook") }],
      tools: [look.tool],
      providers: [backup.provider],
      memory: memoryOf(log),
      policy: policyOf(log)
    }
    await using agent = createAgent({ provider: model.provider, plugins: [plugin] })
    const result = await agent.run("hello")
    assert.deepStrictEqual(log, [
      "bundled hook",
      "memory.preTurnContext",
      "policy",
      "provider",
      "memory.postTurnObserve done"
    ])
    assert.lengthOf(look.ran, 1)
    assert.strictEqual(result.status, "completed")
  })

  it("continues without the memory when it fails, with a warning", async () => {
    const broken: ReadonlyArray<MemoryPlugin> = [
      { preTurnContext: () => Effect.fail("down"), postTurnObserve: () => Effect.fail("down") },
      { preTurnContext: () => Effect.die("down"), postTurnObserve: () => Effect.die("down") },
      {
        preTurnContext: () => {
          throw new Error("down")
        },
        postTurnObserve: () => {
          throw new Error("down")
        }
      },
      { preTurnContext: () => Effect.succeed("nonsense") as never, postTurnObserve: () => Effect.fail("down") },
      {
        preTurnContext: () => Effect.succeed([{ role: "tool", toolCallId: "x", toolName: "x", content: "orphan" }]),
        postTurnObserve: () => Effect.fail("down")
      }
    ]
    for (const memory of broken) {
      const warnings: Array<string> = []
      await using agent = createAgent({ provider: scripted(["fine"]).provider, memory })
      agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
      const result = await agent.run("hello")
      assert.strictEqual(line(result.messages), "user: hello | assistant: fine")
      assert.lengthOf(warnings, 2)
      assert.isTrue(warnings.every((text) => text.startsWith("memory ")))
    }
  })

  it("keeps a transcript valid when the model reuses ids of recalled tool calls", async () => {
    const memory: MemoryPlugin = {
      preTurnContext: () =>
        Effect.succeed([
          { role: "assistant", content: "", toolCalls: [{ id: "c", name: "look", args: {} }] },
          { role: "tool", toolCallId: "c", toolName: "look", content: "old" }
        ])
    }
    const model = scripted([asks(["look", {}, "c"]), "one", asks(["look", {}, "c"]), "two"])
    await using agent = createAgent({ provider: model.provider, memory, tools: [recording("look").tool] })
    const session = await agent.session()
    await session.run("first")
    assertValid(session.messages)
    await session.run("second")
    assertValid(session.messages)
  })

  it("refuses duplicate names and invalid configurations, and names the problem", () => {
    const { provider } = scripted([])
    const look = recording("look").tool
    const memory: MemoryPlugin = {}
    const attempts: ReadonlyArray<readonly [RegExp, () => unknown]> = [
      [
        /two tools are named "look"/,
        () => createAgent({ provider, tools: [look], plugins: [{ name: "p", tools: [look] }] })
      ],
      [/two providers have the name "one"/, () => createAgent({ provider: [provider, provider] })],
      [/memory: comes from config and p/, () => createAgent({ provider, memory, plugins: [{ name: "p", memory }] })],
      [/h/, () => createAgent({ provider, hooks: [{ name: "h" }], plugins: [{ name: "p", hooks: [{ name: "h" }] }] })],
      [/provider: is missing/, () => createAgent({} as never)],
      [/provider/, () => createAgent({ provider: [provider, undefined] as never })],
      [/tool name "a b"/, () => createAgent({ provider, tools: [{ ...look, name: "a b" }] })],
      [/"policy"/, () => createAgent({ provider, hooks: [{ name: "policy" }] })]
    ]
    for (const [message, make] of attempts) assert.throws(make, message)
  })
})
