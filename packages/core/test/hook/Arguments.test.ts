/** What a hook of an untyped program may pass to `ctx`. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../src/agent/createAgent.ts"
import { defineTool } from "../../src/agent/defineTool.ts"
import type { HookContext } from "../../src/hook/HookContext.ts"
import { asks, scripted } from "../support/model.ts"

type Untyped = {
  readonly [K in keyof HookContext]: HookContext[K] extends (...args: never) => infer R
    ? (...args: ReadonlyArray<unknown>) => R
    : HookContext[K]
}

describe("a hook that passes a wrong argument", () => {
  it.each<[string, (ctx: Untyped) => unknown]>([
    ["ctx.inject: expected a text, found number", (ctx) => ctx.inject(42)],
    ["ctx.inject: expected append or overwrite as `mode`", (ctx) => ctx.inject("x", { mode: "replace" })],
    ["ctx.inject: expected an object with options", (ctx) => ctx.inject("x", 3)],
    ["ctx.followUp: expected a text, found object", (ctx) => ctx.followUp({})],
    ["ctx.warn: expected a text, found undefined", (ctx) => ctx.warn()],
    ["ctx.notifyUser: expected a text, found null", (ctx) => ctx.notifyUser(null)],
    ["ctx.callTool: expected a text, found number", (ctx) => ctx.callTool(3, {})],
    ["ctx.llm: expected an object with a `prompt`", (ctx) => ctx.llm("is this safe?")]
  ])("fails itself: %s", async (message, use) => {
    let runs = 0
    const tool = defineTool({ name: "t", description: "t", input: { type: "object" }, execute: () => ++runs })
    const guard = {
      name: "guard",
      kind: "policy" as const,
      preToolCall: (_: unknown, ctx: HookContext) => void use(ctx as never)
    }
    await using agent = createAgent({
      provider: scripted([asks(["t"]), "done"]).provider,
      tools: [tool],
      hooks: [guard],
      log: false
    })
    const failures: Array<string> = []
    agent.on((event) => void (event.type === "hook-failed" && failures.push(`${event.hook}: ${event.message}`)))
    const { status } = await agent.run("go")
    assert.strictEqual(status, "completed")
    assert.strictEqual(runs, 0)
    assert.lengthOf(failures, 1)
    assert.include(failures[0]!, `guard: ${message}`)
  })
})
