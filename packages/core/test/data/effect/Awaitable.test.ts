/** Capabilities are both Effects and awaitable. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import * as Awaitable from "../../../src/data/effect/Awaitable.ts"
import { defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { asks, scripted } from "../../support/model.ts"

describe("an awaitable value", () => {
  it("does nothing until it is awaited, and runs once for all who await it", async () => {
    let runs = 0
    const value = Awaitable.make(Effect.sync(() => ++runs))
    assert.strictEqual(runs, 0)
    assert.deepStrictEqual(await Promise.all([value, value, value.finally(() => {})]), [1, 1, 1])
    assert.strictEqual(await Effect.runPromise(Effect.map(value, (one) => one * 10)), 20)
  })

  it("rejects with the error of the Effect", async () => {
    const value = Awaitable.make(Effect.fail("no"))
    assert.strictEqual(await value.catch((error) => `caught ${String(error)}`), "caught no")
    assert.strictEqual(await Promise.resolve(value).catch((error) => error), "no")
    assert.strictEqual(await Effect.runPromise(Effect.flip(value)), "no")
  })

  it("writes no line of its log to standard output", async () => {
    const [out, error] = [vi.spyOn(console, "log").mockReturnValue(), vi.spyOn(console, "error").mockReturnValue()]
    await Awaitable.make(Effect.logWarning("it is late"))
    const [lines, printed] = [error.mock.calls.flat().map(String), out.mock.calls]
    vi.restoreAllMocks()
    assert.deepStrictEqual(printed, [])
    assert.lengthOf(lines.filter((line) => line.includes("it is late")), 1)
  })
})

describe("capabilities in async functions", () => {
  const keys = (list: ReadonlyArray<{ readonly key: string }>) => list.map(({ key }) => key).join(" ")

  it("write what is awaited, in hooks and in tools", async () => {
    const tool = defineTool({
      name: "note",
      description: "Keeps a note",
      input: { type: "object" },
      execute: async (_args, ctx) => {
        await ctx.artifacts.write("a", "from the tool", { mimeType: "text/markdown" })
        return keys(await ctx.artifacts.list())
      }
    })
    const hook = defineHook({
      name: "keeper",
      preToolCall: async (_call, ctx) => {
        await ctx.artifacts.write("b", "from the hook")
      },
      wrapToolCall: async (call, next) => ({ ...await next(call), durationMs: 1 })
    })
    await using agent = createAgent({
      provider: scripted([asks(["note"]), "done"]).provider,
      tools: [tool],
      hooks: [hook]
    })
    const { messages } = await agent.run("go")
    assert.deepInclude(messages.find(({ role }) => role === "tool"), { content: "hook:b tool:a" })
  })

  it("let a judge refuse a call, in an async function and in a generator", async () => {
    const verdicts = {
      async: defineHook({
        name: "async",
        kind: "policy",
        preToolCall: async (_call, ctx) =>
          (await ctx.llm({ prompt: "safe?" })).text === "no" ? HookAction.reject("judged unsafe") : undefined
      }),
      generator: defineHook({
        name: "generator",
        kind: "policy",
        *preToolCall(_call, ctx) {
          return (yield* ctx.llm({ prompt: "safe?" })).text === "no" ? HookAction.reject("judged unsafe") : undefined
        }
      })
    }
    for (const hook of Object.values(verdicts)) {
      let runs = 0
      const tool = defineTool({ name: "t", description: "t", input: { type: "object" }, execute: () => ++runs })
      await using agent = createAgent({
        provider: scripted([asks(["t"]), "no", "done"]).provider,
        tools: [tool],
        hooks: [hook]
      })
      const { messages } = await agent.run("go")
      assert.strictEqual(runs, 0)
      assert.include(JSON.stringify(messages), "judged unsafe")
    }
  })
})
