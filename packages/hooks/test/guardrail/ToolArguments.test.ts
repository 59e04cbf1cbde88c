import * as HookChain from "@belay/core/HookChain"
import * as ToolArguments from "@belay/hooks/ToolArguments"
import { testHook } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call } from "../../../../test/support/events.ts"

const write = { name: "fs_write", args: { path: "a" } }

describe("ToolArguments", () => {
  // rows: A-66
  it("changes only the arguments of the call", async () => {
    const { verdicts } = await testHook(
      ToolArguments.make({ tools: "fs_*", rewrite: (args) => ({ ...Object(args), dryRun: true }) })
    ).given("preToolCall", call("fs_write", { path: "a" })).expectTransform({ path: "a", dryRun: true })
    assert.deepEqual(verdicts[0]?.event, { ...call("fs_write"), args: { path: "a", dryRun: true } })
  })

  it("leaves out an argument that the function leaves out", async () => {
    const { verdicts } = await testHook(ToolArguments.make({ tools: "*", rewrite: () => ({ path: "b" }) }))
      .given("preToolCall", call("fs_write", { path: "a", force: true })).expectTransform({ path: "b" })
    assert.deepEqual(verdicts[0]?.event, { ...call("fs_write"), args: { path: "b" } })
  })

  it("hides what it writes only if the option says so", () => {
    const rewrite = () => ({ key: "k" })
    const isHidden = (confidential?: boolean) =>
      ToolArguments.make({ tools: "*", rewrite, ...(confidential === undefined ? {} : { confidential }) }).confidential
    assert.deepEqual([isHidden(true), isHidden(false), isHidden()], [true, false, false])
    const schema = Schema.Struct({})
    const typed = ToolArguments.forTool({ tool: "search", schema, rewrite: () => undefined, confidential: true })
    assert.isTrue(typed.confidential)
  })

  it("is the same hook if it is made again with the same options for the same tool", () => {
    const options = { tool: "search", schema: Schema.Struct({}), rewrite: () => undefined }
    assert.deepStrictEqual(ToolArguments.forTool(options).identity, ToolArguments.forTool(options).identity)
  })

  it("waits for promises and Effects", async () => {
    await testHook(ToolArguments.make({ tools: "*", rewrite: async () => ({ by: "promise" }) }))
      .given("preToolCall", write).expectTransform({ by: "promise" })
    await testHook(ToolArguments.make({ tools: "*", rewrite: () => Effect.succeed({ by: "effect" }) }))
      .given("preToolCall", write).expectTransform({ by: "effect" })
  })

  it("keeps the arguments if the function returns nothing", async () => {
    await testHook(ToolArguments.make({ tools: "*", rewrite: () => undefined }))
      .given("preToolCall", write).expectContinue()
  })

  it("rewrites only the arguments of the tools in `tools`", async () => {
    await testHook(ToolArguments.make({ tools: ["fs_*", "!fs_stat"], rewrite: () => ({ seen: true }) }))
      .given("preToolCall", { name: "fs_write" }).expectTransform({ seen: true })
      .given("preToolCall", { name: "fs_stat" }).expectContinue()
      .given("preToolCall", { name: "net_get" }).expectContinue()
      .given("preToolCall", { name: "x_fs_y" }).expectContinue()
  })

  for (
    const [how, rewrite] of [
      ["throws", () => assert.fail("broken")],
      ["rejects", () => Promise.reject(new Error("broken"))],
      ["fails", () => Effect.fail("broken")]
    ] as const
  ) {
    it(`does not run the tool when the function ${how}`, async () => {
      const { failures } = await testHook(ToolArguments.make({ tools: "*", rewrite }))
        .given("preToolCall", write).expectFailure("reject")
      assert.deepInclude(failures[0], { hook: "tool-arguments", policy: "reject" })
    })
  }

  it("types the arguments of one tool by its schema", async () => {
    const schema = Schema.Struct({ since: Schema.DateFromString, limit: Schema.Finite })
    const hook = ToolArguments.forTool({
      tool: "search",
      schema,
      rewrite: ({ limit, since }) => ({ since: new Date(since.getTime() + 1000), limit: Math.min(limit, 20) })
    })
    await testHook(hook)
      .given("preToolCall", { name: "search", args: { since: "2026-01-01T00:00:00.000Z", limit: 99 } })
      .expectTransform({ since: "2026-01-01T00:00:01.000Z", limit: 20 })
      .given("preToolCall", { name: "other" }).expectContinue()
  })

  it("does not run a typed tool with arguments that do not match its schema", async () => {
    const schema = Schema.Struct({ limit: Schema.Finite })
    await testHook(ToolArguments.forTool({ tool: "search", schema, rewrite: (args) => args }))
      .given("preToolCall", { name: "search", args: { limit: "many" } }).expectFailure("reject")
  })

  it("names typed hooks after their tools, so that an agent can have several", () => {
    const schema = Schema.Struct({})
    const hooks = ["a", "b"].map((tool) => ToolArguments.forTool({ tool, schema, rewrite: () => undefined }))
    assert.deepEqual(HookChain.makeUnsafe(hooks).hooks.map(({ name }) => name), [
      "tool-arguments/a",
      "tool-arguments/b"
    ])
  })
})
