/** Guarded sessions that outlive their process, and agents that work for each other. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { ToolWaits } from "../../src/guard/ToolWaits.ts"
import { defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import type { HookRecord } from "../../src/hook/HookRecord.ts"
import * as HookState from "../../src/hook/HookState.ts"
import type { RuntimePolicy } from "../../src/port/RuntimePolicy.ts"
import * as SessionStore from "../../src/port/SessionStore.ts"

const asks = defineHook({
  name: "asks",
  preToolCall: ({ name }) => name === "read" ? undefined : HookAction.ask("sure?", undefined, { quorum: 2 })
})

/** Each call makes a guard of its own, as another process would. */
const processes = (options: GuardSession.GuardOptions, store = SessionStore.inMemory()) => (id = "s") =>
  GuardSession.guard({ log: false, store, ...options }).session({ id })

describe("a guarded session in a store", () => {
  it("continues in another process: questions, approvals, allowed calls and state of hooks", async () => {
    const calls = HookState.key("calls", 0)
    const open = processes({
      hooks: [
        asks,
        defineHook({
          name: "counts",
          preToolCall: (_call, ctx) => void ctx.state.update(calls, (n) => n + 1),
          postToolCall: ({ result }, { state }) =>
            result.ok ? HookAction.transform({ ok: true, output: state.get(calls) }) : undefined
        })
      ]
    })
    await open().userMessage("go")
    const call = { id: "1", name: "send", args: { to: "ann" } }
    assert.strictEqual((await open().toolCall(call)).type, "ask")
    assert.strictEqual((await open().toolCall(call)).type, "ask")
    assert.strictEqual((await open().decide("1", { type: "approve", by: "ann" })).type, "ask")
    assert.deepStrictEqual((await open().pending()).map(({ approved }) => approved), [["ann"]])
    assert.strictEqual((await open().decide("1", { type: "approve", by: "bob" })).type, "allow")
    assert.strictEqual((await open().toolCall(call)).type, "allow")
    const other = await open().toolCall({ ...call, args: { to: "eve" } })
    assert.deepInclude(other, { type: "deny", by: "runtime" })
    assert.deepInclude(await open().toolResult({ id: "1" }, { ok: true, output: "sent" }), {
      result: { ok: true, output: 1 }
    })
    assert.deepStrictEqual(await open().pending(), [])
  })

  it("says what another process has decided, also where the question was asked", async () => {
    const open = processes({ hooks: [defineHook({ name: "asks", preToolCall: () => HookAction.ask("sure?") })] })
    const asking = open()
    const call = { id: "1", name: "send" }
    assert.strictEqual((await asking.toolCall(call)).type, "ask")
    assert.strictEqual((await open().decide("1", { type: "approve", by: "ann" })).type, "allow")
    assert.strictEqual((await asking.toolCall(call)).type, "allow")
    // The process that took the answer runs the tool.
    const ran = await asking.callTool(call, () => "ran twice")
    assert.deepInclude(ran, { type: "deny", reason: "call 1 was started by another process" })
  })

  it("runs a call that the guard has allowed once, in the process that is the first to run it", async () => {
    const open = processes({ hooks: [] })
    const call = { id: "1", name: "send" }
    const [next, other] = [open(), open()]
    assert.strictEqual((await open().toolCall(call)).type, "allow")
    let runs = 0
    await Promise.all([next, other].map((one) => one.callTool(call, () => new Promise((done) => done(++runs)))))
    assert.strictEqual(runs, 1)
  })

  it("runs a tool that waits for a person itself again, without a new decision", async () => {
    const seen: Array<string> = []
    const open = processes({
      hooks: [defineHook({
        name: "notes",
        preToolCall: (call) => {
          seen.push("call")
          return HookAction.transform({ ...call, args: { to: "ann" } })
        },
        postToolCall: ({ result }) => void seen.push(JSON.stringify(result))
      })]
    })
    const call = { id: "1", name: "ask_helper", args: { to: "eve" } }
    await open().callTool(call, () => Promise.reject(new ToolWaits()))
    const { result } = await open().callTool(call, (args) => args) as { readonly result?: unknown }
    assert.deepStrictEqual(result, { ok: true, output: { to: "ann" } })
    assert.deepStrictEqual(seen, ["call", "{\"ok\":true,\"output\":{\"to\":\"ann\"}}"])
  })

  it("runs each tool and each model call once, also if another process is quicker", async () => {
    const limits = HookState.key("limits", 0)
    const open = processes({
      hooks: [defineHook({
        name: "two",
        preToolCall: (_call, { state }) => {
          if (state.get(limits) >= 2) return HookAction.reject("enough")
          state.set(limits, state.get(limits) + 1)
          return undefined
        },
        wrapToolCall: (call, next) => next(call)
      })]
    })
    const [one, two] = [open(), open()]
    let runs = 0
    const quicker = async (id: string) => {
      runs++
      await two.toolCall({ id, name: "other" })
      return id
    }
    const ran = await one.callTool({ id: "1", name: "send" }, () => quicker("2"))
    assert.deepInclude(ran, { type: "allow", result: { ok: true, output: "2" } })
    const response = { model: "m", text: "hi", toolCalls: [], finishReason: "stop" } as const
    const request = { messages: [], tools: [], parameters: {} }
    await one.callModel(request, async () => ({ ...response, text: await quicker("3") }))
    assert.strictEqual(runs, 2)
    assert.strictEqual((await one.callTool({ id: "4", name: "send" }, () => quicker("5"))).type, "deny")
  })

  it("is refused at once if its store is not one", () => {
    const store = { sessions: SessionStore.inMemory() } as never
    assert.throws(() => GuardSession.guard({ store }), /guard.store: .*did you mean its property "sessions"/)
  })

  it("shows the hooks of a result in another process what ran, and forgets the state of the call then", async () => {
    const store = SessionStore.inMemory()
    const seen: Array<unknown> = []
    const noted = HookState.key("noted", "")
    const open = processes({
      hooks: [defineHook({
        name: "rewrites",
        preToolCall: (call, { state }) => {
          state.durable.call(call.id).set(noted, "during the call")
          return HookAction.transform({ ...call, args: { to: "ann" } })
        },
        postToolCall: ({ call }, { state }) => void seen.push(call.args, state.durable.call(call.id).get(noted))
      })]
    }, store)
    await open().toolCall({ id: "1", name: "send", args: { to: "eve" } })
    await open().toolResult({ id: "1" }, { ok: true, output: "sent" })
    assert.deepStrictEqual(seen, [{ to: "ann" }, "during the call"])
    assert.notInclude(JSON.stringify(await Effect.runPromise(store.load("s"))), "during the call")
  })

  it("keeps the records of the hooks with the option `records`", async () => {
    for (const records of [true, undefined]) {
      const store = SessionStore.inMemory()
      const open = processes({ hooks: [asks], ...(records === undefined ? {} : { records }) }, store)
      await open().userMessage("go")
      await open().toolCall({ id: "1", name: "send" })
      const kept = await Effect.runPromise(store.records!("s")) as ReadonlyArray<HookRecord>
      assert.deepStrictEqual(kept.map(({ point }) => point), records === true ? ["preToolCall"] : [])
    }
  })

  it("that was stopped stays stopped in another process", async () => {
    const open = processes({
      hooks: [defineHook({ name: "stops", preToolCall: () => HookAction.abort("enough") })]
    })
    await open().userMessage("go")
    assert.strictEqual((await open().toolCall({ id: "1", name: "x" })).type, "stop")
    assert.deepInclude(await open().modelRequest({ messages: [], tools: [], parameters: {} }), {
      type: "stop",
      reason: "enough",
      by: "stops"
    })
    assert.strictEqual((await open().userMessage("again")).type, "allow")
  })

  it("starts once, and counts turns on", async () => {
    const seen: Array<unknown> = []
    const open = processes({
      hooks: [defineHook({
        name: "sees",
        onSessionStart: ({ source }) => void seen.push(source),
        preTurn: (_input, { turnNumber }) => void seen.push(turnNumber)
      })]
    })
    await open().userMessage("one")
    await open().userMessage("two")
    await open().toolCall({ id: "1", name: "x" })
    assert.deepStrictEqual(seen, ["startup", 1, 2])
  })

  it("checks the policy of now about a call that was allowed before", async () => {
    let isAllowed = true
    const policy: RuntimePolicy = {
      check: () =>
        isAllowed ? { type: "allow", grant: { sandbox: "read-only" } } : { type: "deny", reason: "not any more" }
    }
    const open = processes({ policy })
    const call = { id: "1", name: "x" }
    assert.deepInclude(await open().toolCall(call), { type: "allow", grant: { sandbox: "read-only" } })
    assert.deepInclude(await open().toolCall(call), { type: "allow", grant: { sandbox: "read-only" } })
    isAllowed = false
    assert.deepInclude(await open().toolCall(call), { type: "deny", by: "policy" })
  })

  it("loses no call and no count if many processes ask at once", async () => {
    const calls = HookState.key("calls", 0)
    const open = processes({
      hooks: [defineHook({
        name: "counts",
        preToolCall: async ({ id }, ctx) => {
          await new Promise((done) => setTimeout(done, 1))
          ctx.state.update(calls, (n) => n + 1)
          return id === "3" ? HookAction.ask("three?") : undefined
        }
      })]
    })
    await open().userMessage("go")
    const ids = ["1", "2", "3", "4", "5"]
    const verdicts = await Promise.all(ids.map((id) => open().toolCall({ id, name: "x" })))
    assert.deepStrictEqual(verdicts.map(({ type }) => type), ["allow", "allow", "ask", "allow", "allow"])
    const last = open()
    assert.deepStrictEqual((await last.pending()).map(({ callId }) => callId), ["3"])
    assert.deepInclude(await last.toolResult({ id: "5" }, { ok: true, output: 1 }), { type: "allow" })
  })

  it.effect.prop(
    "never runs a call that needs two people with the approvals of fewer, whatever the order and the process",
    [Schema.Array(Schema.Tuple([Schema.Literals(["ann", " ann", "bob", "rule", "policy", ""]), Schema.Boolean]))],
    ([decisions]) =>
      Effect.promise(async () => {
        const open = processes({ hooks: [asks] })
        let session = open()
        await session.toolCall({ id: "1", name: "send" })
        const people = new Set<string>()
        for (const [by, isElsewhere] of decisions) {
          if (isElsewhere) session = open()
          const verdict = await session.decide("1", { type: "approve", by }).then(({ type }) => type, () => "refused")
          if (verdict !== "refused") people.add(by.trim())
          assert.isTrue([...people].every((name) => name === "ann" || name === "bob"))
          assert.strictEqual(verdict === "allow", verdict !== "refused" && people.size === 2)
          if (verdict === "allow") return
        }
        assert.strictEqual((await session.toolCall({ id: "1", name: "send" })).type, "ask")
      })
  )

  it("says that the store does not work, so that nothing runs", async () => {
    const store = SessionStore.inMemory()
    const session = GuardSession.guard({
      log: false,
      store: { ...store, commit: () => Effect.fail("disk full") }
    }).session()
    const error = await session.toolCall({ id: "1", name: "x" }).then(() => undefined, (failed: Error) => failed)
    assert.include(error?.message, "disk full")
  })
})

