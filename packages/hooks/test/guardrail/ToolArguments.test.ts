import * as HookChain from "@belay/core/HookChain"
import * as ToolArguments from "@belay/hooks/ToolArguments"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call } from "../support/events.ts"
import * as Scope from "../support/scope.ts"

const run = (hook: Parameters<typeof HookChain.makeUnsafe>[0][number], event = call("fs_write", { path: "a" })) =>
  HookChain.makeUnsafe([hook]).run("preToolCall", event, Scope.make())

describe("ToolArguments", () => {
  // rows: A-66
  it.effect("hands new arguments on, and leaves the call what it was", () =>
    Effect.gen(function*() {
      const { action, event } = yield* run(
        ToolArguments.make({ tools: "fs_*", rewrite: (args) => ({ ...Object(args), dryRun: true }) })
      )
      assert.strictEqual(action._tag, "Transform")
      assert.deepEqual(event, { ...call("fs_write"), args: { path: "a", dryRun: true } })
    }))

  it.effect("waits for promises and Effects", () =>
    Effect.gen(function*() {
      const promised = yield* run(ToolArguments.make({ tools: "*", rewrite: async () => ({ by: "promise" }) }))
      const effectful = yield* run(ToolArguments.make({ tools: "*", rewrite: () => Effect.succeed({ by: "effect" }) }))
      assert.deepEqual([promised.event.args, effectful.event.args], [{ by: "promise" }, { by: "effect" }])
    }))

  it.effect("leaves arguments as they are when nothing is answered", () =>
    Effect.gen(function*() {
      const { action } = yield* run(ToolArguments.make({ tools: "*", rewrite: () => undefined }))
      assert.strictEqual(action._tag, "Continue")
    }))

  it.effect("rewrites for the tools it is for and no others", () =>
    Effect.gen(function*() {
      const hook = ToolArguments.make({ tools: ["fs_*", "!fs_stat"], rewrite: () => ({ seen: true }) })
      const seen = yield* Effect.forEach(
        ["fs_write", "fs_stat", "net_get", "x_fs_y"],
        (name) => Effect.map(run(hook, call(name)), ({ action }) => action._tag)
      )
      assert.deepEqual(seen, ["Transform", "Continue", "Continue", "Continue"])
    }))

  for (
    const [how, rewrite] of [
      ["throws", () => assert.fail("broken")],
      ["rejects", () => Promise.reject(new Error("broken"))],
      ["fails", () => Effect.fail("broken")]
    ] as const
  ) {
    it.effect(`keeps the tool from running when the rewriter ${how}`, () =>
      Effect.gen(function*() {
        const { action, failure } = yield* run(ToolArguments.make({ tools: "*", rewrite }))
        assert.strictEqual(action._tag, "Reject")
        assert.deepInclude(failure, { hook: "tool-arguments", policy: "reject" })
      }))
  }

  it.effect("types the arguments of one tool by its schema", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({ since: Schema.DateFromString, limit: Schema.Finite })
      const hook = ToolArguments.forTool({
        tool: "search",
        schema,
        rewrite: ({ limit, since }) => ({ since: new Date(since.getTime() + 1000), limit: Math.min(limit, 20) })
      })
      const { event } = yield* run(hook, call("search", { since: "2026-01-01T00:00:00.000Z", limit: 99 }))
      assert.deepEqual(event.args, { since: "2026-01-01T00:00:01.000Z", limit: 20 })
      assert.strictEqual((yield* run(hook, call("other"))).action._tag, "Continue")
    }))

  it.effect("keeps a typed tool from running with arguments that do not fit", () =>
    Effect.gen(function*() {
      const hook = ToolArguments.forTool({
        tool: "search",
        schema: Schema.Struct({ limit: Schema.Finite }),
        rewrite: (args) => args
      })
      assert.strictEqual((yield* run(hook, call("search", { limit: "many" }))).action._tag, "Reject")
    }))

  it("names typed rewriters after their tools, so that an agent can have several", () => {
    const schema = Schema.Struct({})
    const hooks = ["a", "b"].map((tool) => ToolArguments.forTool({ tool, schema, rewrite: () => undefined }))
    assert.deepEqual(HookChain.makeUnsafe(hooks).hooks.map(({ name }) => name), [
      "tool-arguments/a",
      "tool-arguments/b"
    ])
  })
})
