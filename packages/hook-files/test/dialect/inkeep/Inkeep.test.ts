import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import * as SessionStore from "@belay/core/SessionStore"
import * as Inkeep from "@belay/hook-files/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { type Hook, said, world } from "./support.ts"

const take = (args: Json) => calls(["take", args])
const proceed = { action: "proceed" } as const

describe("Inkeep", () => {
  // rows: E-01, E-02, E-06
  it("hands each point what belongs to it", async () => {
    const seen: Array<Inkeep.Context> = []
    const does = (ctx: Inkeep.Context) => {
      seen.push(ctx)
      return proceed
    }
    const helper = createAgent({ name: "helper", provider: scripted([{ text: "helped" }]).provider, tools: [] })
    const { agent } = world(
      (["before-args", "after-result", "before-delegation", "after-delegation"] as const).map((at) => ({ at, does })),
      [calls(["read_file", { path: "a" }]), calls(["helper", { message: "help me" }])],
      { tenantId: "t1", projectId: "p1", mcp: () => ({ callTool: () => null, listTools: () => [] }) },
      { tools: [agentTool({ name: "helper", agent: helper, description: "helps" })] }
    )
    await using session = await agent.session({ id: "s" })
    await session.run("go")
    const [args, result, , before, after] = seen
    const conversation = { conversationId: "s", taskId: "s/1", tenantId: "t1", projectId: "p1" }
    for (const one of seen) assert.deepEqual(one.conversation, conversation)
    assert.deepInclude(args!.tool, { name: "read_file", type: "function", readonly: true, sideEffects: false })
    assert.deepEqual(args!.args, { path: "a" })
    assert.deepEqual([result!.args, result!.result, result!.isError], [{ path: "a" }, "done", false])
    assert.deepInclude(before, { subAgent: { agentId: "helper", name: "helper" }, delegationType: "delegate" })
    assert.deepEqual(before!.payload, { message: "help me", messages: [] })
    assert.strictEqual(after!.result, "helped")
    for (const one of [args!, before!]) assert.containsAllKeys(one, ["variableBag", "artifacts", "mcp", "http"])
    assert.deepEqual(seen.map(({ hook }) => hook.point), [
      "before-args",
      "after-result",
      "before-args",
      "before-delegation",
      "after-delegation",
      "after-result"
    ])
  })

  // rows: E-03, E-04, DEC-03
  it("block answers in place of the tool, with a text or any JSON, and the model goes on", async () => {
    const { agent, requests, took } = world([{
      at: "before-args",
      does: () => ({ action: "block", result: { cached: [1, 2] } })
    }], [
      take({})
    ])
    const { messages, text: last } = await agent.run("go")
    assert.deepEqual(took, [])
    assert.deepEqual(said(messages), [`{"cached":[1,2]}`])
    assert.lengthOf(requests, 2)
    assert.strictEqual(last, "the end")
  })

  // rows: E-05, DEC-17
  it("abort ends the turn: no further call of the model, and parallel calls are cancelled", async () => {
    let cancelled = 0
    const { agent, requests, took } = world(
      [{
        at: "before-args",
        does: ({ args }) =>
          (args as { stop?: boolean }).stop === true ? { action: "abort", reason: "no meetings today" } : proceed
      }],
      [calls(["wait", {}], ["take", { stop: true }])],
      {},
      {
        tools: [defineTool({
          name: "wait",
          description: "waits",
          input: { type: "object" },
          execute: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void cancelled++))
        })]
      }
    )
    const result = await agent.run("go")
    assert.deepInclude(result, { status: "aborted", reason: "no meetings today" })
    assert.lengthOf(requests, 1)
    assert.deepEqual(took, [])
    assert.strictEqual(cancelled, 1)
  })

  // rows: E-08, E-09, DEC-19, DEC-04
  it("the project's run first, then the agent's, by order, each on what the one before made", async () => {
    const append = (word: string) => ({ args }: Inkeep.Context) => ({
      action: "proceed",
      args: { answer: `${(args as { answer: string }).answer}${word}` }
    })
    const mine = { _tag: "agent", agentId: "writer" } as const
    const hooks: ReadonlyArray<Hook> = [
      { at: "before-args", does: append("d"), scope: mine, order: 1 },
      { at: "before-args", does: append("c"), scope: mine, order: 0 },
      { at: "before-args", does: append("x"), scope: { _tag: "agent", agentId: "other" }, order: -1 },
      { at: "before-args", does: append("b"), order: 9 },
      { at: "before-args", does: append("a"), order: 2, name: "first" },
      { at: "before-args", does: append("A"), order: 2, name: "second" }
    ]
    const { agent, took } = world(
      hooks.map((hook, index) => ({ name: `h${index}`, ...hook })),
      [take({ answer: "" })],
      {
        agentId: "writer"
      }
    )
    await agent.run("go")
    assert.deepEqual(took, [{ answer: "aAbcd" }])
    const ends = world([
      { at: "after-result", does: () => ({ action: "block", result: "stored" }), order: 1, name: "router" },
      { at: "after-result", does: () => assert.fail("it is not asked"), order: 2, name: "never" }
    ], [take({})])
    assert.deepEqual(said((await ends.agent.run("go")).messages), ["stored"])
  })

  // rows: E-03, DEC-09, DEC-05
  it("only the union counts: anything else is an error that says what was meant", async () => {
    const cases: ReadonlyArray<readonly [Hook["at"], unknown, RegExp]> = [
      [
        "before-args",
        { reason: "x" },
        /expected \{ action: "proceed", "block", "abort" \} at before-args, found an object with reason; did you mean \{ action: "block", result: reason \}\?/
      ],
      ["before-args", undefined, /found nothing; did you mean \{ action: "proceed" \}\?/],
      ["before-args", { action: "allow" }, /found "allow"; did you mean "proceed"\?/],
      ["before-args", { action: "Block", result: 1 }, /did you mean "block"\?/],
      ["before-args", { action: "proceed", result: 1 }, /found proceed with result; did you mean args\?/],
      ["before-args", { action: "block" }, /block without a result/],
      ["before-args", { action: "abort" }, /abort without a reason/],
      ["before-args", "proceed", /found "proceed"/],
      ["before-args", { action: "proceed", args: { f: () => 1 } }, /args that is not JSON/],
      ["after-result", { action: "proceed", args: {} }, /did you mean result\?/]
    ]
    for (const [at, answer, expected] of cases) {
      const { agent, took, warnings } = world([{ at, does: () => answer }], [take({ answer: "kept" })])
      const { messages } = await agent.run("go")
      assert.match(warnings.join("\n"), expected)
      assert.deepEqual([took, said(messages)], [[{ answer: "kept" }], ["kept"]])
    }
  })

  it("{ proceed: false } refuses the call, with a warning that says the right word", async () => {
    const cases: ReadonlyArray<readonly [answer: object, told: string]> = [
      [{ proceed: false, reason: "not today" }, "not today"],
      [{ proceed: false }, "a hook refused this without a reason"]
    ]
    for (const [answer, told] of cases) {
      const { agent, took, warnings } = world([{ at: "before-args", does: () => answer }], [take({ answer: "kept" })])
      const { messages } = await agent.run("go")
      assert.deepEqual([took, said(messages)], [[], [told]])
      assert.match(warnings.join("\n"), /did you mean \{ action: "block", result: reason \}\?; it counts as a refusal/)
    }
    const closed = world([{ at: "before-args", does: () => cases[0]![0], onError: "abort" }], [take({})])
    assert.strictEqual((await closed.agent.run("go")).status, "aborted")
    assert.deepEqual(closed.took, [])
  })

  // rows: E-11
  it("a hook that breaks is a warning, or with onError the end of the turn, with the error as its last word", async () => {
    const breaks = () => {
      throw new Error("vault is down")
    }
    const open = world([{ at: "before-args", does: breaks }], [take({})])
    assert.strictEqual((await open.agent.run("go")).status, "completed")
    assert.deepEqual(open.took, [{}])
    assert.match(open.warnings[0]!, /d0@project \(before-args\) broke: vault is down/)
    const closed = world([{ at: "before-args", does: breaks, onError: "abort" }], [take({})])
    assert.deepInclude(await closed.agent.run("go"), {
      status: "aborted",
      reason: "d0@project (before-args) broke: vault is down"
    })
    assert.deepEqual([closed.took, closed.requests.length], [[], 1])
    const slow = world([{
      at: "before-args",
      does: () => new Promise(() => {}),
      onError: "abort",
      sandboxConfig: { timeoutMs: 30 }
    }], [
      take({})
    ])
    assert.match((await slow.agent.run("go") as unknown as { reason: string }).reason, /took longer than 30 ms/)
  })

  // rows: E-20, E-22, DEC-11
  it("variables live as long as the conversation, are read as written, and the model never sees them", async () => {
    const seen: Array<Json> = []
    const does = async ({ args, variableBag }: Inkeep.Context) => {
      const count = await variableBag.get("count") as number | undefined ?? 0
      await variableBag.set("count", count + 1)
      seen.push([count, await variableBag.get("count") ?? null])
      await variableBag.set("gone", 1)
      assert.isTrue(await variableBag.delete("gone"))
      await variableBag.set("note", "hidden-from-the-model", "turn")
      seen.push(await variableBag.getAll())
      return { ...proceed, args: args! }
    }
    const store = SessionStore.inMemory()
    const { agent, events, requests } = world(
      [{ at: "before-args", does }],
      [take({}), { text: "one" }, take({})],
      {},
      { store }
    )
    await using session = await agent.session({ id: "s" })
    await session.run("go")
    await session.run("again")
    assert.deepEqual(seen, [[0, 1], { count: 1 }, [1, 2], { count: 2 }])
    assert.notInclude(JSON.stringify(requests), "hidden-from-the-model")
    const changes = events.filter((event) => (event as { name?: string }).name === "variable-changed").map((event) =>
      (event as { payload: object }).payload
    )
    assert.deepInclude(changes[0]!, { key: "count", scope: "conversation", hook: "d0@project" })
    const kept = await Effect.runPromise(store.load("s"))
    assert.include(JSON.stringify(kept!.durable), `"stored-hooks/bag/count":2`)
    const poor = world([{
      at: "before-args",
      does: ({ variableBag }) => variableBag.set("big", "x".repeat(70_000)).then(() => proceed)
    }], [
      take({})
    ])
    await poor.agent.run("go")
    assert.match(poor.warnings[0]!, /at most 65536 are allowed/)
  })

  // rows: E-21, DEC-15
  it("what a hook wrote before it aborted counts, unless it is to be discarded; what one that broke wrote does not", async () => {
    for (
      const [writes, action, expected] of [["keep", "abort", 1], ["discardOnAbort", "abort", 0], [
        "discardOnAbort",
        "proceed",
        1
      ], [
        "keep",
        "throw",
        0
      ]] as const
    ) {
      const { agent } = world([{
        at: "before-args",
        writes,
        does: async ({ variableBag }) => {
          await variableBag.set("spent", 1)
          if (action === "throw") throw new Error("no")
          return action === "abort" ? { action, reason: "BUDGET_EXCEEDED" } : { action }
        }
      }, { at: "after-result", does: () => proceed }], [take({})])
      let found: Json = null
      agent.on((event) => {
        if (event.type === "custom" && event.name === "variable-changed") found = (event.payload as { key: string }).key
      })
      await agent.run("go")
      assert.strictEqual(found, expected === 1 ? "spent" : null, `${writes} ${action}`)
    }
  })
})
