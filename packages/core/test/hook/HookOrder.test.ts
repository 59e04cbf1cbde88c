import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { cpuMs } from "../../../../test/support/cpu.ts"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookPointName, In } from "../../src/hook/HookPoint.ts"
import * as HookPoint from "../../src/hook/HookPoint.ts"
import { eventAt, points } from "./events.ts"
import { isLegal, isReverse } from "./laws/reference.ts"

type Options = Partial<Omit<AgentHook, "name">>

/** Who is called at a point, in which order. */
const orderAt = (point: HookPointName, hooks: { readonly [name: string]: Options }): ReadonlyArray<string> => {
  const called: Array<string> = []
  const made = Object.entries(hooks).map(([name, options]) =>
    ({ name, ...options, [point]: () => void called.push(name) }) as AgentHook
  )
  HookChain.makeUnsafe(made).runNow(point, eventAt(point, "") as never, scopeOf({ record: false }))
  return called
}

/** The words with which a chain of these hooks is refused. */
const refused = (...hooks: ReadonlyArray<unknown>): string => {
  const made = HookChain.make(hooks as ReadonlyArray<AgentHook>)
  return made._tag === "Failure" ? made.failure.message : "accepted"
}

describe("the order of hooks", () => {
  const three = { metrics: { priority: 100 }, guardrail: { priority: 10 }, logging: { priority: 50 } }

  it("takes hooks without a priority for 100, in the order in which they are given", () => {
    assert.deepEqual(orderAt("preTurn", { one: {}, two: { priority: 99 } }), ["two", "one"])
    assert.deepEqual(orderAt("preTurn", { one: { priority: 101 }, two: {} }), ["two", "one"])
    assert.deepEqual(orderAt("preTurn", { one: {}, two: { priority: 100 }, three: {} }), ["one", "two", "three"])
  })

  // rows: A-20
  it("is ascending by priority at forward points", () => {
    for (const point of points.filter((point) => !isReverse(point))) {
      assert.deepEqual(orderAt(point, three), ["guardrail", "logging", "metrics"], point)
    }
  })

  // rows, U-06
  it("is exactly the reverse at reverse points", () => {
    for (const point of points.filter(isReverse)) {
      assert.deepEqual(orderAt(point, three), ["metrics", "logging", "guardrail"], point)
    }
  })

  // rows: A-23
  it("keeps registration order between equals, and reverses it at reverse points", () => {
    assert.deepEqual(orderAt("preTurn", { a: {}, b: { priority: 100 }, c: {} }), ["a", "b", "c"])
    assert.deepEqual(orderAt("postTurn", { a: {}, b: { priority: 100 }, c: {} }), ["c", "b", "a"])
  })

  // rows: DEC-19, U-06
  it("puts managed before project before agent, whatever their priorities", () => {
    const tiers = { a: { tier: "agent", priority: -100 }, p: {}, m: { tier: "managed", priority: 900 } } as const
    assert.deepEqual(orderAt("preTurn", tiers), ["m", "p", "a"])
    assert.deepEqual(orderAt("postTurn", tiers), ["a", "p", "m"])
  })

  it("puts observers last at every point", () => {
    for (const point of points) {
      const called = orderAt(point, {
        watch: { kind: "observer", priority: -5 },
        a: {},
        look: { observes: [point], priority: 7 },
        b: {}
      })
      assert.sameMembers(called.slice(2), ["watch", "look"], point)
    }
  })

  it("obeys before and after, at reverse points the other way round", () => {
    const bound = { a: { after: ["c"] }, b: {}, c: {}, d: { before: ["b"] } }
    assert.deepEqual(orderAt("preTurn", bound), ["c", "a", "d", "b"])
    assert.deepEqual(orderAt("postTurn", bound), ["b", "d", "a", "c"])
  })

  it("ignores constraints on hooks that do not exist", () => {
    assert.deepEqual(orderAt("preTurn", { a: { after: ["nobody"] }, b: { before: ["nobody"] } }), ["a", "b"])
  })

  it("names a cycle of constraints", () => {
    const ring = [{ name: "a", before: ["b"] }, { name: "b", before: ["c"] }, { name: "c", before: ["a"] }, {
      name: "d"
    }]
    assert.match(refused(...ring), /^hooks cannot be ordered: before\/after form a cycle, ("[abc]" before ){3}"[abc]"$/)
    const [, names = ""] = /cycle, (.*)$/.exec(refused(...ring)) ?? []
    const pairs = names.split(" before ").map((name, at, all) => name + (all[at + 1] ?? "")).slice(0, -1)
    assert.sameMembers(pairs, [`"a""b"`, `"b""c"`, `"c""a"`])
    assert.match(refused({ name: "self", after: ["self"] }), /"self" before "self"/)
    const outside = { name: "outside", priority: 1, after: ["a"] }
    assert.notInclude(refused(outside, ...ring), `"outside"`)
  })

  it("does not let a hook place itself before one of a higher tier", () => {
    const managed = { name: "guard", tier: "managed" }
    assert.strictEqual(
      refused(managed, { name: "early", tier: "agent", before: ["guard"] }),
      "hook \"early\" of tier agent may not place itself before \"guard\" of tier managed"
    )
    assert.match(
      refused(managed, { name: "early", before: ["other", "guard"] }),
      /"early" of tier project may not place/
    )
    const early = { name: "early", tier: "agent", before: ["guard"] }
    assert.match(refused({ name: "guard" }, early), /may not place itself before "guard" of tier project/)
    assert.strictEqual(refused({ ...managed, before: ["late"] }, { name: "late", tier: "agent" }), "accepted")
    assert.strictEqual(refused({ ...managed, before: ["late"] }, { name: "late", tier: "managed" }), "accepted")
  })

  it("is the same for the same hooks, and does not change the list of hooks", () => {
    const hooks = [{ name: "b", priority: 2 }, { name: "a", priority: 1 }]
    const chain = HookChain.makeUnsafe(hooks)
    assert.deepEqual(chain.hooks.map(({ name }) => name), ["a", "b"])
    assert.deepEqual(hooks.map(({ name }) => name), ["b", "a"])
  })
})

