import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { LlmRequest } from "@belay/core/LlmCall"
import { textResponse } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import * as ModelCallLimit from "@belay/hooks/ModelCallLimit"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "seen" })
const asks = () => Scripted.toolCalls({ name: "look" })
const down = new ProviderError.Overloaded({ provider: "one", message: "busy" })
const insist = { name: "insist", onLlmError: () => HookAction.replace({ type: "retry", delayMs: 0 } as const) }
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("expected a rejection"), (error) => error)

describe("ModelCallLimit", () => {
  it("ends a turn at its limit, and starts to count again in the next one", async () => {
    const provider = Scripted.make([asks(), asks(), "one", "two", "never"])
    await using agent = createAgent({
      provider,
      tools: [look],
      hooks: [ModelCallLimit.make({ perTurn: 2, perSession: 3, onLimit: "abort" })]
    })
    const session = await agent.session()
    assert.deepInclude(await session.run("go"), { status: "aborted", reason: "model call limit of 2 per turn reached" })
    assert.deepInclude(await session.run("go"), { status: "completed", text: "one" })
    assert.deepInclude(await session.run("go"), {
      status: "aborted",
      reason: "model call limit of 3 per session reached"
    })
    assert.lengthOf(provider.requests, 3)
  })

  it("counts every attempt, whatever other hooks decide about retries", async () => {
    const provider = Scripted.make([down, down, down, "never"])
    await using agent = createAgent({ provider, hooks: [insist, ModelCallLimit.make({ perTurn: 3 })] })
    assert.deepInclude(await rejection(agent.run("go")), {
      _tag: "HookRejected",
      reason: "model call limit of 3 per turn reached"
    })
    assert.lengthOf(provider.requests, 3)
  })

  it("keeps the error of the last attempt if no hook retries it", async () => {
    const auth = new ProviderError.Auth({ provider: "one", message: "wrong key" })
    await using agent = createAgent({ provider: Scripted.make([auth]), hooks: [ModelCallLimit.make({ perTurn: 1 })] })
    assert.deepInclude(await rejection(agent.run("go")), { _tag: "Auth" })
  })

  it("does not count calls that a hook or a cache answers", async () => {
    const provider = Scripted.make([])
    const cache = { name: "cache", wrapLlmCall: (_request: LlmRequest) => Effect.succeed(textResponse("cached")) }
    await using agent = createAgent({ provider, hooks: [cache, ModelCallLimit.make({ perSession: 1 })] })
    const session = await agent.session()
    for (const _ of [1, 2, 3]) assert.strictEqual((await session.run("go")).text, "cached")
  })

  it("continues to count after a resume", async () => {
    const make = (script: ReadonlyArray<Scripted.Entry>, steps: number) =>
      createAgent({
        provider: Scripted.make(script),
        tools: [look],
        hooks: [ModelCallLimit.make({ perTurn: 3, onLimit: "abort" })],
        limits: { steps }
      })
    await using first = make([asks(), asks()], 2)
    const limited = await first.run("go")
    if (limited.status !== "limited") return assert.fail(limited.status)
    await using second = make([asks(), "never"], 5)
    assert.deepInclude(await second.resume(JSON.stringify(limited.snapshot)), {
      status: "aborted",
      by: "model-call-limit",
      steps: 4
    })
  })

  it("calls the function for the limit of the turn", async () => {
    const provider = Scripted.make([asks(), "two"])
    const hook = ModelCallLimit.make({ perTurn: ({ turnNumber }) => turnNumber, onLimit: "abort" })
    await using agent = createAgent({ provider, tools: [look], hooks: [hook] })
    const session = await agent.session()
    assert.strictEqual((await session.run("go")).status, "aborted")
    assert.strictEqual((await session.run("go")).status, "completed")
  })

  it("rejects missing and invalid limits", () => {
    assert.throws(() => ModelCallLimit.make({}), ConfigError, /model-call-limit\.perTurn/)
    assert.throws(() => ModelCallLimit.make({ perTurn: Number.NaN }), ConfigError, /whole number from 0, found NaN/)
  })
})
