import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookPointName, In } from "../../src/hook/HookPoint.ts"
import * as HookRecord from "../../src/hook/HookRecord.ts"
import { eventAt } from "./events.ts"

const input = { message: "a" }
const call = eventAt("preToolCall", "rm") as In<"preToolCall">
const withArgs = (args: string) => HookAction.transform({ id: call.id, name: call.name, args })

const run = <P extends HookPointName>(point: P, event: In<P>, hooks: ReadonlyArray<AgentHook>) =>
  HookChain.makeUnsafe(hooks).run(point, event, scopeOf())

describe("only approved calls run:", () => {
  const approval = (asked: Array<unknown>, answer: () => HookAction.Ask | undefined = () => undefined): AgentHook => ({
    name: "approval",
    priority: 5,
    reinvoke: "ifChanged",
    preToolCall: ({ args }) => {
      asked.push(args)
      return answer()
    }
  })
  const change = (args: string): AgentHook => ({ name: `to ${args}`, preToolCall: () => withArgs(args) })

  it.effect("a gate sees the final value of a later change, and of a Replace before it", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      yield* run("preToolCall", call, [approval(asked), change("b"), change("c")])
      assert.deepEqual(asked, [call.args, "c"])
      const late: Array<unknown> = []
      yield* run("preToolCall", call, [
        { ...approval(late), priority: 200 },
        { name: "r", preToolCall: () => HookAction.replace({ ...call, args: "x" }) }
      ])
      assert.deepEqual(late, ["x"])
    }))

  it.effect("gates that make their changes again and never agree are stopped after three rounds", () =>
    Effect.gen(function*() {
      const gate = (name: string): AgentHook => ({
        name,
        reinvoke: "reapply",
        preTurn: ({ message }) => HookAction.transform({ message: message + name })
      })
      const { action, by } = yield* run("preTurn", input, [gate("a"), gate("b")])
      assert.deepEqual([action, by], [HookAction.reject("a was asked 3 times and the value still changes"), "a"])
    }))

  // rows: DEC-34
  it.effect("changed arguments are read as the tool will read them, and what does not fit is the hook's failure", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const decode = (value: unknown) => {
        const { args } = value as { readonly args: unknown }
        return args === "bad"
          ? { ok: false as const, why: "expected good" }
          : { ok: true as const, value: { args: `read ${String(args)}` } }
      }
      const chain = HookChain.makeUnsafe([change("good"), change("bad")])
      const outcome = chain.runNow("preToolCall", call, scope, decode) as HookChain.Outcome<"preToolCall">
      assert.strictEqual(outcome.event.args, "read good")
      assert.deepInclude(scope.failures[0], {
        hook: "to bad",
        kind: "illegal",
        message: "Transform at preToolCall: expected good"
      })
    }))

  it.effect("a question does not end the fold: the other hooks run, and all questions are there in the end", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const change = (args: string): AgentHook => ({
        name: "change",
        preToolCall: (event) => HookAction.transform({ ...event, args })
      })
      const ask = (name: string): AgentHook => ({
        name,
        preToolCall: ({ args }) => {
          asked.push([name, args])
          return HookAction.ask(`${name}?`)
        }
      })
      const outcome = yield* HookChain.makeUnsafe([ask("a"), change("changed"), ask("b")]).run(
        "preToolCall",
        call,
        scopeOf()
      )
      assert.deepEqual([outcome.action, outcome.by], [HookAction.ask("a?"), "a"])
      assert.deepEqual(outcome.questions, [{ by: "a", ask: HookAction.ask("a?") }, {
        by: "b",
        ask: HookAction.ask("b?")
      }])
      assert.strictEqual(outcome.event.args, "changed")
      assert.deepEqual(asked, [["a", call.args], ["b", "changed"]])
    }))

  it.effect("a Reject, a Respond or an Abort of any hook wins over every question", () =>
    Effect.gen(function*() {
      for (const action of [HookAction.reject("no"), HookAction.respond("done"), HookAction.abort("stop")]) {
        for (const asksFirst of [true, false]) {
          const asking: AgentHook = { name: "asking", kind: "policy", preToolCall: () => HookAction.ask("may it?") }
          const deciding: AgentHook = { name: "deciding", preToolCall: () => action }
          const hooks = asksFirst ? [asking, deciding] : [deciding, asking]
          const outcome = yield* HookChain.makeUnsafe(hooks).run("preToolCall", call, scopeOf())
          assert.deepEqual([outcome.action, outcome.by, outcome.questions], [action, "deciding", undefined])
        }
      }
    }))

  it("the record names everybody who asks", () => {
    const scope = scopeOf()
    const ask = (name: string): AgentHook => ({ name, preToolCall: () => HookAction.ask(`may it, ${name}?`) })
    HookChain.makeUnsafe([ask("a"), ask("b")]).runNow("preToolCall", call, scope)
    const lines = scope.records.map(({ action, decidedBy, hooks }) => [
      `${action} by ${decidedBy}`,
      ...hooks.map(({ answer, hook, why }) => `${hook} ${answer}: ${why}`)
    ])
    assert.deepEqual(lines, [["Ask by a", "a Ask: may it, a?", "b Ask: may it, b?"]])
  })

  it("the fingerprint depends on the tool and its arguments, not on the order of keys", () => {
    const { fingerprint } = HookChain
    assert.strictEqual(fingerprint("t", { a: 1, b: [2] }), fingerprint("t", { b: [2], a: 1 }))
    const all = [["t", { a: 1 }], ["t", { a: "1" }], ["t", { a: [1] }], ["u", { a: 1 }], ["t", { "a:1": 1 }], [
      "t",
      null
    ], [
      "t",
      "{}"
    ]] as const
    assert.lengthOf(new Set(all.map(([tool, args]) => fingerprint(tool, args))), all.length)
  })
})