describe("names", () => {
  // rows: U-19, DEC-07
  it("are unique: a duplicate is refused", () => {
    assert.strictEqual(
      refused({ name: "guard" }, { name: "guard" }),
      "two hooks are named \"guard\": rename one, or set override: true on the later one"
    )
  })

  it("may be replaced by a later hook with override: true", () => {
    const called: Array<string> = []
    const chain = HookChain.makeUnsafe([
      { name: "guard", preTurn: () => void called.push("old") },
      { name: "other", preTurn: () => void called.push("other") },
      { name: "guard", override: true, preTurn: () => void called.push("new") }
    ])
    chain.runNow("preTurn", { message: "" }, scopeOf())
    assert.deepEqual(called, ["other", "new"])
    assert.strictEqual(refused({ name: "guard", override: true }, { name: "guard" }).slice(0, 15), "two hooks are n")
  })

  it("are not taken over by a lower tier", () => {
    assert.strictEqual(
      refused({ name: "guard", tier: "managed" }, { name: "guard", override: true }),
      "hook \"guard\" of tier project may not override the one of tier managed"
    )
    assert.strictEqual(
      refused({ name: "guard", tier: "agent" }, { name: "guard", override: true, tier: "managed" }),
      "accepted"
    )
  })
})

describe("an option of a hook", () => {
  it.each([
    { timeout: 0 },
    { timeout: "5 seconds" },
    { timeout: "none" },
    { hold: { chars: 0 } },
    { priority: -1 },
    { allowReentry: true, confidential: false, failOpen: false },
    { tier: "managed", kind: "observer", mode: "shadow", reinvoke: "reapply" },
    { onFailure: "abort", onTimeout: "open", tools: ["*", "!read"], observes: ["preTurn"] }
  ])("may be %o", (options) => assert.strictEqual(refused({ name: "h", ...options }), "accepted"))

  it("may belong to an object without a prototype", () => {
    assert.strictEqual(refused(Object.assign(Object.create(null), { name: "h", preTurn: () => undefined })), "accepted")
    assert.include(refused(Object.assign(Object.create(null), { name: "h", preTrun: () => {} })), "preTrun")
  })

  it.each(["allowReentry", "confidential", "failOpen", "override"])("%s must be true or false", (option) => {
    assert.notStrictEqual(refused({ name: "h", [option]: "true" }), "accepted")
  })
})

