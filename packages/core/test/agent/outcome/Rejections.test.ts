/** Reject at every point where it is legal, and turns that fail and are recovered. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("Reject", () => {
  it("at preTurn fails the turn: the model is not called, the message is not stored", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "guard", preTurn: ({ message }) => message === "bad" ? HookAction.reject("no") : undefined }]
    })
    const session = await agent.session()
    const error = await failureOf(session.run("bad"))
    assert.strictEqual(error["_tag"], "HookRejected")
    assert.strictEqual(error["point"], "preTurn")
    assert.lengthOf(session.messages, 0)
    assert.lengthOf(model.requests, 0)
    assert.strictEqual((await session.run("good")).text, "the end")
  })

  it("at preLlmCall fails the turn without a retry", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "guard", preLlmCall: () => HookAction.reject("no") }]
    })
    assert.strictEqual((await failureOf(agent.run("go")))["message"], "guard rejected preLlmCall: no")
    assert.lengthOf(model.requests, 0)
  })

  it("at postLlmCall with feedback asks the model again, at most `retries` times", async () => {
    const model = scripted(["bad", "worse", "good", "bad", "bad", "bad"])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "judge",
        postLlmCall: ({ response }) =>
          response.text === "good" ? undefined : HookAction.reject("bad", { feedback: "do better", retries: 2 })
      }]
    })
    const session = await agent.session()
    const result = await session.run("go")
    assert.strictEqual(
      line(result.messages),
      "user: go | user (judge): do better | user (judge): do better | assistant: good"
    )
    assert.strictEqual((await failureOf(session.run("again")))["_tag"], "HookRejected")
    assert.lengthOf(model.requests, 6)
    assertValid(session.messages)
  })

  it("at preToolCall is the tool's error result; the loop continues and onToolDenied runs", async () => {
    const denied: Array<string> = []
    const model = scripted([asks(["rm"], ["look"]), "done"])
    const rm = recording("rm")
    const look = recording("look")
    await using agent = createAgent({
      provider: model.provider,
      tools: [rm.tool, look.tool],
      hooks: [{
        name: "guard",
        tools: "r*",
        preToolCall: () => HookAction.reject("too dangerous"),
        onToolDenied: ({ by, reason }) => void denied.push(`${by}: ${reason}`)
      }]
    })
    const result = await agent.run("go")
    assert.lengthOf(rm.ran, 0)
    assert.lengthOf(look.ran, 1)
    assert.deepStrictEqual(denied, ["guard: too dangerous"])
    assert.include(line(result.messages), "tool rm!: too dangerous | tool look: ok | assistant: done")
  })

  it("at postToolCall keeps the result and adds the reason for the model", async () => {
    const model = scripted([asks(["write"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("write", () => "wrote").tool],
      hooks: [{ name: "lint", postToolCall: () => HookAction.reject("it does not compile") }]
    })
    const result = await agent.run("go")
    assert.include(
      line(result.messages),
      "tool write: wrote | user (lint): About the result of write: it does not compile | assistant: done"
    )
  })

  it("at postTurn ends the turn with the error instead of the output", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "last", postTurn: () => HookAction.reject("no") }]
    })
    assert.strictEqual((await failureOf(agent.run("go")))["message"], "last rejected postTurn: no")
  })

  // rows: A-51
  it("by a fail-closed hook that fails is a HookFailed, and the tool does not run", async () => {
    const model = scripted([asks(["rm"]), "done"])
    const rm = recording("rm")
    await using agent = createAgent({
      provider: model.provider,
      tools: [rm.tool],
      hooks: [{
        name: "guard",
        failOpen: false,
        preToolCall: () => {
          throw new Error("guard is ill")
        }
      }]
    })
    const result = await agent.run("go")
    assert.lengthOf(rm.ran, 0)
    assert.match(line(result.messages), /tool rm!: hook guard failed at preToolCall \(threw\): guard is ill/)
    await using other = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "guard", kind: "policy", preTurn: () => Promise.reject(new Error("ill")) }]
    })
    assert.strictEqual((await failureOf(other.run("go")))["_tag"], "HookFailed")
  })
})

describe("a hook that checks the results of tools", () => {
  it("replaces the result by an error if it is fail-closed and fails, and adds advice if it rejects", async () => {
    const read = async (postToolCall: () => HookAction.Reject) => {
      const model = scripted([asks(["look"]), "done"])
      await using agent = createAgent({
        provider: model.provider,
        tools: [recording("look", () => "the secret").tool],
        hooks: [{ name: "guard", failOpen: false, postToolCall }]
      })
      await agent.run("go")
      return line(model.requests[1]!.messages)
    }
    const broken = await read(() => {
      throw new Error("guard is ill")
    })
    assert.notInclude(broken, "the secret")
    assert.match(broken, /tool look!: hook guard failed at postToolCall/)
    const advice = await read(() => HookAction.reject("look again"))
    assert.include(advice, "tool look: the secret")
    assert.include(advice, "look again")
  })
})

describe("onTurnError", () => {
  it("recovers a failed turn with the first answer; the later hooks are skipped", async () => {
    const seen: Array<string> = []
    const model = scripted([new ProviderError.Auth({ provider: "one", message: "bad key" })])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [
        {
          name: "log",
          priority: 1,
          onTurnError: ({ error, input }) => void seen.push(`${input.message} ${error._tag}`)
        },
        { name: "a", priority: 2, onTurnError: () => HookAction.replace({ text: "we are closed" }) },
        { name: "b", priority: 3, onTurnError: () => void seen.push("b") }
      ]
    })
    const result = await agent.run("hello")
    assert.strictEqual(result.status, "completed")
    assert.strictEqual(result.text, "we are closed")
    assert.deepStrictEqual(seen, ["hello Auth"])
  })

  it("runs for a rejection too, and leaves the error as it is when no hook recovers it", async () => {
    const seen: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "h",
        preTurn: () => HookAction.reject("no"),
        onTurnError: ({ error }) => void seen.push(error.message)
      }]
    })
    assert.strictEqual((await failureOf(agent.run("hello")))["_tag"], "HookRejected")
    assert.deepStrictEqual(seen, ["h rejected preTurn: no"])
  })

  it("does not run for aborts, asks and limits, which are not errors", async () => {
    let told = 0
    const model = scripted([asks(["look"])], { after: asks(["look"]) })
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      limits: { steps: 2 },
      hooks: [{ name: "h", onTurnError: () => void told++ }]
    })
    assert.strictEqual((await agent.run("go")).status, "limited")
    assert.strictEqual(told, 0)
  })
})
