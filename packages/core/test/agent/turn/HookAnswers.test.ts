/** What each answer of a hook means to the run: Respond, Replace, Reject, Abort, at every point where it is legal. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { textResponse } from "../../../src/data/LlmCall.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("Respond", () => {
  it("at preTurn answers without the model; the post point still runs, with executed: false", async () => {
    const seen: Array<unknown> = []
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "faq",
        preTurn: () => HookAction.respond({ text: "read the manual" }),
        postTurn: ({ executed, output }) => void seen.push(executed, output.text)
      }]
    })
    const result = await agent.run("how?")
    assert.lengthOf(model.requests, 0)
    assert.deepStrictEqual(seen, [false, "read the manual"])
    assert.strictEqual(line(result.messages), "user: how? | assistant: read the manual")
  })

  it("at preLlmCall answers for the model; its tools run", async () => {
    const seen: Array<unknown> = []
    const model = scripted(["done"])
    const look = recording("look")
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [{
        name: "cache",
        preLlmCall: ({ messages }) =>
          messages.length === 1
            ? HookAction.respond({
              ...textResponse(""),
              toolCalls: [{ id: "x", name: "look", args: { from: "cache" } }]
            })
            : undefined,
        postLlmCall: ({ attempt, executed, provider }) => void seen.push(`${provider} ${attempt} ${executed}`)
      }]
    })
    const result = await agent.run("go")
    assert.deepStrictEqual(seen, ["cache 0 false", "one 1 true"])
    assert.deepStrictEqual(look.ran, [{ from: "cache" }])
    assert.lengthOf(model.requests, 1)
    assert.strictEqual(result.text, "done")
  })

  it("at preToolCall answers for the tool, with any JSON; the post point still runs, with executed: false", async () => {
    const seen: Array<unknown> = []
    const model = scripted([asks(["look"]), "done"])
    const look = recording("look")
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [{
        name: "mock",
        preToolCall: () => HookAction.respond([{ sky: null }, 3]),
        postToolCall: ({ elapsedMs, executed, result }) => {
          seen.push(executed, elapsedMs, result)
        }
      }]
    })
    const result = await agent.run("go")
    assert.lengthOf(look.ran, 0)
    assert.deepStrictEqual(seen, [false, 0, { ok: true, output: [{ sky: null }, 3] }])
    assert.include(line(result.messages), `tool look: [{"sky":null},3]`)
  })
})

describe("Transform and Replace", () => {
  it("of the turn's input are what the model reads and what is stored; Replace skips the later hooks", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [
        {
          name: "a",
          priority: 1,
          preTurn: (input) => HookAction.transform({ ...input, message: `${input.message} a` })
        },
        { name: "b", priority: 2, preTurn: (input) => HookAction.replace({ ...input, message: `${input.message} b` }) },
        {
          name: "c",
          priority: 3,
          preTurn: (input) => HookAction.transform({ ...input, message: `${input.message} c` })
        }
      ]
    })
    const result = await agent.run("hello")
    assert.strictEqual(line(model.requests[0]!.messages), "user: hello a b")
    assert.strictEqual(line(result.messages), "user: hello a b | assistant: the end")
  })

  it("of the request change what is sent, not what is stored", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      model: "small",
      hooks: [{
        name: "h",
        preLlmCall: (request) =>
          HookAction.transform({
            ...request,
            model: "big",
            parameters: { temperature: 0 },
            messages: [{ role: "user", content: "masked" }]
          })
      }]
    })
    const result = await agent.run("secret")
    assert.strictEqual(model.requests[0]!.model, "big")
    assert.deepStrictEqual(model.requests[0]!.parameters, { temperature: 0 })
    assert.strictEqual(line(model.requests[0]!.messages), "user: masked")
    assert.strictEqual(line(result.messages), "user: secret | assistant: the end")
  })

  it("of the response are what is stored and acted on", async () => {
    const model = scripted([{ ...asks(["rm"]), text: "removing" }])
    const rm = recording("rm")
    await using agent = createAgent({
      provider: model.provider,
      tools: [rm.tool],
      hooks: [{
        name: "h",
        postLlmCall: ({ response }) => HookAction.transform({ ...response, toolCalls: [], text: "removed nothing" })
      }]
    })
    const result = await agent.run("go")
    assert.lengthOf(rm.ran, 0)
    assert.strictEqual(line(result.messages), "user: go | assistant: removed nothing")
  })

  // rows: U-24
  it("of the arguments by a confidential hook run, while the history keeps the model's own", async () => {
    const model = scripted([asks(["login", { password: "$PW" }]), "done"])
    const login = recording("login")
    await using agent = createAgent({
      provider: model.provider,
      tools: [login.tool],
      hooks: [{
        name: "vault",
        confidential: true,
        preToolCall: (call) => HookAction.transform({ ...call, args: { password: "$OTHER" } }),
        wrapToolCall: (call, next) => next({ ...call, args: { password: "hunter2" } })
      }]
    })
    const result = await agent.run("go")
    assert.deepStrictEqual(login.ran, [{ password: "hunter2" }])
    assert.include(JSON.stringify(result.messages), `"args":{"password":"$PW"}}`)
    assert.notInclude(JSON.stringify(result.messages), "hunter2")
  })

  it("of the result are what the model reads; of the output what the caller reads", async () => {
    const model = scripted([asks(["look"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "h",
        postToolCall: () => HookAction.transform({ ok: false as const, error: "hidden" }),
        postTurn: ({ output }) => HookAction.transform({ ...output, text: output.text.toUpperCase() })
      }]
    })
    const result = await agent.run("go")
    assert.strictEqual(result.text, "DONE")
    assert.include(line(result.messages), "tool look!: hidden")
  })

  it("that change nothing at postStep keep the vendor's token count, with listeners or without", async () => {
    const levels: Array<string> = []
    const usage = { inputTokens: 750, outputTokens: 10 }
    await using agent = createAgent({
      provider: scripted([{ ...asks(["look"]), usage }, "done"]).provider,
      tools: [recording("look").tool],
      window: { tokens: 1_000, compactAt: 1 },
      hooks: [{
        name: "looks",
        postStep: () => undefined,
        preStop: () => undefined,
        onBudget: ({ level }) => void levels.push(level)
      }]
    })
    agent.on(() => {})
    await agent.run("go")
    assert.deepStrictEqual(levels, ["warn"])
  })

  it("of the history at preStop are kept when the agent stops, and say how full the window is", async () => {
    const seen: Array<unknown> = []
    const agent = createAgent({
      provider: scripted(["first", "second"]).provider,
      window: { tokens: 1_000 },
      hooks: [
        {
          name: "shorten",
          preStop: ({ budget, messages, text }) => {
            seen.push([text, messages.length, budget.windowTokens, budget.usedTokens > 0])
            return HookAction.transform([{ role: "user" as const, content: "the summary" }])
          }
        }
      ]
    })
    await using session = await agent.session()
    const { messages, text } = await session.run("go")
    assert.strictEqual(text, "first")
    assert.deepStrictEqual(messages, [{ role: "user", content: "the summary" }])
    await session.run("more")
    assert.deepStrictEqual(seen, [["first", 2, 1_000, true], ["second", 3, 1_000, true]])
  })

  it("of the history at postStep are kept only when a provider would take them", async () => {
    const model = scripted([asks(["look"]), asks(["look"]), "done"])
    const warnings: Array<string> = []
    let step = 0
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{
        name: "h",
        postStep: ({ messages }) => {
          step++
          if (step === 1) return HookAction.transform([{ role: "user" as const, content: "rewritten" }])
          return step === 2 ? HookAction.transform(messages.slice(0, -1)) : undefined
        }
      }]
    })
    agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
    const result = await agent.run("go")
    assert.strictEqual(line(result.messages), "user: rewritten | assistant[look]:  | tool look: ok | assistant: done")
    assert.lengthOf(warnings, 1)
    assert.match(warnings[0]!, /the new history was refused: tool call .+ has no result/)
  })
})