describe("an invalid hook is refused:", () => {
  it.each([
    [{}, "a hook needs a name: a string that is unique in its chain"],
    [{ name: "" }, "a hook needs a name: a string that is unique in its chain"],
    [{ name: 5 }, "a hook needs a name: a string that is unique in its chain"],
    [null, "a hook must be an object, found null"],
    ["guard", "a hook must be an object, found string"],
    [[{ name: "one" }], "a hook must be an object, found a list: write ... before it"],
    [() => ({ name: "one" }), "a hook must be an object, found a function: call it"],
    [Promise.resolve({ name: "one" }), "a hook must be an object, found a promise: await it"],
    [{ name: "h", priority: Number.NaN }, "hook \"h\": priority must be a finite number, found NaN"],
    [{ name: "h", priority: "10" }, "hook \"h\": priority must be a finite number, found 10"],
    [{ name: "h", tier: "root" }, "hook \"h\": tier must be managed, project or agent, found root"],
    [{ name: "h", tier: "toString" }, "hook \"h\": tier must be managed, project or agent, found toString"],
    [{ name: "h", kind: "observr" }, "hook \"h\": kind must be policy, advisory or observer, found observr"],
    [{ name: "h", mode: "Shadow" }, "hook \"h\": mode must be enforce or shadow, found Shadow"],
    [{ name: "h", onFailure: "opne" }, "hook \"h\": onFailure must be open, reject or abort, found opne"],
    [{ name: "h", onTimeout: "closed" }, "hook \"h\": onTimeout must be open, reject or abort, found closed"],
    [{ name: "h", reinvoke: "always" }, "hook \"h\": reinvoke must be never, ifChanged or reapply, found always"],
    [{ name: "h", failOpen: "no" }, "hook \"h\": failOpen must be true or false, found no"],
    [{ name: "h", tools: /bash/ }, "hook \"h\": tools must be a tool, a name or a pattern, or a list of them"],
    [{ name: "h", tools: ["a", 1] }, "hook \"h\": tools must be a tool, a name or a pattern, or a list of them"],
    [{ name: "h", hold: { chars: "20" } }, "hook \"h\": hold must be none, untilPass or { chars: number }"],
    [{ name: "h", before: "b" }, "hook \"h\": before must be a list of strings"],
    [{ name: "h", after: [1] }, "hook \"h\": after must be a list of strings"],
    [{ name: "h", observes: ["preTrun"] }, "hook \"h\": unknown point \"preTrun\", did you mean \"preTurn\"?"],
    [
      { name: "h", timeout: "soon" },
      "hook \"h\": timeout must be \"none\", milliseconds or a duration such as \"5 seconds\", found soon"
    ],
    [
      { name: "h", timeout: -1 },
      "hook \"h\": timeout must be \"none\", milliseconds or a duration such as \"5 seconds\", found -1"
    ],
    [
      { name: "h", timeout: Number.NaN },
      "hook \"h\": timeout must be \"none\", milliseconds or a duration such as \"5 seconds\", found NaN"
    ],
    [{ name: "h", preTurn: "later" }, "hook \"h\": preTurn must be a function, found string"],
    [{ name: "h", preTrun: () => {} }, "hook \"h\": unknown point \"preTrun\", did you mean \"preTurn\"?"],
    [{ name: "h", pre_turn: () => {} }, "hook \"h\": unknown point \"pre_turn\", did you mean \"preTurn\"?"],
    [{ name: "h", onToolCall: () => {} }, "hook \"h\": unknown point \"onToolCall\", did you mean \"preToolCall\"?"],
    [
      { name: "h", wrapLLMCalls: () => {} },
      "hook \"h\": unknown point \"wrapLLMCalls\", did you mean \"wrapLlmCall\"?"
    ],
    [{ name: "h", onEverything: () => {} }, "hook \"h\": unknown point \"onEverything\". Points are onSessionStart"]
  ])("%o", (hook, message) => assert.strictEqual(refused(hook).slice(0, message.length), message))

  it("of a class too, whose methods are inherited", () => {
    class Base {
      readonly name = "audit"
      preTurns() {}
    }
    class Audit extends Base {}
    assert.include(refused(new Audit()), "unknown point \"preTurns\", did you mean \"preTurn\"?")
  })

  it("but a hook may have its own helpers and data", () => {
    assert.strictEqual(
      refused({ name: "h", calls: 3, format: () => "", preferences: {}, preTurn: undefined }),
      "accepted"
    )
  })
})

