/** The methods of a core, and what a recovered turn leaves behind. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentCore } from "../../../src/agent/AgentCore.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { Overloaded } from "../../../src/data/ProviderError.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { scripted } from "../../support/model.ts"

const answering = (more: Partial<AgentCore>): AgentCore => ({
  coreType: "answering",
  runTurn: ({ message }) => Effect.succeed({ text: `heard ${message}`, finishReason: "stop" }),
  ...more
})

describe("a core", () => {
  // rows: A-46
  it("is initialised before a session's first turn and shut down when the session is closed, once each", async () => {
    const log: Array<string> = []
    const core = answering({
      init: (id) => Effect.sync(() => void log.push(`init ${id}`)),
      shutdown: (id) => Effect.sync(() => void log.push(`shutdown ${id}`))
    })
    await using agent = createAgent({
      provider: scripted([]).provider,
      core,
      hooks: [{ name: "watch", onSessionStart: () => void log.push("start"), onSessionEnd: () => void log.push("end") }]
    })
    const session = await agent.session({ id: "one" })
    await session.run("a")
    await session.run("b")
    await session.close()
    await session.close()
    assert.deepStrictEqual(log, ["init one", "start", "end", "shutdown one"])
  })

  it("that cannot be initialised fails the turn, and is tried again with the next", async () => {
    let tries = 0
    const core = answering({ init: () => ++tries === 1 ? Effect.fail("no disk") : Effect.void })
    await using agent = createAgent({ provider: scripted([]).provider, core })
    const session = await agent.session()
    const error: unknown = await session.run("a").catch((caught: unknown) => caught)
    assert.match(String(error), /the core could not be initialised: no disk/)
    assert.strictEqual((await session.run("b")).text, "heard b")
    assert.strictEqual(tries, 2)
  })

  it("that fails to shut down does not keep the session from closing", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      core: answering({ shutdown: () => Effect.fail("stuck") })
    })
    const session = await agent.session()
    await session.run("a")
    await session.close()
    const error: unknown = await session.run("b").catch((caught: unknown) => caught)
    assert.match(String(error), /closed/)
  })
})

describe("a recovered turn", () => {
  it("leaves its answer in the conversation, after the question", async () => {
    const overloaded = new Overloaded({ provider: "fake", message: "busy" })
    const model = scripted([overloaded, overloaded, overloaded, "fine now"])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "sorry",
        onTurnError: () => HookAction.replace({ text: "sorry, later" }),
        onLlmError: () => HookAction.replace({ type: "fail" })
      }]
    })
    const session = await agent.session()
    assert.strictEqual((await session.run("hello")).text, "sorry, later")
    assert.deepStrictEqual(session.messages, [{ role: "user", content: "hello" }, {
      role: "assistant",
      content: "sorry, later"
    }])
  })

  it("adds nothing when the question was refused before it was stored", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [
        { name: "refuse", preTurn: () => HookAction.reject("no") },
        { name: "sorry", onTurnError: () => HookAction.replace({ text: "not that" }) }
      ]
    })
    const session = await agent.session()
    assert.strictEqual((await session.run("hello")).text, "not that")
    assert.deepStrictEqual(session.messages, [])
  })
})
