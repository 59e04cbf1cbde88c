/** What a core and a memory may return: they may be programs without types. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { PortFailed } from "../../../src/data/AgentError.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { assertValid } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

describe("the output of a core", () => {
  it.each<[string, unknown]>([
    ["it is null", null],
    ["it is undefined", undefined],
    ["it is a string", "hi"],
    ["it is 42", 42],
    ["text is undefined", {}],
    ["text is 3", { text: 3, finishReason: "stop" }],
    ["text is an object", { text: {}, finishReason: "stop" }],
    ["finishReason is undefined", { text: "hi" }],
    ["finishReason is 3", { text: "hi", finishReason: 3 }]
  ])("fails the turn before any hook reads it if it is not an output: %s", async (problem, output) => {
    const seen: Array<unknown> = []
    await using agent = createAgent({
      provider: scripted(["unused"]).provider,
      core: { coreType: "mine", runTurn: () => Effect.succeed(output as never) },
      hooks: [{ name: "reader", postTurn: (event) => void seen.push(event) }]
    })
    const error = await agent.run("go").then(() => assert.fail("expected an error"), (caught: unknown) => caught)
    assert.instanceOf(error, PortFailed)
    assert.strictEqual(
      (error as Error).message,
      `the core mine returned something that is not an output: ${problem}; it returns { text, finishReason }`
    )
    assert.deepStrictEqual(seen, [])
  })
})

describe("messages of memory", () => {
  it.each<[string, unknown, RegExp]>([
    ["null", null, /expected an array of messages/],
    ["a list with null", [null], /refused: .*\[0\]/],
    ["an unknown role", [{ role: "oracle", content: "x" }], /refused: .*\[0\]/],
    ["content that is a number", [{ role: "user", content: 3 }], /refused: .*content/],
    ["calls that are a text", [{ role: "assistant", content: "x", toolCalls: "pay" }], /refused: .*toolCalls/]
  ])("are left out with a warning if they are not messages: %s", async (_what, messages, warning) => {
    const warnings: Array<AgentEvent> = []
    await using agent = createAgent({
      provider: scripted(["hi"]).provider,
      memory: { preTurnContext: () => Effect.succeed(messages as never) },
      log: false
    })
    agent.on((event) => event.type === "warning" && warnings.push(event))
    const result = await agent.run("go")
    assert.strictEqual(result.text, "hi")
    assertValid(result.messages)
    assert.lengthOf(result.messages, 2)
    assert.match(JSON.stringify(warnings), warning)
  })
})