/** A change of a text that is not the same when it is made twice. */
const rewrites = {
  before: (text: string, name: string) => `${name} ${text}`,
  after: (text: string, name: string) => `${text} ${name}`,
  twice: (text: string, _name: string) => `${text}${text.slice(0, 20)}`,
  once: (text: string, name: string) => text.includes(name) ? text : `${text} ${name}`,
  never: (text: string, _name: string) => text
}

const rewriting = Arbitrary.all({
  how: Arbitrary.schema(Schema.Literals(["before", "after", "twice", "once", "never"])),
  priority: Arbitrary.schema(Schema.Literals([50, 100, 150])),
  reinvoke: Arbitrary.schema(Schema.Literals(["never", "ifChanged"])),
  answers: Arbitrary.schema(Schema.Literals(["now", "promise", "effect"]))
})

describe("a change is made once:", () => {
  it.effect.prop(
    "the result of any rewriting hooks is that of running them in order once, and each sees a value once",
    [Arbitrary.array(rewriting, { minLength: 1, maxLength: 4 })],
    ([given]) =>
      Effect.gen(function*() {
        const saw = given.map((): Array<string> => [])
        const hooks = given.map(({ answers, how, priority, reinvoke }, index): AgentHook => ({
          name: `h${index}`,
          priority,
          reinvoke,
          preToolCall: ({ args }) => {
            saw[index]!.push(args as string)
            const next = rewrites[how](args as string, `h${index}`)
            const action = next === args ? undefined : withArgs(next)
            if (answers === "now") return action
            return answers === "promise" ? Promise.resolve(action) : Effect.as(Effect.yieldNow, action)
          }
        }))
        const { action, event } = yield* run("preToolCall", { ...call, args: "go" }, hooks)
        const ordered = given.map((one, index) => ({ ...one, index })).sort((a, b) => a.priority - b.priority)
        const expected = ordered.reduce((text, { how, index }) => rewrites[how](text, `h${index}`), "go")
        assert.strictEqual(event.args, expected)
        assert.include(["Continue", "Transform"], action._tag)
        for (const [index, texts] of saw.entries()) {
          assert.strictEqual(new Set(texts).size, texts.length)
          const isGate = given[index]!.reinvoke === "ifChanged"
          assert.isAtMost(texts.length, isGate ? 2 : 1)
          const saidLast = rewrites[given[index]!.how](texts[0]!, `h${index}`) === expected || texts.at(-1) === expected
          if (isGate) assert.isTrue(saidLast)
        }
      })
  )

  const gate = (name: string, more: Partial<AgentHook>): AgentHook => ({ name, reinvoke: "ifChanged", ...more })
  const late = (value: string): AgentHook => ({ name: "late", priority: 200, preToolCall: () => withArgs(value) })

  it.effect("a gate that is asked again can refuse, answer, ask or end the turn", () =>
    Effect.gen(function*() {
      const actions = [
        HookAction.reject("no"),
        HookAction.respond("mine"),
        HookAction.ask("may it?"),
        HookAction.abort("x")
      ]
      for (const action of actions) {
        const outcome = yield* run("preToolCall", call, [
          gate("gate", { preToolCall: ({ args }) => args === "changed" ? action : undefined }),
          late("changed")
        ])
        assert.deepStrictEqual([outcome.action, outcome.by, outcome.event.args], [action, "gate", "changed"])
      }
    }))

  it.effect("a question of a gate that is asked again is about the value as it is", () =>
    Effect.gen(function*() {
      const asking = gate("gate", {
        preToolCall: ({ args }) => HookAction.ask("ok?", undefined, { args: `nice ${args as string}` })
      })
      const first = yield* run("preToolCall", { ...call, args: "go" }, [asking])
      assert.deepStrictEqual([first.action, first.event.args], [HookAction.ask("ok?"), "nice go"])
      const quiet = gate("gate", {
        preToolCall: ({ args }) => args === "changed" ? HookAction.ask("ok?", undefined, { args: "other" }) : undefined
      })
      const again = yield* run("preToolCall", call, [quiet, late("changed")])
      assert.deepStrictEqual(again.action, HookAction.ask("ok?"))
    }))

  it.effect("what a gate that is asked again says to the model or the user does not reach them", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const seen: Array<boolean> = []
      const talking = gate("gate", {
        preToolCall: (_call, ctx) => {
          seen.push(ctx.askedAgain)
          ctx.inject("context")
          ctx.notifyUser("note")
          ctx.warn("warning")
        }
      })
      yield* HookChain.makeUnsafe([talking, late("changed")]).run("preToolCall", call, scope)
      assert.deepStrictEqual(seen, [false, true])
      assert.deepStrictEqual(scope.actions, [
        "gate inject: context",
        "gate notify: note",
        "gate warn: warning",
        "gate warn: warning"
      ])
    }))

  it.effect("the record says that the change of a gate that was asked again was not made", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hooks = [gate("gate", { preToolCall: ({ args }) => withArgs(`nice ${args as string}`) }), late("changed")]
      yield* HookChain.makeUnsafe(hooks).run("preToolCall", call, scope)
      const [first, , second] = scope.records[0]!.hooks
      assert.deepInclude(first, { answer: "Transform" })
      assert.notProperty(first, "ignored")
      assert.deepInclude(second, { hook: "gate", answer: "Transform", again: true, ignored: true })
      assert.notProperty(second, "change")
      assert.match(HookRecord.explain(scope.records), /gate: Transform \(asked again; change not applied\)/)
    }))

  it.effect("a hook with `reapply` makes its change again", () =>
    Effect.gen(function*() {
      const redacting: AgentHook = {
        name: "redacting",
        reinvoke: "reapply",
        preToolCall: ({ args }) => withArgs((args as string).replaceAll("secret", "*"))
      }
      const { event } = yield* run("preToolCall", { ...call, args: "a secret" }, [redacting, late("another secret")])
      assert.strictEqual(event.args, "another *")
    }))

  it.effect("a change that only tightens counts also from a gate that is asked again", () =>
    Effect.gen(function*() {
      const permission = eventAt("onPermission", "ask") as In<"onPermission">
      const deny = HookAction.replace({ type: "deny" as const, reason: "no" })
      const allow = HookAction.replace({ type: "allow" as const })
      for (const order of [[deny, allow], [allow, deny]] as const) {
        const { event } = yield* run(
          "onPermission",
          permission,
          order.map((action, index) => gate(`gate ${index}`, { onPermission: () => action }))
        )
        assert.strictEqual(event.decision.type, "deny")
      }
      const done = eventAt("postToolCall", "secret") as In<"postToolCall">
      const hidden = { ok: false as const, error: "hidden" }
      const { event } = yield* run("postToolCall", done, [
        { name: "late", priority: 1, postToolCall: () => HookAction.transform({ ok: true, output: "leaked" }) },
        gate("gate", {
          postToolCall: ({ result }) => result.ok && result.output === "leaked" ? HookAction.replace(hidden) : undefined
        })
      ])
      assert.deepStrictEqual(event.result, hidden)
    }))
})

