/** What an agent does, as a recording hook sees it, by a clock that a test moves on. */
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as ProviderError from "@belay/core/ProviderError"
import { recordingHook } from "@belay/testing/RecordingHook"
import * as Scripted from "@belay/testing/Scripted"
import * as VirtualClock from "@belay/testing/VirtualClock"
import { assert, describe, it } from "vitest"

const look = defineTool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "seen" })

describe("recordingHook", () => {
  it("records every point of a turn in order, with its event and place", async () => {
    const recorder = recordingHook()
    const agent = createAgent({
      name: "tester",
      provider: Scripted.make([Scripted.toolCalls({ name: "look", args: { at: "here" } }), "done"]),
      tools: [look],
      hooks: [recorder]
    })
    const session = await agent.session({ id: "s" })
    await session.run("hello")
    await agent.close()
    assert.deepStrictEqual(recorder.points(), [
      "onSessionStart",
      "preTurn",
      "preLlmCall",
      "onLlmDelta",
      "postLlmCall",
      "preToolCall",
      "postToolCall",
      "postStep",
      "preLlmCall",
      "onLlmDelta",
      "postLlmCall",
      "postStep",
      "preStop",
      "postTurn",
      "onSessionEnd"
    ])
    assert.deepStrictEqual(recorder.at("preToolCall").map(({ args, name }) => ({ args, name })), [{
      args: { at: "here" },
      name: "look"
    }])
    const { agent: by, sessionId, stepNumber, turnNumber } = recorder.seen[5]!
    assert.deepStrictEqual([by, sessionId, turnNumber, stepNumber], ["tester", "s", 1, 1])
  })

  it("sees decisions of other hooks, and can record some points only", async () => {
    const recorder = recordingHook({ name: "eyes", points: ["preToolCall"] })
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls({ name: "look" }), "done"]),
      tools: [look],
      hooks: [recorder, { name: "no", preToolCall: () => HookAction.reject("not now") }]
    })
    await agent.run("hello")
    assert.deepStrictEqual(recorder.seen.map(({ outcome, point }) => ({ outcome, point })), [
      { outcome: { action: "Reject", reason: "not now", decidedBy: "no" }, point: "preToolCall" }
    ])
  })
})

describe("a virtual clock", () => {
  it("lets an agent wait only for the test", async () => {
    await using clock = VirtualClock.make()
    const limited = new ProviderError.RateLimited({ provider: "scripted", message: "later", retryAfterMs: 20_000 })
    const provider = Scripted.make([limited, limited, "at last"])
    await using agent = createAgent({
      provider,
      hooks: [
        defineHook({
          name: "patient",
          onLlmError: () => HookAction.transform({ type: "retry", delayMs: 20_000 } as const)
        })
      ],
      layer: clock.layer
    })
    let text: string | undefined
    const turn = agent.run("hello").then((result) => text = result.text)
    await clock.advance(19_999)
    assert.lengthOf(provider.requests, 1)
    await clock.advance(1)
    assert.lengthOf(provider.requests, 2)
    assert.isUndefined(text)
    await clock.advance(20_000)
    await turn
    assert.deepStrictEqual([text, provider.requests.length, await clock.now()], ["at last", 3, 40_000])
  })
})