describe("tools", () => {
  const patterns = Arbitrary.map(
    Arbitrary.schema(Schema.Array(Schema.Literals(["a", "b", "*", "."]))),
    (letters) => letters.join("")
  )
  const names = Arbitrary.map(
    Arbitrary.schema(Schema.Array(Schema.Literals(["a", "b", "."]))),
    (letters) => letters.join("")
  )
  const isAsked = (tools: string | ReadonlyArray<string>, name: string): boolean => {
    const call = { ...eventAt("preToolCall", "") as In<"preToolCall">, name }
    const chain = HookChain.makeUnsafe([{ name: "h", tools, preToolCall: () => HookAction.reject("asked") }])
    return (chain.runNow("preToolCall", call, scopeOf()) as HookChain.Outcome<"preToolCall">).action._tag === "Reject"
  }

  it.prop("match as a pattern in which * stands for anything", [patterns, names], ([pattern, name]) => {
    const like = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`)
    return isAsked(pattern, name) === like.test(name) && isAsked(`!${pattern}`, name) === !like.test(name)
  }, { arbitrary: { runs: 3000, size: 8 } })

  it("are all by default, none when the list is empty, and all but the excluded ones", () => {
    assert.isFalse(isAsked([], "bash"))
    assert.isTrue(isAsked("*", "bash"))
    assert.isTrue(isAsked(["!read_*"], "bash"))
    assert.isFalse(isAsked(["!read_*", "*"], "read_file"))
    assert.isFalse(isAsked(["write", "!read_*"], "bash"))
  })

  it("match in linear time", () => {
    const began = cpuMs()
    assert.isFalse(isAsked("*a".repeat(50) + "b", "a".repeat(20_000)))
    assert.isAtMost(cpuMs() - began, 250)
  })

  it("are compared exactly, not by how they look", () => {
    for (const name of ["Bash", "bash ", "b\u0430sh", "bash\u0000", "constructor", "__proto__"]) {
      assert.isFalse(isAsked("bash", name), name)
    }
  })
})

describe("the table of points", () => {
  // rows: A-17, U-03, DEC-05
  it("allows what the specification allows, in its order", () => {
    assert.deepEqual(HookPoint.names, points)
    for (const point of points) {
      const row = HookPoint.table[point]
      const tags = ["Transform", "Replace", "Reject", "Respond", "Abort", "Ask"] as const
      assert.deepEqual([...row.legal], tags.filter((tag) => isLegal(point, tag)), point)
      assert.strictEqual(row.order, isReverse(point) ? "reverse" : "forward", point)
      assert.strictEqual(row.onReject !== "", isLegal(point, "Reject"), point)
    }
  })

  // rows: A-18
  it("costs nothing without hooks: the event itself, no context, no record", () => {
    const chain = HookChain.makeUnsafe([])
    for (const point of points) {
      const scope = scopeOf({ freeze: false })
      const event = eventAt(point, "x")
      assert.isFalse(chain.has(point))
      assert.isUndefined(chain.runNow(point, event as never, scope))
      assert.strictEqual(Effect.runSync(chain.run(point, event as never, scope)).event, event)
      assert.deepEqual([scope.contexts, scope.records], [[], []])
    }
  })

  // rows: A-02
  it("treats hooks without methods as no hooks", () => {
    const chain = HookChain.makeUnsafe([{ name: "empty" }, { name: "other", preTurn: () => {} }])
    assert.deepEqual(points.filter(chain.has), ["preTurn"])
  })
})
