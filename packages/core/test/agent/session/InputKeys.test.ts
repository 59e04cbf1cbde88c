/** The host's own ids of messages: where they are stored, and who cannot change them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { SteerOutcome } from "../../../src/agent/Session.ts"
import type { TurnInput } from "../../../src/data/Turn.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

const conversation = (lines: ReadonlyArray<Line>, hooks: ReadonlyArray<AgentHook> = [], during?: () => unknown) => {
  const store = SessionStore.inMemory()
  const wait = recording("wait", () => during?.() ?? "waited")
  const agent = createAgent({ provider: scripted(lines).provider, tools: [wait.tool], hooks, store, log: false })
  const stored = () => Effect.runPromise(store.load("s"))
  return { agent, stored }
}

const keysOf = (messages: ReadonlyArray<object> = []) =>
  messages.flatMap((message) => "key" in message ? [message.key] : [])

describe("the key of an input", () => {
  it("is stored with the turn and with the message of the user", async () => {
    const { agent, stored } = conversation(["one", "two"])
    const session = await agent.session({ id: "s" })
    await session.run({ message: "first", key: "k1", attachments: [] })
    assert.deepStrictEqual(session.messages[0], { role: "user", content: "first", key: "k1" })
    assert.strictEqual((await stored())?.input.key, "k1")
    await session.run("second")
    const state = await stored()
    assert.isUndefined(state?.input.key)
    assert.deepStrictEqual(keysOf(state?.messages), ["k1"])
  })

  it("is stored with a message to a running turn, and the turn keeps its own key", async () => {
    const outcomes: Array<Promise<SteerOutcome>> = []
    const { agent, stored } = conversation(
      [asks(["wait"]), "done"],
      [],
      () => void outcomes.push(session.steer({ message: "be brief", key: "k2" }))
    )
    const session = await agent.session({ id: "s" })
    await session.run({ message: "go", key: "k1" })
    assert.strictEqual((await outcomes[0])?.type, "delivered")
    const state = await stored()
    assert.strictEqual(state?.input.key, "k1")
    assert.deepStrictEqual(keysOf(state?.messages), ["k1", "k2"])
  })

  it("stays when a hook replaces the input, and a hook cannot set another one", async () => {
    const answers: ReadonlyArray<TurnInput> = [{ message: "other" }, { message: "other", key: "forged" }]
    for (const [index, answer] of answers.entries()) {
      const hook: AgentHook = { name: "rewrite", preTurn: () => HookAction.transform(answer) }
      const { agent, stored } = conversation(["done"], [hook])
      const session = await agent.session({ id: "s" })
      await session.run(index === 0 ? { message: "go", key: "k1" } : "go")
      const expected = index === 0 ? "k1" : undefined
      assert.strictEqual((await stored())?.input.key, expected)
      assert.deepStrictEqual(keysOf(session.messages), expected === undefined ? [] : [expected])
      assert.strictEqual(session.messages[0]?.content, "other")
    }
  })

  it("is stored with a turn that was rejected before its message was", async () => {
    const hook: AgentHook = { name: "gate", preTurn: () => HookAction.reject("no") }
    const { agent, stored } = conversation(["done"], [hook])
    const session = await agent.session({ id: "s" })
    await session.run({ message: "go", key: "k1" }).catch(() => {})
    const state = await stored()
    assert.strictEqual(state?.input.key, "k1")
    assert.deepStrictEqual(state?.messages, [])
  })

  it("that is not a text is refused", async () => {
    const { agent } = conversation(["done"])
    const session = await agent.session({ id: "s" })
    const error: unknown = await session.run(JSON.parse(`{"message":"go","key":7}`)).catch((error: unknown) => error)
    assert.strictEqual(Object(error).problem, "wrong-input")
  })
})
