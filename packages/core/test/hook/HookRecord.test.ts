import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { digest } from "../../src/data/Json.ts"
import { JsonValue } from "../../src/data/Message.ts"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import * as HookRecord from "../../src/hook/HookRecord.ts"

describe("diff", () => {
  it.each<readonly [unknown, unknown, ReadonlyArray<string>]>([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, []],
    [{ a: 1 }, { a: 2 }, ["a: 1 -> 2"]],
    [{ a: { b: { c: "x" } } }, { a: { b: { c: "y" } } }, ["a.b.c: \"x\" -> \"y\""]],
    [{ a: 1 }, { b: 1 }, ["a: 1 -> nothing", "b: nothing -> 1"]],
    [[1, 2], [1, 3], ["[1,2] -> [1,3]"]],
    ["x", { a: 1 }, ["\"x\" -> {\"a\":1}"]],
    [{}, { a: null }, ["a: nothing -> null"]],
    [{ a: null }, { a: {} }, ["a: null -> {}"]]
  ])("of %o and %o", (before, after, lines) => assert.deepEqual(HookRecord.diff(before, after), lines))

  it("cuts long sides at 80 characters", () => {
    const [line] = HookRecord.diff({ text: "" }, { text: "x".repeat(500) })
    assert.strictEqual(line, `text: "" -> "${"x".repeat(76)}...`)
  })

  it.prop("is empty exactly when the digests are the same", [JsonValue, JsonValue], ([a, b]) => {
    const [same, other] = [HookRecord.diff(a, structuredClone(a)), HookRecord.diff(a, b)]
    return same.length === 0 && (other.length === 0) === (digest(a) === digest(b))
  }, { arbitrary: { runs: 1000 } })
})

describe("change", () => {
  it("has the digests of both sides and the first four differences", () => {
    const [before, after] = [{ a: 1, b: 1, c: 1, d: 1, e: 1 }, { a: 2, b: 2, c: 2, d: 2, e: 2 }]
    assert.deepEqual(HookRecord.change(before, after), {
      before: digest(before),
      after: digest(after),
      diff: "a: 1 -> 2, b: 1 -> 2, c: 1 -> 2, d: 1 -> 2"
    })
    assert.strictEqual(HookRecord.change(before, { ...before }).diff, "no difference")
  })
})

describe("the record of a point", () => {
  it.effect("has nothing of what a confidential hook changed", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hidden: AgentHook = {
        name: "vault",
        confidential: true,
        preTurn: () => HookAction.transform({ message: "the password" })
      }
      yield* HookChain.makeUnsafe([hidden]).run("preTurn", { message: "<PASSWORD>" }, scope)
      const word = "confidential"
      assert.deepEqual(scope.records[0]!.hooks[0]!.change, { before: word, after: word, diff: word })
      assert.notInclude(JSON.stringify(scope.records), "password")
    }))

  it.live("has the time that each hook took: one that answers, waits, breaks, or is a shadow", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hooks: ReadonlyArray<AgentHook> = [
        { name: "quick", preTurn: () => undefined },
        { name: "slow", preTurn: () => new Promise<void>((resolve) => setTimeout(resolve, 20)) },
        {
          name: "broken",
          preTurn: () => {
            throw new Error("broken")
          }
        },
        { name: "late", preTurn: () => Promise.reject(new Error("broken")) },
        { name: "shadow", mode: "shadow", preTurn: () => HookAction.reject("no") }
      ]
      const began = performance.now()
      yield* HookChain.makeUnsafe(hooks).run("preTurn", { message: "a" }, scope)
      const tookMs = performance.now() - began
      const times = new Map(scope.records[0]!.hooks.map(({ durationMs, hook }) => [hook, durationMs]))
      assert.strictEqual(times.size, hooks.length)
      for (const ms of times.values()) assert.isTrue(ms >= 0 && ms <= tookMs, `${ms} of ${tookMs}`)
      assert.isAbove(times.get("slow")!, 10)
    }))
})

describe("explain", () => {
  it("prints one line for the point and one for each hook", () => {
    const records: ReadonlyArray<HookRecord.HookRecord> = [
      { point: "preTurn", hooks: [], action: "Continue" },
      {
        point: "preToolCall",
        subject: "bash",
        action: "Reject",
        decidedBy: "guard",
        hooks: [
          {
            hook: "gate",
            answer: "Transform",
            again: true,
            change: HookRecord.change({ a: 1 }, { a: 2 }),
            durationMs: 1.234
          },
          { hook: "canary", answer: "Abort", why: "would end it", shadow: true, durationMs: 0 },
          { hook: "guard", answer: "Reject", why: "no", durationMs: 0.5 }
        ]
      }
    ]
    assert.strictEqual(
      HookRecord.explain(records),
      `preTurn: Continue
preToolCall bash: Reject by guard
  gate: Transform (a: 1 -> 2; asked again) 1.23 ms
  canary: Abort (would end it; shadow, not obeyed) 0.00 ms
  guard: Reject (no) 0.50 ms`
    )
  })
})
