/** What programs without types pass: a misspelt name must not end in a test that passes because a hook got nothing. */
import { createAgent } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookLaws from "@belay/testing/HookLaws"
import { recordingHook } from "@belay/testing/RecordingHook"
import * as Scripted from "@belay/testing/Scripted"
import { dryRun, testHook } from "@belay/testing/TestHook"
import * as VirtualClock from "@belay/testing/VirtualClock"
import { assert, describe, it } from "@effect/vitest"

const hook: AgentHook = { name: "quiet", preTurn: () => undefined }

/** Returns the message of the error. */
const why = (call: () => unknown): Promise<string> =>
  Promise.resolve().then(call).then(
    () => assert.fail("it is accepted"),
    (error: Error) => error.message
  )

describe("a test that passes what it should not", () => {
  it("gets an error that names the point which was meant", async () => {
    assert.strictEqual(
      await why(() => testHook(hook).given("preturn" as never)),
      "given: there is no point \"preturn\"; did you mean preTurn?"
    )
    assert.match(
      await why(() => dryRun([hook], "preturn" as never, {} as never)),
      /^dryRun: there is no point "preturn"/
    )
    assert.match(await why(() => recordingHook({ points: ["preturn"] as never })), /^recordingHook: there is no point/)
    assert.match(await why(() => recordingHook().at("preturn" as never)), /^at: there is no point "preturn"/)
    assert.match(
      await why(() => HookLaws.cases(hook, { events: { preturn: [{}] } as never })),
      /did you mean "preTurn"/
    )
  })

  it("gets an error for an event, a place, an option or a time of another kind", async () => {
    assert.match(await why(() => testHook(hook).given("preTurn", "hello" as never)), /^given: .* event is "hello"$/)
    assert.match(await why(() => testHook(hook).given("preTurn", null as never)), /^given: .* event is nothing$/)
    assert.match(
      await why(() => testHook(hook).given("preTurn", {}, { agent: "ada" } as never)),
      /^given\.agent: expected/
    )
    assert.match(await why(() => testHook(hook, { lm: () => "" } as never)), /^testHook\.lm: .*did you mean "llm"\?$/)
    assert.match(await why(() => testHook(hook, { llm: "yes" as never })), /^testHook\.llm: expected a function/)
    await using clock = VirtualClock.make()
    assert.match(await why(() => clock.advance("10" as never)), /^advance: .* ms is "10"$/)
    assert.match(await why(() => clock.advance(-1)), /^advance: .* ms is -1$/)
    assert.strictEqual(await clock.now(), 0)
  })

  it("gets an error for a script or a call that a model cannot play", async () => {
    assert.match(await why(() => Scripted.make("done" as never)), /^Scripted\.make: .* script is "done"$/)
    assert.match(await why(() => Scripted.toolCalls("bash" as never)), /^Scripted\.toolCalls: .* calls\[0\] is "bash"$/)
    const provider = Scripted.make([{ said: "done" } as never])
    await using agent = createAgent({ provider, log: false })
    assert.match(
      await why(() => agent.run("go")),
      /scripted: entry 1 of the script is a value of type object; expected/
    )
  })
})
