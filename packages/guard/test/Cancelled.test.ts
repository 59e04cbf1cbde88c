/** A turn that is cancelled while the guard decides about a call: the call does not run. */
import { defineHook } from "@belay/core/AgentHook"
import { assert, describe, it } from "@effect/vitest"
import * as Guard from "../src/Guard.ts"
import * as Pi from "../src/Pi.ts"
import * as Strands from "../src/Strands.ts"
import { kit as aiSdk } from "./support/aiSdk.ts"
import { kit as mastra } from "./support/mastra.ts"
import { calls, scripted } from "./support/model.ts"
import { events as pi } from "./support/pi.ts"
import { events } from "./support/strands.ts"

/** A hook that allows the call, after the turn was cancelled. */
const cancelling = () => {
  const turn = new AbortController()
  const hook = defineHook({ name: "slow", preToolCall: () => turn.abort() })
  return { hook, signal: turn.signal }
}

describe("a call of a turn that is cancelled while the guard decides does not run", () => {
  it("in the AI SDK", async () => {
    const { hook, signal } = cancelling()
    const { guarded, ran, tools } = aiSdk([hook])
    const guardedTools = guarded.settings({ model: scripted(), tools, prompt: "go" }).tools
    const options = { toolCallId: "1", messages: [], abortSignal: signal, context: undefined } as never
    const end = await Promise.resolve(guardedTools.send_mail.execute!({ to: "ann", text: "" }, options)).then(
      () => "ran",
      String
    )
    assert.include(end, "AbortError")
    assert.deepStrictEqual(ran, [])
  })

  it("in Mastra", async () => {
    const { hook, signal } = cancelling()
    const { ask, config, ran } = mastra([hook], scripted(calls(["send_mail", { to: "ann" }, "1"])))
    await ask("go")
    const context = { agent: { toolCallId: "1" }, abortSignal: signal }
    const end = await Promise.resolve(config.tools.send_mail.execute({ to: "ann" }, context)).then(() => "ran", String)
    assert.include(end, "abort")
    assert.deepStrictEqual(ran, [])
  })

  it("in pi", async () => {
    const { hook, signal } = cancelling()
    const fire = pi(Pi.make(Guard.make({ hooks: [hook], log: false })), { context: { signal } })
    const event = { toolName: "send_mail", toolCallId: "1", input: { to: "ann" } }
    assert.deepStrictEqual(await fire("tool_call", event), {
      block: true,
      reason: "the turn was cancelled"
    })
  })

  it("in Strands", async () => {
    const { hook, signal } = cancelling()
    const { before } = events(Strands.make(Guard.make({ hooks: [hook], log: false })), { cancelSignal: signal })
    assert.strictEqual((await before("send_mail", { to: "ann" })).cancel, "the turn was cancelled")
  })
})