describe("agents that work for each other", () => {
  it("share their state; a question inside is a question of the first, by its path", async () => {
    const calls = HookState.key("calls", 0)
    const limit = defineHook({
      name: "limit",
      preToolCall: (_call, ctx) =>
        ctx.state.update(calls, (n) => n + 1) > 3 ? HookAction.reject("at most three calls") : undefined
    })
    const guard = GuardSession.guard({ log: false, hooks: [limit, asks] })
    const lead = guard.session({ agent: "lead" })
    await lead.userMessage("go")
    await lead.toolCall({ id: "1", name: "read" })
    const helper = guard.session({ agent: "helper", parent: lead, parentCall: "1" })
    await helper.userMessage("do it")
    const asked = await helper.toolCall({ id: "7", name: "send" })
    assert.deepInclude(asked.type === "ask" ? asked.question : asked, { agent: "helper", callId: "7" })
    assert.deepStrictEqual((await lead.pending()).map(({ callId }) => callId), ["1/7"])
    await lead.decide("1/7", { type: "approve", by: "ann" })
    assert.strictEqual((await lead.decide("1/7", { type: "approve", by: "bob" })).type, "allow")
    assert.strictEqual((await helper.toolCall({ id: "7", name: "send" })).type, "allow")
    assert.strictEqual((await lead.toolCall({ id: "2", name: "read" })).type, "allow")
    assert.deepInclude(await helper.toolCall({ id: "8", name: "read" }), { type: "deny", by: "limit" })
    await helper.end()
    assert.deepStrictEqual(await lead.pending(), [])
  })

  it("continue in another process", async () => {
    const options = { log: false, hooks: [asks], store: SessionStore.inMemory() } as const
    const before = GuardSession.guard(options)
    const lead = before.session({ id: "lead" })
    await lead.userMessage("go")
    await lead.toolCall({ id: "1", name: "read" })
    const helper = before.session({ id: "helper", parent: lead, parentCall: "1" })
    await helper.userMessage("do it")
    assert.strictEqual((await helper.toolCall({ id: "7", name: "send" })).type, "ask")
    const elsewhere = () => GuardSession.guard(options).session({ id: "lead" })
    assert.deepStrictEqual((await elsewhere().pending()).map(({ callId }) => callId), ["1/7"])
    assert.strictEqual((await elsewhere().decide("1/7", { type: "approve", by: "ann" })).type, "ask")
    assert.strictEqual((await elsewhere().decide("1/7", { type: "approve", by: "bob" })).type, "allow")
    const after = GuardSession.guard(options)
    const again = after.session({ id: "helper", parent: after.session({ id: "lead" }), parentCall: "1" })
    assert.strictEqual((await again.toolCall({ id: "7", name: "send" })).type, "allow")
    assert.strictEqual((await helper.toolCall({ id: "7", name: "send" })).type, "allow")
  })

  it("start without a call of a tool too", async () => {
    const guard = GuardSession.guard({ log: false, hooks: [asks] })
    const lead = guard.session({ id: "lead" })
    const helper = guard.session({ id: "helper", parent: lead })
    await helper.toolCall({ id: "7", name: "send" })
    assert.deepStrictEqual((await lead.pending()).map(({ callId }) => callId), ["agent:helper/7"])
    await helper.end()
    assert.deepStrictEqual(await lead.pending(), [])
  })
})
