/** The guard of a driver: what it answers at each point. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentEvent } from "../../src/data/AgentEvent.ts"
import type { LlmRequest } from "../../src/data/LlmCall.ts"
import * as Approvals from "../../src/guard/Approvals.ts"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookState from "../../src/hook/HookState.ts"
import type { RuntimePolicy } from "../../src/port/RuntimePolicy.ts"

const request = (...texts: ReadonlyArray<string>): LlmRequest => ({
  messages: texts.map((content) => ({ role: "user", content })),
  tools: [],
  parameters: {}
})

const make = (hooks: ReadonlyArray<AgentHook>, options: GuardSession.GuardOptions = {}) =>
  GuardSession.make({ hooks, log: false, ...options })

const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("is this right?") })

describe("a guarded message", () => {
  it("is allowed with the changes of the hooks, answered, denied or stopped", async () => {
    const session = make([defineHook({
      name: "doorman",
      preTurn: ({ message }) => {
        if (message === "rewrite") return HookAction.transform({ message: "rewritten" })
        if (message === "answer") return HookAction.respond({ text: "no need to ask" })
        if (message === "deny") return HookAction.reject("not here")
        return message === "abort" ? HookAction.abort("enough") : undefined
      }
    })])
    assert.deepStrictEqual(await session.userMessage("hello"), {
      type: "allow",
      input: { message: "hello" },
      context: []
    })
    assert.deepInclude(await session.userMessage("rewrite"), { type: "allow", input: { message: "rewritten" } })
    assert.deepInclude(await session.userMessage("answer"), { type: "respond", text: "no need to ask" })
    assert.deepInclude(await session.userMessage("deny"), { type: "deny", reason: "not here", by: "doorman" })
    assert.deepInclude(await session.userMessage("abort"), { type: "stop", reason: "enough", by: "doorman" })
  })

  it("that is stopped stops everything until the next one", async () => {
    const session = make([defineHook({
      name: "doorman",
      preTurn: ({ message }) => message === "abort" ? HookAction.abort("enough") : undefined
    })])
    await session.userMessage("abort")
    const stopped = { type: "stop", reason: "enough", by: "doorman", context: [] } as const
    assert.deepStrictEqual(await session.toolCall({ id: "1", name: "shell" }), stopped)
    assert.deepStrictEqual(await session.modelRequest(request("x")), stopped)
    await session.userMessage("again")
    assert.strictEqual((await session.toolCall({ id: "1", name: "shell" })).type, "allow")
  })

  it("begins a turn: hooks count turns, and a session starts once", async () => {
    const seen: Array<unknown> = []
    const session = make([defineHook({
      name: "counter",
      onSessionStart: ({ source }) => void seen.push(source),
      preTurn: (_input, { coreType, turnNumber }) => void seen.push(turnNumber, coreType),
      onSessionEnd: ({ reason }) => void seen.push(reason)
    })])
    await session.userMessage("one")
    await session.userMessage("two")
    await session.end()
    assert.deepStrictEqual(seen, ["startup", 1, "guard", 2, "guard", "done"])
  })

  it("is over for its hooks when the session ends", async () => {
    const signals: Array<AbortSignal> = []
    const session = make([defineHook({ name: "watch", preToolCall: (_call, { signal }) => void signals.push(signal) })])
    await session.toolCall({ id: "1", name: "x" })
    assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [false])
    await session.end()
    assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true])
  })

  it("that is not a message is refused by name", async () => {
    const failed = await make([]).userMessage({ massage: "hi" } as never).then(() => undefined, (error: Error) => error)
    assert.include(failed?.message, "massage")
  })
})

describe("a guarded tool call", () => {
  it("is allowed with the arguments that the hooks leave, and says who changed them", async () => {
    const session = make([defineHook({
      name: "adds-limit",
      preToolCall: (call) => HookAction.transform({ ...call, args: { ...Object(call.args), limit: 10 } })
    })])
    assert.deepStrictEqual(await session.toolCall({ id: "1", name: "search", args: { q: "x" } }), {
      type: "allow",
      args: { q: "x", limit: 10 },
      grant: { sandbox: "none" },
      changedBy: ["adds-limit"],
      context: []
    })
  })

  it("gets the grant of the policy, or its denial", async () => {
    const policy: RuntimePolicy = {
      check: ({ name }) =>
        name === "shell" ? { type: "deny", reason: "no shell" } : { type: "allow", grant: { sandbox: "read-only" } }
    }
    const session = make([], { policy })
    assert.deepInclude(await session.toolCall({ id: "1", name: "shell" }), {
      type: "deny",
      reason: "no shell",
      by: "policy"
    })
    assert.deepInclude(await session.toolCall({ id: "2", name: "read" }), {
      type: "allow",
      grant: { sandbox: "read-only" }
    })
  })

  it("shows and gives the tool the arguments with their defaults", async () => {
    const session = make([asks], {
      tools: [{
        name: "send",
        inputSchema: { type: "object", properties: { urgent: { type: "boolean", default: false } } },
        input: { type: "object", properties: { urgent: { type: "boolean", default: false } } }
      }]
    })
    const verdict = await session.toolCall({ id: "1", name: "send", args: { to: "ann" } })
    assert.deepStrictEqual(verdict.type === "ask" ? verdict.question.args : verdict, { to: "ann", urgent: false })
  })

  it("waits for a person, and follows the decision", async () => {
    const session = make([asks])
    const first = await session.toolCall({ id: "1", name: "send", args: { to: "ann" } })
    assert.strictEqual(first.type, "ask")
    assert.deepStrictEqual((await session.pending()).map(({ callId, tool }) => [callId, tool]), [["1", "send"]])
    assert.deepStrictEqual(await session.toolCall({ id: "1", name: "send", args: { to: "ann" } }), first)
    assert.deepInclude(await session.decide("1", { type: "edit", args: { to: "bob" }, by: "eve" }), {
      type: "allow",
      args: { to: "bob" },
      changedBy: ["eve"]
    })
    assert.deepStrictEqual(await session.pending(), [])
    await session.toolResult({ id: "1" }, { ok: true, output: "sent" })
    await session.toolCall({ id: "2", name: "send", args: {} })
    assert.deepInclude(await session.decide("2", { type: "deny", reason: "no", by: "eve" }), {
      type: "deny",
      reason: "no",
      by: "person"
    })
    await session.toolCall({ id: "3", name: "send", args: {} })
    assert.deepInclude(await session.decide("3", { type: "respond", output: "done by hand" }), {
      type: "respond",
      result: "done by hand"
    })
  })

  it("with a quorum needs different people", async () => {
    const session = make([
      defineHook({ name: "two", preToolCall: () => HookAction.ask("both?", undefined, { quorum: 2 }) })
    ])
    await session.toolCall({ id: "1", name: "deploy" })
    assert.strictEqual((await session.decide("1", { type: "approve", by: "ann" })).type, "ask")
    assert.strictEqual((await session.decide("1", { type: "approve", by: " ann " })).type, "ask")
    const alone = await session.decide("1", { type: "approve" }).then(() => "counted", (error: Error) => error.message)
    assert.include(alone, "must name who approves")
    assert.strictEqual((await session.decide("1", { type: "approve", by: "bob" })).type, "allow")
  })

  it("needs a signed decision if the guard has keys", async () => {
    const key = { id: "k", secret: "a secret that is long enough for a test" }
    const session = make([asks], { approvals: { keys: [key] }, log: false })
    const verdict = await session.toolCall({ id: "1", name: "deploy" })
    const decision = { type: "approve", by: "ann" } as const
    const forged = await session.decide("1", decision).then(() => "counted", (error: Error) => error.message)
    assert.include(forged, "not signed")
    const ask = verdict.type === "ask" ? verdict.question : assert.fail()
    const signed = await Approvals.sign(key, { sessionId: session.id, turnNumber: 1, ask }, decision)
    assert.strictEqual((await session.decide("1", signed)).type, "allow")
  })

  it("is answered in this process if the guard has onAsk", async () => {
    const session = make([asks], { onAsk: ({ tool }) => ({ type: "deny", reason: `not ${tool}`, by: "ann" }) })
    assert.deepInclude(await session.toolCall({ id: "1", name: "send" }), { type: "deny", reason: "not send" })
  })

  it("without an id, a name or JSON arguments is denied, and never reaches a hook", async () => {
    const seen: Array<string> = []
    const session = make([defineHook({ name: "sees", preToolCall: ({ name }) => void seen.push(name) })])
    const calls: ReadonlyArray<unknown> = [
      { id: "", name: "x", args: {} },
      { id: "a/b", name: "x", args: {} },
      { id: 7, name: "x", args: {} },
      { id: "1", name: "", args: {} },
      { id: "1", args: {} },
      { id: "1", name: "x", args: () => {} },
      { id: "1", name: "x", args: { n: Number.NaN } }
    ]
    for (const call of calls) assert.deepInclude(await session.toolCall(call as never), { type: "deny", by: "runtime" })
    assert.deepStrictEqual(seen, [])
  })

  it("with the JSON text of an object as its arguments is denied, because hooks would find no field", async () => {
    const session = make([])
    const reason = "the arguments of mail are text: parse them first, because hooks read their fields"
    for (const args of ["{\"to\":\"eve\"}", " {}"]) {
      assert.deepInclude(await session.toolCall({ id: "1", name: "mail", args }), {
        type: "deny",
        reason,
        by: "runtime"
      })
    }
    for (const args of ["{ to eve", "eve", "\"{}\"", "[1]"]) {
      assert.deepInclude(await session.toolCall({ id: args, name: "note", args }), { type: "allow", args })
    }
  })

  it("with the id of a call that is not done is denied, and the id is free afterwards", async () => {
    const session = make([])
    assert.strictEqual((await session.toolCall({ id: "1", name: "read", args: { p: 1 } })).type, "allow")
    assert.strictEqual((await session.toolCall({ id: "1", name: "read", args: { p: 1 } })).type, "allow")
    assert.strictEqual((await session.toolCall({ id: "1", name: "shell", args: { p: 1 } })).type, "deny")
    assert.strictEqual((await session.toolCall({ id: "1", name: "read", args: { p: 2 } })).type, "deny")
    await session.toolResult({ id: "1" }, { ok: true, output: null })
    assert.strictEqual((await session.toolCall({ id: "1", name: "shell", args: { p: 2 } })).type, "allow")
  })

  it("that two ask about at once is decided once", async () => {
    let runs = 0
    const session = make([defineHook({
      name: "slow",
      preToolCall: async () => {
        runs++
        await new Promise((done) => setTimeout(done, 5))
        return HookAction.reject("no")
      }
    })])
    const call = { id: "1", name: "x" }
    const verdicts = await Promise.all([session.toolCall(call), session.toolCall(call), session.toolCall(call)])
    assert.deepStrictEqual(verdicts.map(({ type }) => type), ["deny", "deny", "deny"])
    assert.strictEqual(runs, 1)
  })

  it("is not changed by the program after the verdict", async () => {
    const args = { path: "/safe" }
    const session = make([])
    const verdict = await session.toolCall({ id: "1", name: "read", args })
    args.path = "/etc/shadow"
    assert.deepStrictEqual(verdict.type === "allow" ? verdict.args : verdict, { path: "/safe" })
  })

  it("has a result that the hooks check", async () => {
    const session = make([defineHook({
      name: "redacts",
      postToolCall: ({ call, executed, result }) =>
        result.ok && call.name === "read" && executed
          ? HookAction.transform({ ok: true, output: "[hidden]" })
          : undefined
    })])
    await session.toolCall({ id: "1", name: "read" })
    assert.deepInclude(await session.toolResult({ id: "1" }, { ok: true, output: "secret" }), {
      type: "allow",
      result: { ok: true, output: "[hidden]" }
    })
    assert.deepInclude(await session.toolResult({ id: "9", name: "read", args: {} }, { ok: true, output: "secret" }), {
      result: { ok: true, output: "[hidden]" }
    })
    const unknown = await session.toolResult({ id: "9" }, { ok: true, output: "secret" })
    assert.strictEqual(unknown.type === "allow" && unknown.result.ok, false)
    const odd = await session.toolResult({ id: "9", name: "list" }, { output: () => 1 } as never)
    assert.strictEqual(odd.type === "allow" && odd.result.ok, false)
  })
})

describe("a guarded turn", () => {
  it("goes on as often as preStop hooks want and the guard allows, and reveals what hooks hold", async () => {
    const session = make([defineHook({
      name: "more",
      preStop: ({ followUps }, ctx) => {
        if (followUps < 5) ctx.followUp(`round ${followUps}`)
      },
      postTurn: ({ output }) => HookAction.transform({ ...output, text: `${output.text}.` }),
      revealText: (text) => text.replace("NAME_1", "Ann")
    })], { followUps: 2 })
    await session.userMessage("go")
    assert.deepInclude(await session.beforeStop({ text: "x" }), { type: "continue", message: "round 0" })
    assert.deepInclude(await session.beforeStop({ text: "x" }), { type: "continue", message: "round 1" })
    assert.deepInclude(await session.beforeStop({ text: "hi NAME_1" }), {
      type: "allow",
      text: "hi NAME_1.",
      shown: "hi Ann."
    })
  })

  it("keeps state of hooks, events with numbers, and aborts the signals of the last turn", async () => {
    const total = HookState.key("total", 0)
    const signals: Array<AbortSignal> = []
    const guard = GuardSession.guard({
      log: false,
      hooks: [defineHook({
        name: "counts",
        preToolCall: (_call, ctx) => {
          signals.push(ctx.signal)
          return ctx.state.update(total, (n) => n + 1) > 2 ? HookAction.reject("at most two") : undefined
        }
      })]
    })
    const events: Array<AgentEvent> = []
    const stop = guard.listen((event) => events.push(event))
    const session = guard.session({ agent: "helper" })
    const types: Array<string> = []
    for (const id of ["1", "2", "3"]) {
      await session.userMessage(id)
      types.push((await session.callTool({ id, name: "x" }, () => 1)).type)
    }
    stop()
    assert.deepStrictEqual(types, ["allow", "allow", "deny"])
    assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true, true, false])
    assert.deepStrictEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1))
    assert.deepStrictEqual(
      events.filter(({ type }) => type.startsWith("tool-")).map(({ agent, type }) => [agent, type]),
      [
        ["helper", "tool-start"],
        ["helper", "tool-end"],
        ["helper", "tool-start"],
        ["helper", "tool-end"],
        ["helper", "tool-denied"]
      ]
    )
  })

  it("asks about delegations and compactions", async () => {
    const session = make([defineHook({
      name: "rules",
      preDelegation: ({ agent }) => agent === "shady" ? HookAction.reject("not that one") : undefined,
      postDelegation: ({ result }) => HookAction.transform({ text: result.text.toUpperCase() }),
      preCompaction: () => HookAction.transform({ keepRecent: 3 })
    })])
    const plain = { agent: "writer", type: "delegate", message: "write" } as const
    assert.deepInclude(await session.delegation(plain), { type: "allow", delegation: plain })
    assert.deepInclude(await session.delegation({ ...plain, agent: "shady" }), {
      type: "deny",
      reason: "not that one",
      by: "rules"
    })
    assert.deepInclude(
      await session.delegationResult({ delegation: plain, result: { text: "done" }, executed: true }),
      { type: "allow", text: "DONE" }
    )
    const compaction = await session.compaction({
      messages: [],
      budget: { usedTokens: 1, windowTokens: 2 },
      trigger: "threshold",
      hint: {}
    })
    assert.strictEqual(compaction.type === "allow" ? compaction.request.hint.keepRecent : compaction.type, 3)
  })

  it("is an Effect too", async () => {
    const session = make([])
    const types = await Effect.runPromise(Effect.gen(function*() {
      const first = yield* session.userMessage("hi")
      const second = yield* session.toolCall({ id: "1", name: "x" })
      return [first.type, second.type]
    }))
    assert.deepStrictEqual(types, ["allow", "allow"])
  })

  it("runs fail-closed hooks closed, and tells the developer about failures", async () => {
    const lines: Array<string> = []
    const session = GuardSession.make({
      log: ({ message }) => lines.push(message),
      hooks: [
        defineHook({
          name: "open",
          preToolCall: () => {
            throw new Error("oops")
          }
        }),
        defineHook({
          name: "closed",
          kind: "policy",
          preToolCall: ({ name }) => {
            if (name === "x") throw new Error("cannot check")
          }
        })
      ]
    })
    assert.deepInclude(await session.toolCall({ id: "1", name: "x" }), { type: "deny", by: "closed" })
    assert.strictEqual((await session.toolCall({ id: "2", name: "y" })).type, "allow")
    assert.isTrue(lines.some((line) => line.includes("open") && line.includes("oops")))
  })

  it("needs options that exist", () => {
    assert.throws(() => GuardSession.guard({ hoooks: [] } as never), /hoooks/)
    assert.throws(() => GuardSession.guard({ tools: [{ name: "a" }, { name: "a" }] }), /two tools are named "a"/)
    assert.throws(() => GuardSession.guard({}).session({ name: "x" } as never), /name/)
    assert.throws(() => GuardSession.guard({}).session({ parent: {} as never }), /session of a guard/)
  })
})
