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

describe("a program that passes a wrong argument", () => {
  it("gets an error that names the method of its state", async () => {
    await using agent = createAgent({ provider: scripted([]).provider })
    const { state } = await agent.session()
    assert.throws(
      () => state.update("calls", null as never),
      "state.update: expected a function of the value of calls, found null"
    )
  })

  it("to the artifacts of a tool reads which method that was", async () => {
    const methods = ["write", "append", "read", "remove"] as const
    const tools = methods.map((method) =>
      defineTool({
        name: method,
        description: method,
        input: { type: "object" },
        execute: (_args, { artifacts }) => artifacts[method](undefined as never, "x")
      })
    )
    await using agent = createAgent({
      provider: scripted([asks(...methods.map((name) => [name] as const)), "done"]).provider,
      tools,
      log: false
    })
    const { messages } = await agent.run("go")
    const results = messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
    assert.deepStrictEqual(results, methods.map((name) => `ctx.artifacts.${name}: expected a text, found undefined`))
  })
})

describe("a hook that passes a wrong argument", () => {
  it.each<[string, (ctx: Untyped) => unknown]>([
    ["ctx.inject: expected a text, found number", (ctx) => ctx.inject(42)],
    ["ctx.inject: expected append or overwrite as `mode`", (ctx) => ctx.inject("x", { mode: "replace" })],
    ["ctx.inject: expected an object with options", (ctx) => ctx.inject("x", 3)],
    ["ctx.followUp: expected a text, found object", (ctx) => ctx.followUp({})],
    ["ctx.warn: expected a text, found undefined", (ctx) => ctx.warn()],
    ["ctx.notifyUser: expected a text, found null", (ctx) => ctx.notifyUser(null)],
    ["ctx.callTool: expected a text, found number", (ctx) => ctx.callTool(3, {})],
    ["ctx.llm: expected an object with a `prompt`", (ctx) => ctx.llm("is this safe?")],
    [
      "state.update: expected a function of the value of calls, found number",
      (ctx) => ctx.state.update("calls", 5 as never)
    ],
    [
      "state.update: expected a function of the value of calls, found object",
      (ctx) => ctx.local.update("calls", {} as never)
    ],
    ["ctx.artifacts.write: expected a text, found undefined", (ctx) => ctx.artifacts.write(undefined as never, "x")],
    ["ctx.artifacts.append: expected a text, found number", (ctx) => ctx.artifacts.append(1 as never, "x")],
    ["ctx.artifacts.read: expected a text, found null", (ctx) => ctx.artifacts.read(null as never)],
    ["ctx.artifacts.remove: expected a text, found object", (ctx) => ctx.artifacts.remove({} as never)],
    ["ctx.events.emit: expected a text, found symbol", (ctx) => ctx.events.emit(Symbol("x") as never, 1)]
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
