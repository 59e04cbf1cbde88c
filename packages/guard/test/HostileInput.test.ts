/** What goes wrong around a guard, in each adapter: nothing runs that the guard did not allow. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AiSdk from "../src/AiSdk.ts"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import * as LangChain from "../src/LangChain.ts"
import * as Mastra from "../src/Mastra.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"
import * as OpenCode from "../src/OpenCode.ts"
import * as Pi from "../src/Pi.ts"
import * as Strands from "../src/Strands.ts"
import { runners } from "./support/runners.ts"

const guard = (hook: object = {}, more: Guard.GuardOptions = {}) =>
  Guard.make({ hooks: [defineHook({ name: "h", kind: "policy", ...hook })], log: false, ...more })

/** Names that an object has already, and others that no SDK expects. */
const odd = ["__proto__", "constructor", "toString", "hasOwnProperty"]

describe.each(runners)("the guard in %s", (_name, run) => {
  it("runs what it allows, once", async () => {
    const { ran, read } = await run(guard())
    assert.strictEqual(ran, 1)
    assert.include(read, "4711, run 1")
  })

  it.each([undefined, null, {}, []])("refuses by name what is not a guard: %o", async (given) => {
    const { ran, read } = await run(given as never)
    assert.strictEqual(ran, 0)
    assert.include(read, "expected what Guard.make returns")
  })

  it("runs nothing if a hook throws", async () => {
    const { ran } = await run(guard({ preToolCall: () => Promise.reject(new Error("broken")) }))
    assert.strictEqual(ran, 0)
  })

  it("runs nothing if a hook hangs", async () => {
    const { ran } = await run(guard({ timeout: 30, preToolCall: () => new Promise(() => {}) }))
    assert.strictEqual(ran, 0)
  })

  it("does not begin a turn if the hook of the message throws", async () => {
    const { ran } = await run(guard({ preTurn: () => Promise.reject(new Error("broken")) }))
    assert.strictEqual(ran, 0)
  })

  it("withholds a result if the hook that reads it throws", async () => {
    const { ran, read } = await run(guard({ postToolCall: () => Promise.reject(new Error("broken")) }))
    assert.strictEqual(ran, 1)
    assert.notInclude(read, "4711")
  })

  it("runs nothing if the store fails", async () => {
    const store = { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    assert.strictEqual((await run(guard({}, { store }))).ran, 0)
  })

  it.each(odd)("decides about calls with the id %s", async (id) => {
    const denies = { preToolCall: () => HookAction.reject("no") }
    // The state of a session is an object, in which this one name cannot be a key. The call is refused.
    const allowed = id === "__proto__" ? 0 : 1
    assert.deepStrictEqual([(await run(guard(), { id })).ran, (await run(guard(denies), { id })).ran], [allowed, 0])
  })

  it.each(odd)("decides about tools with the name %s", async (name) => {
    const seen: Array<string> = []
    const denies = { preToolCall: (call: { readonly name: string }) => (seen.push(call.name), HookAction.reject("no")) }
    assert.strictEqual((await run(guard(denies), { name })).ran, 0)
    assert.deepStrictEqual(seen, [name])
  })

  it("lets two conversations with one id share their limit", async () => {
    const limit = {
      preToolCall: (
        _call: unknown,
        ctx: { readonly state: { update: (key: string, next: (n: unknown) => unknown) => unknown } }
      ) => Number(ctx.state.update("calls", (n) => Number(n ?? 0) + 1)) > 1 ? HookAction.reject("no more") : undefined
    }
    const shared = guard(limit)
    const store = SessionStore.inMemory()
    for (const [one, two] of [[shared, shared], [guard(limit, { store }), guard(limit, { store })]] as const) {
      const first = await run(one, { id: "1" }, { id: "ses_main" })
      const second = await run(two, { id: "2" }, { id: "ses_main" })
      assert.deepStrictEqual([first.ran, second.ran], [1, 0])
    }
  })
})

describe("two drivers that have one session at the same time", () => {
  const limit = defineHook({
    name: "limit",
    kind: "policy",
    preToolCall: (_call, { state }) =>
      Number(state.update("calls", (n) => Number(n ?? 0) + 1)) > 2 ? HookAction.reject("no more") : undefined
  })
  /** The conversation of opencode that its events are about. */
  const id = "ses_main"
  const pairs = runners.flatMap((one, index) =>
    runners.slice(index).map((two) => [one[0], two[0], one[1], two[1]] as const)
  )

  it.each(pairs)("keep its limit: %s and %s", async (_one, _two, one, two) => {
    for (const isOneGuard of [true, false]) {
      const store = SessionStore.inMemory()
      const make = () => Guard.make({ hooks: [limit], log: false, store })
      const shared = make()
      const other = isOneGuard ? shared : make()
      const turns = [one(shared, { id: "1" }, { id }), two(other, { id: "2" }, { id }), one(other, { id: "3" }, { id })]
      const results = await Promise.all(turns)
      // A turn that cannot save its state in time ends, so fewer may have run.
      assert.isAtMost(results.reduce((sum, { ran }) => sum + ran, 0), 2)
    }
  })

  it.each(pairs)("do not run a call twice that has the same id in both: %s and %s", async (_one, _two, one, two) => {
    const shared = guard({ preToolCall: async () => await new Promise<void>((done) => setTimeout(done, 5)) })
    const results = await Promise.all([one(shared, {}, { id }), two(shared, {}, { id })])
    for (const { ran } of results) assert.isAtMost(ran, 1)
  })
})

const adapters = { AiSdk, ClaudeAgent, LangChain, Mastra, OpenAiAgents, OpenCode, Pi, Strands }

describe.each(Object.entries(adapters))("the options of %s", (_name, { make }) => {
  it.each([[null, "expected options"], [{ askedBy: "ada" }, "hints, approvedBy"], [{ hints: null }, "hints"], [{
    hints: "all"
  }, "hints"], [
    { hints: { act: { readOnly: "no" } } },
    "hints.act.readOnly: expected true or false"
  ]])(
    "are refused by name if they are %o",
    (options, part) => {
      assert.throws(() => make(Guard.make({ log: false }), options as never), part)
    }
  )
})
