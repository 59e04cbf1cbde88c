import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import * as ArgumentSchema from "@belay/hooks/ArgumentSchema"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { decide } from "../support/decide.ts"
import { asks, scripted } from "../support/guarded.ts"

/** Why a call is rejected, also by a failure of the hook. */
const whyNot = (args: Json, options: Omit<ArgumentSchema.Options, "tools">, tool = "pay") =>
  Effect.map(
    decide(ArgumentSchema.make({ tools: "pay", ...options }), tool, args),
    ({ _tag, reason }) => _tag === "Continue" ? undefined : reason
  )

const amount = Schema.Struct({ amount: Schema.Finite.check(Schema.isLessThanOrEqualTo(100)) })

const standard = (validate: StandardSchemaV1["~standard"]["validate"]): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate }
})

describe("ArgumentSchema", () => {
  it.effect("accepts an Effect Schema, and says which arguments are allowed", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* whyNot({ amount: 100, note: "more" }, { allow: amount }))
      const reason = yield* whyNot({ amount: 101 }, { allow: amount, advice: "Ask a colleague." })
      assert.match(reason!, /^these arguments of pay are not allowed: amount: .*100.*\. Ask a colleague\.$/)
      assert.isDefined(yield* whyNot({}, { allow: amount }))
      assert.isUndefined(yield* whyNot({ amount: 101 }, { allow: amount }, "other"))
    }))

  it.effect("accepts a Standard Schema, also an asynchronous one", () =>
    Effect.gen(function*() {
      const wrong = { issues: [{ message: "too much", path: ["a", { key: 0 }] }, { message: "odd" }] }
      for (const schema of [standard(() => wrong), standard(async () => wrong)]) {
        assert.strictEqual(
          yield* whyNot({}, { allow: schema }),
          "these arguments of pay are not allowed: a.0: too much; odd"
        )
        assert.isUndefined(yield* whyNot({}, { deny: schema }))
      }
      for (const schema of [standard((value) => ({ value })), standard(async (value) => ({ value }))]) {
        assert.isUndefined(yield* whyNot({}, { allow: schema }))
        assert.strictEqual(yield* whyNot({}, { deny: schema }), "these arguments of pay are not allowed")
      }
      assert.isDefined(yield* whyNot({}, { allow: standard(() => ({ issues: [] })) }))
    }))

  it.effect("rejects the call when a schema throws", () =>
    Effect.gen(function*() {
      const broken = standard(() => {
        throw new Error("broken")
      })
      assert.match((yield* whyNot({}, { allow: broken }))!, /argument-schema threw: broken/)
      assert.match(
        (yield* whyNot({}, { deny: standard(() => Promise.reject(new Error("later"))) }))!,
        /argument-schema rejected: later/
      )
    }))

  it.effect("accepts rules, and lists everything that is wrong", () =>
    Effect.gen(function*() {
      const allow: ArgumentSchema.Rules = {
        amount: { min: 1, max: 100, required: true },
        "options.currency": { oneOf: ["EUR", "USD"] },
        to: { pattern: "^[a-z]+@example\\.com$", maxLength: 20 },
        mode: { noneOf: ["force", null] },
        tags: { maxLength: 1 }
      }
      assert.isUndefined(
        yield* whyNot({ amount: 5, options: { currency: "EUR" }, to: "ada@example.com", mode: "dry", tags: ["a"] }, {
          allow
        })
      )
      assert.isUndefined(yield* whyNot({ amount: 5 }, { allow }))
      assert.strictEqual(
        yield* whyNot({ amount: 101, options: { currency: "CHF" }, to: 5, mode: null, tags: ["a", "b"] }, { allow }),
        "these arguments of pay are not allowed: amount: expected a number up to 100; options.currency: expected one of \"EUR\", \"USD\"; " +
          "to: expected a text like ^[a-z]+@example\\.com$; to: expected at most 20 long; mode: expected none of \"force\", null"
      )
      assert.include((yield* whyNot({}, { allow }))!, "amount: expected a value, found none")
      assert.isDefined(yield* whyNot({ amount: "5" }, { allow }))
      assert.isDefined(yield* whyNot({ amount: null }, { allow }))
    }))

  it.effect("denies arguments that match, but not missing ones", () =>
    Effect.gen(function*() {
      const deny: ArgumentSchema.Rules = { path: { pattern: "(^|/)\\.\\.(/|$)" } }
      assert.strictEqual(
        yield* whyNot({ path: "a/../b" }, { deny }),
        "these arguments of pay are not allowed: path is a text like (^|/)\\.\\.(/|$)"
      )
      for (const args of [{ path: "a/..b" }, {}, { path: 1 }, [], null, "x"]) {
        assert.isUndefined(yield* whyNot(args, { deny }))
      }
      assert.isDefined(yield* whyNot({ amount: 5, path: "../x" }, { allow: amount, deny }))
    }))

  it.effect("checks only own keys, whatever their names", () =>
    Effect.gen(function*() {
      const allow: ArgumentSchema.Rules = { constructor: { required: true }, "__proto__.x": { required: true } }
      assert.include((yield* whyNot({}, { allow }))!, "constructor: expected a value, found none")
      assert.isUndefined(yield* whyNot(JSON.parse(`{"constructor":1,"__proto__":{"x":1}}`), { allow }))
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      const began = cpuMs()
      yield* whyNot({ path: `${"a".repeat(50_000)}!` }, { allow: { path: { pattern: "^(a+)+$" } } })
      assert.isBelow(cpuMs() - began, 5_000)
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ tools: "pay" }, /argument-schema\.allow: expected `allow` or `deny`, found neither/],
      [{ allow: amount }, /argument-schema\.tools/],
      [
        { tools: "pay", allow: { a: { pattern: "(?=x)" } } },
        /argument-schema\.allow\.a: expected an RE2 pattern, found "\(\?=x\)"/
      ],
      [
        { tools: "pay", deny: { a: { maximum: 1 } } },
        /argument-schema\.deny\.a\.rule: expected one of .*, found "maximum"/
      ],
      [{ tools: "pay", allow: 1 }, /argument-schema\.allow: expected/]
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => ArgumentSchema.make(options as never), ConfigError, message)
    }
  })

  it("gives the model the reason, and checks the arguments that a later hook changes", async () => {
    const ran: Array<unknown> = []
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: { type: "object" },
      execute: (args) => void ran.push(args)
    })
    const double = defineHook({
      name: "double",
      preToolCall: ({ args, id, name }) =>
        (args as { amount: number }).amount === 60
          ? HookAction.transform({ id, name, args: { amount: 120 } })
          : undefined
    })
    const model = scripted([
      asks(["pay", { amount: 500 }], ["pay", { amount: 60 }]),
      asks(["pay", { amount: 100 }]),
      "paid"
    ])
    const hooks = [ArgumentSchema.make({ tools: "pay", allow: { amount: { max: 100 } } }), double]
    await using agent = createAgent({ provider: model.provider, tools: [pay], hooks })
    await agent.run("pay")
    assert.deepEqual(ran, [{ amount: 100 }])
    assert.include(JSON.stringify(model.requests[1]?.messages), "amount: expected a number up to 100")
  })
})
