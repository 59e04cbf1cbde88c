import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import { success } from "@belay/core/Tool"
import * as RegexFilter from "@belay/hooks/RegexFilter"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { answer, call } from "../../../../test/support/events.ts"
import { asks, chunks, scripted, stream } from "../support/guarded.ts"

const rules: ReadonlyArray<RegexFilter.Rule> = [{ name: "falcon", pattern: "(?i)project falcon" }]
const text = "about Project Falcon, then"
const after = (output: string) => ({
  call: call("read"),
  tool: call("read").tool,
  result: success(output),
  elapsedMs: 1,
  executed: true
})

describe("RegexFilter", () => {
  it.effect("blocks in every phase by default, without the text in the reason", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([RegexFilter.make({ rules })])
      const reasons = [
        (yield* chain.run("preTurn", { message: text }, TestScope.make())).action,
        (yield* chain.run("postLlmCall", answer({ text }), TestScope.make())).action,
        (yield* chain.run("preToolCall", call("any", { deep: [text] }), TestScope.make())).action
      ].map((action) => action._tag === "Reject" ? action.reason : action._tag)
      assert.deepEqual(reasons, [
        "falcon is not allowed in a message",
        "falcon is not allowed in an answer",
        "falcon is not allowed in the arguments of a tool"
      ])
      const { event } = yield* chain.run("postToolCall", after(text), TestScope.make())
      assert.deepEqual(event.result, {
        ok: false,
        error: "the result of read was withheld: falcon is not allowed in the result of a tool"
      })
    }))

  it.effect("redacts with the text of the rule, or only warns", () =>
    Effect.gen(function*() {
      const heard: Array<unknown> = []
      const chain = HookChain.makeUnsafe([
        RegexFilter.make({
          rules: [...rules, { name: "then", pattern: "then", strategy: "warn" }, {
            name: "about",
            pattern: "about",
            replacement: "$1"
          }],
          strategy: "redact",
          onDetection: ({ count, kind, place }) => void heard.push([kind, place, count])
        })
      ])
      const scope = TestScope.make()
      const { event } = yield* chain.run("preTurn", { message: text }, scope)
      assert.strictEqual(event.message, "$1 [FALCON], then")
      assert.deepEqual(scope.warnings, ["THEN found in input (1)"])
      assert.deepEqual(heard, [["about", "input", 1], ["falcon", "input", 1], ["then", "input", 1]])
    }))

  it.effect("searches only in the phase of the option", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([RegexFilter.make({ rules, phase: ["toolResults"] })])
      assert.strictEqual((yield* chain.run("preTurn", { message: text }, TestScope.make())).action._tag, "Continue")
      assert.isFalse(chain.has("onLlmDelta"))
      assert.strictEqual(RegexFilter.make({ rules, phase: "input" }).hold, undefined)
    }))

  it.effect("has presets", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([
        RegexFilter.make({ presets: ["pii", "secrets", "urls"], strategy: "redact" })
      ])
      const message = `ada@example.com, ${"sk"}-${"a1B2".repeat(8)}, https://example.com/x`
      const { event } = yield* chain.run("preTurn", { message }, TestScope.make())
      assert.strictEqual(event.message, "[EMAIL], [OPENAI_KEY], [URL]")
    }))

  it.effect("shows no part of a match in a stream of pieces of any size", () =>
    Effect.gen(function*() {
      const long = `${"so ".repeat(70)}${text} ${"and ".repeat(70)}`
      for (let seed = 0; seed < 60; seed++) {
        const redacted = yield* stream(RegexFilter.make({ rules, strategy: "redact" }), chunks(long, seed, 1 + seed))
        assert.strictEqual(redacted.text, long.replace("Project Falcon", "[FALCON]"))
        assert.isTrue(redacted.text.startsWith(redacted.shown))
        const blocked = yield* stream(RegexFilter.make({ rules }), chunks(long, seed, 1 + seed))
        assert.isTrue(blocked.cut)
        assert.notInclude(blocked.shown, "Project")
        assert.strictEqual(
          (yield* stream(RegexFilter.make({ rules, strategy: "warn" }), chunks(long, seed, 1 + seed))).text,
          long
        )
      }
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([
        RegexFilter.make({ rules: [{ name: "evil", pattern: "(a+)+$" }], strategy: "redact" })
      ])
      const began = cpuMs()
      yield* chain.run("preTurn", { message: `${"a".repeat(50_000)}!` }, TestScope.make())
      assert.isBelow(cpuMs() - began, 5_000)
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [RegexFilter.Options, RegExp]> = [
      [{}, /regex-filter\.rules: expected at least one rule or preset/],
      [
        { rules: [{ name: "x", pattern: "(?=a)" }] },
        /regex-filter\.rules\[0\]\.find: expected an RE2 pattern, found "\(\?=a\)"/
      ],
      [{ rules: [{ name: "x", pattern: /a/ as never }] }, /regex-filter\.rules\[0\]/],
      [
        { rules: [{ name: "X y", pattern: "a" }] },
        /regex-filter\.rules\[0\]\.kind: expected lower-case .*, found "X y"/
      ],
      [{ rules: [...rules, ...rules] }, /two rules have the name "falcon"; give each its own name/],
      [{ rules, strategy: "hide" as never }, /regex-filter\.strategy: expected one of block, redact, warn/],
      [{ rules, phase: "later" as never }, /regex-filter\.phase: expected one of .*, found "later"/],
      [{ presets: ["none" as never] }, /regex-filter\.presets/],
      [{ rules, hold: { chars: 3 } }, /regex-filter\.hold\.chars/]
    ]
    for (const [options, message] of wrong) assert.throws(() => RegexFilter.make(options), ConfigError, message)
  })

  it("works in an agent, with another filter of another name", async () => {
    const read = defineTool({ name: "read", description: "Reads", input: { type: "object" }, execute: () => text })
    const model = scripted([asks(["read", {}]), `it is ${text}`])
    const hooks = [
      RegexFilter.make({ rules, strategy: "redact" }),
      RegexFilter.make({
        name: "other",
        rules: [{ name: "then", pattern: "then" }],
        strategy: "redact",
        phase: "toolResults"
      })
    ]
    await using agent = createAgent({ provider: model.provider, tools: [read], hooks })
    const { messages, text: said } = await agent.run("read")
    assert.strictEqual(said, "it is about [FALCON], then")
    assert.strictEqual(messages[2]?.content, "about [FALCON], [THEN]")
  })
})
