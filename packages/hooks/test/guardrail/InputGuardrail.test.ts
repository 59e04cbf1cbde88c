import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import * as InputGuardrail from "@belay/hooks/InputGuardrail"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scope from "../support/scope.ts"

const say = (chain: HookChain.HookChain, message: string, scope = Scope.make()) =>
  chain.run("preTurn", { message }, scope)

const guarded = (options: InputGuardrail.Options) => HookChain.makeUnsafe([InputGuardrail.make(options)])

describe("InputGuardrail", () => {
  // rows: A-61
  it.effect("rejects a message that matches, with the reason of the policy", () =>
    Effect.gen(function*() {
      const { action, by } = yield* say(guarded({ patterns: ["forbidden"] }), "a forbidden word")
      assert.deepEqual(action, { _tag: "Reject", reason: "Message blocked by content policy" })
      assert.strictEqual(by, "input-guardrail")
    }))

  it.effect("lets other messages pass unchanged", () =>
    Effect.gen(function*() {
      const { action, event } = yield* say(guarded({ patterns: ["forbidden", /never/] }), "a fine word")
      assert.strictEqual(action._tag, "Continue")
      assert.deepEqual(event, { message: "a fine word" })
    }))

  it.effect("says its own reason, and something else to the user", () =>
    Effect.gen(function*() {
      const chain = guarded({ patterns: ["forbidden"], reason: "rule 7", userMessage: "Sorry." })
      const { action } = yield* say(chain, "forbidden")
      assert.deepEqual(action, { _tag: "Reject", reason: "rule 7", userMessage: "Sorry." })
    }))

  it.effect("takes strings, RegExps and functions", () =>
    Effect.gen(function*() {
      const chain = guarded({ patterns: ["(?i)alpha", /beta$/, (text) => text.length > 20] })
      const tags = yield* Effect.forEach(
        ["ALPHA", "a beta", "beta b", "x".repeat(21)],
        (message) => Effect.map(say(chain, message), ({ action }) => action._tag)
      )
      assert.deepEqual(tags, ["Reject", "Reject", "Continue", "Reject"])
    }))

  it.effect("finds the same thing every time with a global RegExp", () =>
    Effect.gen(function*() {
      const chain = guarded({ patterns: [/forbidden/g] })
      const tags = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(say(chain, "forbidden"), ({ action }) => action._tag))
      assert.deepEqual(tags, ["Reject", "Reject", "Reject"])
    }))

  it.effect("answers at once where a backtracking engine would not", () =>
    Effect.gen(function*() {
      const { action } = yield* say(guarded({ patterns: ["^(a+)+$"] }), `${"a".repeat(40)}!`)
      assert.strictEqual(action._tag, "Continue")
      const { action: other } = yield* say(guarded({ patterns: ["^(a+)+$"] }), "a".repeat(100_000))
      assert.strictEqual(other._tag, "Reject")
    }))

  for (const pattern of ["(?=a)b", "(?<!a)b", "(a)\\1", "["]) {
    it(`refuses the pattern ${pattern} with an error that says which and why`, () => {
      const error = caught(() => InputGuardrail.make({ patterns: ["fine", pattern] }))
      assert.instanceOf(error, ConfigError)
      assert.strictEqual((error as ConfigError).key, "input-guardrail.patterns[1]")
      assert.include((error as ConfigError).message, JSON.stringify(pattern))
    })
  }

  it.effect("refuses the message when a pattern breaks", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const chain = guarded({
        patterns: [() => {
          throw new Error("broken pattern")
        }]
      })
      const { action, failure } = yield* say(chain, "anything", scope)
      assert.strictEqual(action._tag, "Reject")
      assert.deepInclude(failure, { hook: "input-guardrail", kind: "threw", policy: "reject" })
      assert.lengthOf(scope.failures, 1)
    }))

  it.effect("looks again when a later hook changes the message", () =>
    Effect.gen(function*() {
      const spoiler = defineHook({ name: "spoiler", preTurn: () => HookAction.transform({ message: "forbidden" }) })
      const chain = HookChain.makeUnsafe([InputGuardrail.make({ patterns: ["forbidden"] }), spoiler])
      assert.strictEqual((yield* say(chain, "fine")).action._tag, "Reject")
    }))

  it.effect("is not skipped by an earlier hook that replaces the message", () =>
    Effect.gen(function*() {
      const first = defineHook({
        name: "first",
        priority: 1,
        preTurn: () => HookAction.replace({ message: "forbidden" })
      })
      const chain = HookChain.makeUnsafe([InputGuardrail.make({ patterns: ["forbidden"] }), first])
      assert.strictEqual((yield* say(chain, "fine")).action._tag, "Reject")
    }))

  it.effect("can be renamed and tried out in the shadow", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const chain = HookChain.makeUnsafe([{
        ...InputGuardrail.make({ patterns: ["forbidden"] }),
        name: "trial",
        mode: "shadow"
      }])
      assert.strictEqual((yield* say(chain, "forbidden", scope)).action._tag, "Continue")
      assert.deepInclude(scope.records[0]?.hooks[0], { hook: "trial", answer: "Reject", shadow: true })
    }))

  it("fails closed, early and without warnings", () => {
    const chain = guarded({ patterns: [] })
    assert.deepEqual(chain.warnings, [])
    assert.deepInclude(chain.hooks[0], { name: "input-guardrail", priority: 10, kind: "policy" })
  })
})

const caught = (f: () => unknown): unknown => {
  try {
    f()
  } catch (error) {
    return error
  }
  return assert.fail("expected an error")
}
