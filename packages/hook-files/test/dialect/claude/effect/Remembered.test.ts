/** How many calls the permission entries of Claude Code remember. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Verdict } from "../../../../src/dialect/claude/answer/verdict.ts"
import { ruleHooks } from "../../../../src/dialect/claude/config/permissionRules.ts"
import { make } from "../../../../src/dialect/claude/effect/permission.ts"

const tool = { name: "Bash", description: "b", inputSchema: {} }
const callOf = (id: number) => ({ id: String(id), name: "Bash", args: { command: "ls" } })
const ctx = { sessionId: "s", askedAgain: false } as HookContext

/** The hook, with one entry that answers so, and the calls that the entry has read. */
const entry = (permission?: "allow") => {
  const read: Array<string> = []
  const hook = make({
    name: "claude",
    before: true,
    permission: false,
    denied: false,
    notify: () => undefined,
    fire: (_event, _ctx, { id }) => {
      read.push(id)
      const nothing: Verdict = { conflicts: [], messages: [], context: [] }
      return Effect.succeed(permission === undefined ? nothing : { ...nothing, permission })
    },
    back: (_call, input) => input,
    inject: () => {}
  })
  const run = async (point: "preToolCall" | "onPermission" | "onToolDenied", event: object): Promise<unknown> => {
    const answer = (hook[point] as (event: object, ctx: HookContext) => unknown)(event, ctx)
    return Effect.isEffect(answer) ? Effect.runPromise(answer as Effect.Effect<unknown>) : answer
  }
  return { read, run }
}

describe("the calls of a session that does not end", () => {
  it("are remembered for denials, the last thousand of them", async () => {
    const { read, run } = entry()
    for (let id = 0; id <= 1_000; id++) await run("preToolCall", { ...callOf(id), tool })
    read.length = 0
    for (const id of [1, 0]) await run("onToolDenied", { call: callOf(id), by: ruleHooks[0], reason: "no" })
    assert.deepStrictEqual(read, ["0"])
  })

  it("that entries allowed are remembered, the last thousand of them", async () => {
    const { read, run } = entry("allow")
    const ask = (id: number) => run("onPermission", { call: callOf(id), tool, reason: "?" })
    for (let id = 0; id <= 1_000; id++) {
      assert.deepStrictEqual(await ask(id), HookAction.replace({ type: "allow" }))
    }
    read.length = 0
    await ask(1)
    assert.deepStrictEqual(read, [])
    await ask(0)
    assert.deepStrictEqual(read, ["0"])
  })
})