describe("appended messages", () => {
  const user = (content: string) => ({ role: "user" as const, content })
  const appending = (calls: Array<string>, name: string, reinvoke: AgentHook["reinvoke"] = "ifChanged"): AgentHook => {
    const seen = () => void calls.push(name)
    return {
      name,
      ...(reinvoke === undefined ? {} : { reinvoke }),
      onSessionStart: (start) => (seen(), HookAction.transform({ ...start, context: [...start.context, user(name)] })),
      preLlmCall: (
        request
      ) => (seen(), HookAction.transform({ ...request, messages: [...request.messages, user(name)] })),
      postStep: ({ messages }) => (seen(), HookAction.transform([...messages, user(name)])),
      preStop: ({ messages }) => (seen(), HookAction.transform([...messages, user(name)])),
      preDelegation: (to) => (seen(), HookAction.transform({ ...to, context: [...to.context ?? [], user(name)] }))
    }
  }
  const points = ["onSessionStart", "preLlmCall", "postStep", "preStop", "preDelegation"] as const

  it.effect.each(points)("at %s are no reason to ask a gate again", (point) =>
    Effect.gen(function*() {
      const calls: Array<string> = []
      const hooks = ["a", "b", "c"].map((name) => appending(calls, name))
      const { action, event } = yield* run(point, eventAt(point, "first") as never, hooks)
      assert.strictEqual(action._tag, "Transform")
      assert.deepStrictEqual([...calls].sort(), ["a", "b", "c"])
      const list = ("messages" in event ? event.messages : (event as { context?: unknown }).context) as ReadonlyArray<{
        readonly content: string
      }>
      assert.deepStrictEqual(list.map(({ content }) => content).filter((text) => text !== "first"), calls)
    }))

  it.effect("leave a gate alone if the messages before them were copied", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      yield* run("preLlmCall", eventAt("preLlmCall", "first") as In<"preLlmCall">, [
        gateAt("gate", seen),
        {
          name: "copies",
          preLlmCall: (request) =>
            HookAction.transform({ ...structuredClone(request), messages: [...request.messages, user("more")] })
        },
        {
          name: "copies all",
          preLlmCall: (request) => HookAction.transform(structuredClone(request))
        }
      ])
      assert.lengthOf(seen, 1)
    }))

  it.effect.each(points)("at %s are seen by a hook that makes its changes again", (point) =>
    Effect.gen(function*() {
      const calls: Array<string> = []
      yield* run(point, eventAt(point, "first") as never, [
        { ...appending(calls, "sees", "reapply"), ...Object.fromEntries([[point, () => void calls.push("sees")]]) },
        { ...appending(calls, "late", "never"), priority: point === "postStep" ? 1 : 200 }
      ])
      assert.deepStrictEqual(calls, ["sees", "late", "sees"])
    }))

  it.effect("do not hide another change: the gate is asked again", () =>
    Effect.gen(function*() {
      for (const change of [{ instructions: "other" }, { messages: [user("other"), user("more")] }, { messages: [] }]) {
        const seen: Array<unknown> = []
        const { action } = yield* run("preLlmCall", eventAt("preLlmCall", "first") as In<"preLlmCall">, [
          gateAt("gate", seen),
          {
            name: "late",
            preLlmCall: (request) =>
              HookAction.transform({ ...request, messages: [...request.messages, user("more")], ...change })
          }
        ])
        assert.lengthOf(seen, 2)
        assert.strictEqual(action._tag, "Reject")
      }
    }))

  const gateAt = (name: string, seen: Array<unknown>): AgentHook => ({
    name,
    reinvoke: "ifChanged",
    preLlmCall: (_request, ctx) => {
      seen.push(ctx.askedAgain)
      return ctx.askedAgain ? HookAction.reject("changed") : undefined
    }
  })

  it.effect("to arguments of a tool are a change like any other", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const args = { messages: ["a"], context: ["a"] }
      yield* run("preToolCall", { ...call, args }, [
        { name: "gate", reinvoke: "ifChanged", preToolCall: ({ args }) => void asked.push(args) },
        {
          name: "late",
          preToolCall: () =>
            HookAction.transform({ id: call.id, name: call.name, args: { messages: ["a", "b"], context: ["a"] } })
        }
      ])
      assert.lengthOf(asked, 2)
    }))
})
