import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import * as InputGuardrail from "@belay/hooks/InputGuardrail"
import { testHook } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"

const guardrail = (options: InputGuardrail.Options) => testHook(InputGuardrail.make(options))

describe("InputGuardrail", () => {
  // rows: A-61
  it("rejects a message that matches, with the reason of the policy", async () => {
    const { verdicts } = await guardrail({ patterns: ["forbidden"] })
      .given("preTurn", { message: "a forbidden word" }).expect("Reject", "Message blocked by content policy")
    assert.deepEqual(verdicts[0]?.action, { _tag: "Reject", reason: "Message blocked by content policy" })
    assert.strictEqual(verdicts[0]?.by, "input-guardrail")
  })

  it("does not change other messages", async () => {
    const { verdicts } = await guardrail({ patterns: ["forbidden", /never/] })
      .given("preTurn", { message: "a fine word" }).expectContinue()
    assert.deepEqual(verdicts[0]?.event, { message: "a fine word" })
  })

  it("uses the reason of the options, and another text for the user", async () => {
    const { verdicts } = await guardrail({ patterns: ["forbidden"], reason: "rule 7", userMessage: "Sorry." })
      .given("preTurn", { message: "forbidden" })
    assert.deepEqual(verdicts[0]?.action, { _tag: "Reject", reason: "rule 7", userMessage: "Sorry." })
  })

  it("takes texts, RegExps and functions as patterns", async () => {
    await guardrail({ patterns: ["(?i)alpha", /beta$/, (text) => text.length > 20] })
      .given("preTurn", { message: "ALPHA" }).expect("Reject")
      .given("preTurn", { message: "a beta" }).expect("Reject")
      .given("preTurn", { message: "beta b" }).expectContinue()
      .given("preTurn", { message: "x".repeat(21) }).expect("Reject")
  })

  it("finds the same with a global RegExp every time", async () => {
    await guardrail({ patterns: [/forbidden/g] })
      .given("preTurn", { message: "forbidden" }).expect("Reject")
      .given("preTurn", { message: "forbidden" }).expect("Reject")
      .given("preTurn", { message: "forbidden" }).expect("Reject")
  })

  it("takes linear time where a backtracking engine would not", async () => {
    await guardrail({ patterns: ["^(a+)+$"] })
      .given("preTurn", { message: `${"a".repeat(40)}!` }).expectContinue()
      .given("preTurn", { message: "a".repeat(100_000) }).expect("Reject")
  })

  for (const pattern of ["(?=a)b", "(?<!a)b", "(a)\\1", "["]) {
    it(`rejects the pattern ${pattern} with an error that names it`, () => {
      const error = caught(() => InputGuardrail.make({ patterns: ["fine", pattern] }))
      assert.instanceOf(error, ConfigError)
      assert.strictEqual((error as ConfigError).key, "input-guardrail.patterns[1]")
      assert.include((error as ConfigError).message, JSON.stringify(pattern))
    })
  }

  it("rejects the message when a pattern throws", async () => {
    const broken = () => {
      throw new Error("broken pattern")
    }
    const { failures } = await guardrail({ patterns: [broken] })
      .given("preTurn", { message: "anything" }).expectFailure("reject")
    assert.lengthOf(failures, 1)
    assert.deepInclude(failures[0], { hook: "input-guardrail", kind: "threw", policy: "reject" })
  })

  it("checks the message again when a later hook changes it", async () => {
    const spoiler = defineHook({ name: "spoiler", preTurn: () => HookAction.transform({ message: "forbidden" }) })
    await testHook([InputGuardrail.make({ patterns: ["forbidden"] }), spoiler])
      .given("preTurn", { message: "fine" }).expect("Reject")
  })

  it("is not skipped when an earlier hook replaces the message", async () => {
    const first = defineHook({
      name: "first",
      priority: 1,
      preTurn: () => HookAction.replace({ message: "forbidden" })
    })
    await testHook([InputGuardrail.make({ patterns: ["forbidden"] }), first])
      .given("preTurn", { message: "fine" }).expect("Reject")
  })

  it("can be renamed and run as a shadow", async () => {
    const shadow = { ...InputGuardrail.make({ patterns: ["forbidden"] }), name: "trial", mode: "shadow" as const }
    const { records } = await testHook(shadow).given("preTurn", { message: "forbidden" }).expectContinue()
    assert.deepInclude(records[0]?.hooks[0], { hook: "trial", answer: "Reject", shadow: true })
  })

  it("fails closed, runs early and has no warnings", () => {
    const chain = HookChain.makeUnsafe([InputGuardrail.make({ patterns: [] })])
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
