/** Abort: at every point where it is legal, the turn ends now. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { type HookPointName, names, table } from "../../../src/hook/HookPoint.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("Abort", () => {
  const at: ReadonlyArray<HookPointName> = names.filter((point) =>
    (table[point].legal as ReadonlyArray<string>).includes("Abort") && !point.endsWith("Delegation")
  )

  it("is legal at exactly the points that are tested below", () => {
    assert.deepStrictEqual(at, [
      "onSessionStart",
      "preTurn",
      "postTurn",
      "preLlmCall",
      "onLlmDelta",
      "postLlmCall",
      "onLlmError",
      "preToolCall",
      "postToolCall",
      "onPermission",
      "postStep",
      "preStop",
      "onBudget"
    ])
  })

  for (const point of at) {
    it(`at ${point} ends the turn at once, with its reason as the last word`, async () => {
      let after = false
      let acts = 0
      const count = () => {
        if (after) acts++
      }
      const model = scripted([
        () => {
          count()
          return { ...asks(["look"], ["slow"]), text: "looking at it" }
        },
        () => {
          count()
          return new ProviderError.Connection({ provider: "one", message: "gone" })
        },
        () => {
          count()
          return "done"
        }
      ])
      let interrupted = false
      const look = recording("look", count)
      const slow = recording("slow", (_, { signal }) => {
        count()
        if (point !== "preToolCall" && point !== "postToolCall") return "slow"
        return new Promise((resolve) => {
          const timer = setTimeout(resolve, 20_000)
          signal.addEventListener("abort", () => {
            interrupted = true
            clearTimeout(timer)
          })
        })
      })
      const hook: AgentHook = {
        name: "stopper",
        [point]: (event: { readonly name?: string }) => {
          if (event.name === "slow") return undefined
          if (point === "preToolCall" || point === "postToolCall") {
            return Promise.resolve().then(() => {
              after = true
              return HookAction.abort("enough")
            })
          }
          after = true
          return HookAction.abort("enough")
        }
      }
      await using agent = createAgent({
        provider: model.provider,
        tools: [look.tool, slow.tool],
        window: { tokens: 10, compactAt: 100 },
        hooks: [hook],
        ...(point === "onPermission"
          ? { policy: { check: () => ({ type: "ask", reason: "?", grant: { sandbox: "none" } }) } }
          : {})
      })
      const session = await agent.session()
      const result = await session.run("go")
      assert.strictEqual(result.status, "aborted")
      if (result.status !== "aborted") return
      assert.strictEqual(result.text, "enough")
      assert.strictEqual(result.reason, "enough")
      assert.strictEqual(result.by, "stopper")
      assert.isTrue(after)
      assert.strictEqual(acts, 0)
      assertValid(session.messages)
      if (point === "preToolCall" || point === "postToolCall") {
        assert.isTrue(interrupted)
        assert.match(line(session.messages), /tool slow!: .*outcome is unknown/)
      }
    })
  }

  it("leaves the session usable", async () => {
    const model = scripted([asks(["look"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      hooks: [{ name: "stopper", preToolCall: () => HookAction.abort("enough") }]
    })
    const session = await agent.session()
    await session.run("go")
    const result = await session.run("again")
    assert.strictEqual(result.text, "done")
    assert.strictEqual(
      line(result.messages),
      "user: go | assistant[look]:  | tool look!: not run: enough | user: again | assistant: done"
    )
  })

  it("at preTurn drops the user's message, so that no later request has it", async () => {
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "stopper",
        preTurn: ({ message }) => message.includes("secret") ? HookAction.abort("enough") : HookAction.Continue
      }]
    })
    const session = await agent.session()
    await session.run("hello")
    const aborted = await session.run("a secret")
    assert.strictEqual(aborted.status, "aborted")
    for (const messages of [aborted.messages, session.messages]) {
      assert.strictEqual(line(messages), "user: hello | assistant: the end")
    }
    await session.run("more")
    assert.strictEqual(line(model.requests[1]!.messages), "user: hello | assistant: the end | user: more")
  })

  it("at postLlmCall drops the answer of the model", async () => {
    await using agent = createAgent({
      provider: scripted(["a secret"]).provider,
      tools: [recording("look").tool],
      hooks: [{ name: "stopper", postLlmCall: () => HookAction.abort("enough") }]
    })
    assert.strictEqual(line((await agent.run("go")).messages), "user: go")
  })

  it("keeps the user's message with keepMessage, with the changes of earlier hooks", async () => {
    const model = scripted(["done"])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [
        { name: "polite", preTurn: (input) => HookAction.transform({ ...input, message: `please ${input.message}` }) },
        {
          name: "stopper",
          preTurn: ({ message }) =>
            message.endsWith("go") ? HookAction.abort("enough", { keepMessage: true }) : HookAction.Continue
        }
      ]
    })
    const session = await agent.session()
    const told: Array<string> = []
    agent.on((event) => event.type === "turn-start" ? void told.push(event.message) : undefined)
    const first = await session.run("go")
    assert.deepStrictEqual([first.status, first.text, line(first.messages)], ["aborted", "enough", "user: please go"])
    const result = await session.run("on")
    assert.strictEqual(line(result.messages), "user: please go | user: please on | assistant: done")
    assert.deepStrictEqual(told, ["please go", "please on"])
    assertValid(session.messages)
  })

  it.each(["wrapLlmCall", "wrapToolCall"] as const)("that %s fails with is that of its hook", async (method) => {
    const abort = () => Effect.fail(HookAction.abort("enough"))
    await using agent = createAgent({
      provider: scripted([asks(["look"])]).provider,
      tools: [recording("look").tool],
      hooks: [{ name: "stopper", [method]: abort }]
    })
    const result = await agent.run("go")
    assert.deepInclude(result, { status: "aborted", reason: "enough", by: "stopper" })
  })
})
