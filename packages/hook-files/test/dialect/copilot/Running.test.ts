import * as Copilot from "@belay/hook-files/Copilot"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../../../test/support/events.ts"
import { answer, result } from "../claude/support.ts"
import { bash, world } from "./support.ts"

const shell = (command: string) => call("bash", { command })

const http = { type: "http", url: "https://h.example/" }

describe("Copilot and several hooks", () => {
  it.effect("runs hooks one after another, and lets any of them deny", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const slow = (name: string, said: object) =>
        Effect.sync(() => order.push(`${name} begins`)).pipe(
          Effect.andThen(Effect.yieldNow),
          Effect.andThen(Effect.sync(() => {
            order.push(`${name} ends`)
            return answer(said)
          }))
        )
      const { at, told } = world({ preToolUse: bash("a", "b", "c") }, {
        a: slow("a", { permissionDecision: "deny", permissionDecisionReason: "one" }),
        b: slow("b", { permissionDecision: "allow" }),
        c: slow("c", { permissionDecision: "deny", permissionDecisionReason: "two" })
      })
      assert.deepInclude(yield* at("preToolCall", shell("ls")), { _tag: "Reject", reason: "one\ntwo" })
      assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
      assert.lengthOf(told, 3)
      const later = world({ preToolUse: bash("a", "b") }, {
        a: answer({ permissionDecision: "ask" }),
        b: answer({ permissionDecision: "allow" })
      })
      assert.strictEqual((yield* later.at("preToolCall", shell("ls")))._tag, "Continue")
    }))

  // rows: U-08
  it.effect("has a person decide where a command may not run, and warns of what broke", () =>
    Effect.gen(function*() {
      const refuse = () => "it changed"
      const denied = world({ preToolUse: bash("x") }, {}, { refuse })
      assert.deepInclude(yield* denied.at("preToolCall", shell("ls")), { _tag: "Ask", reason: "it changed" })
      assert.deepEqual(denied.told, [])
      const open = world({ postToolUse: bash("x"), preToolUse: [http] }, {}, { refuse })
      yield* open.at("preToolCall", shell("ls"))
      yield* open.at("postToolCall", result("bash", {}, "x"))
      assert.deepEqual(open.scope.warnings, [
        "hooks.preToolUse[0] (POST https://h.example/) was not run: it changed",
        "hooks.postToolUse[0] (x) was not run: it changed"
      ])
    }))

  it.effect("takes lines of progress out of what is said", () =>
    Effect.gen(function*() {
      const lines = [
        "{\"type\": \"progress\", \"message\": \"Checking\"}",
        "{\"permissionDecision\":",
        " {\"type\":\"progress\",\"message\":\"Still\",\"temporary\":true} ",
        "\"deny\"}"
      ]
      const progress: Array<unknown> = []
      const { at, of } = world({ preToolUse: bash("x") }, { x: answer(lines.join("\n")) })
      const scope = of({ emit: (name, payload) => void (name === "hook-progress" && progress.push(payload)) })
      assert.strictEqual((yield* at("preToolCall", shell("ls"), scope))._tag, "Reject")
      const where = { event: "preToolUse", key: "hooks.preToolUse[0]" }
      assert.deepEqual(progress, [{ ...where, message: "Checking", temporary: false }, {
        ...where,
        message: "Still",
        temporary: true
      }])
    }))

  it.effect("tells a result, puts another in its place, and context behind it", () =>
    Effect.gen(function*() {
      const of = (...said: ReadonlyArray<object>) =>
        world({ postToolUse: bash(...said.map((_, index) => `${index}`)), postToolUseFailure: bash("failed") }, {
          ...Object.fromEntries(said.map((one, index) => [`${index}`, answer(one)])),
          failed: answer({ additionalContext: "try again" })
        })
      const changed = of({ modifiedResult: { resultType: "success", textResultForLlm: "[hidden]" } }, {
        additionalContext: "a"
      }, {
        additionalContext: "b"
      })
      const { event } = yield* changed.at("postToolCall", result("bash", { command: "env" }, "KEY=1"))
      assert.deepEqual(event["result"], { ok: true, output: "[hidden]\n\na\n\nb" })
      assert.deepEqual(changed.told[0]!.input["toolResult"], { resultType: "success", textResultForLlm: "KEY=1" })
      const failed = of({ modifiedResult: { resultType: "failure", textResultForLlm: "really bad" } })
      const bad = yield* failed.at("postToolCall", result("bash", {}, "x"))
      assert.deepEqual(bad.event["result"], { ok: false, error: "really bad\n\ntry again" })
      assert.deepEqual(failed.told.map(({ input, what }) => [what, input["error"]]), [["0", undefined], [
        "failed",
        "really bad"
      ]])
      const long = of({ additionalContext: "x".repeat(20_000) })
      const capped = (yield* long.at("postToolCall", result("bash", {}, ""))).event["result"] as { output: string }
      assert.lengthOf(capped.output, 2 + Copilot.maxContext)
      const wrong = of({ modifiedResult: "x", additionalContext: null })
      assert.strictEqual((yield* wrong.at("postToolCall", result("bash", {}, "x")))._tag, "Continue")
      const pascal = world({ PostToolUse: bash("x") })
      yield* pascal.at("postToolCall", result("bash", {}, { rows: 1 }))
      assert.deepEqual(pascal.told[0]!.input["tool_result"], {
        result_type: "success",
        text_result_for_llm: "{\"rows\":1}"
      })
    }))

  // rows: U-17
  it.effect("treats 2 as advice for a failed tool, and as a warning for the user elsewhere", () =>
    Effect.gen(function*() {
      const failure = { ...result("bash", {}, ""), result: { ok: false as const, error: "exit 1" } }
      const advice = world({ postToolUseFailure: bash("x") }, { x: answer("", 2, "run npm ci first") })
      assert.deepEqual((yield* advice.at("postToolCall", failure)).event["result"], {
        ok: false,
        error: "exit 1\n\nrun npm ci first"
      })
      const printed = world({ postToolUseFailure: bash("x") }, { x: answer("from stdout", 2) })
      assert.deepEqual((yield* printed.at("postToolCall", failure)).event["result"], {
        ok: false,
        error: "exit 1\n\nfrom stdout"
      })
      const other = world({ postToolUse: bash("x") }, { x: answer({ additionalContext: "no" }, 2, "look at this") })
      assert.strictEqual((yield* other.at("postToolCall", result("bash", {}, "x")))._tag, "Continue")
      assert.deepEqual(other.heard.users, ["look at this"])
      const one = world({ postToolUseFailure: bash("x") }, { x: answer("", 1, "oops") })
      assert.strictEqual((yield* one.at("postToolCall", failure))._tag, "Continue")
      assert.deepEqual(one.scope.warnings, ["hooks.postToolUseFailure[0] (x) ended with 1: oops"])
    }))

  it.effect("tells calls of servers by themselves, once they may run", () =>
    Effect.gen(function*() {
      const { at, scope, told } = world({
        preMcpToolCall: bash("x"),
        preToolUse: [{ bash: "deny", matcher: "mcp__s__no" }]
      }, {
        deny: answer("", 2),
        x: answer({ metaToUse: {} })
      })
      yield* at("preToolCall", call("mcp__s__no", { a: 1 }))
      yield* at("preToolCall", shell("ls"))
      yield* at("preToolCall", call("mcp__s__t", { a: 1 }))
      assert.deepEqual(told.map(({ what }) => what), ["deny", "x"])
      assert.deepInclude(told[1]!.input, {
        serverName: "s",
        toolName: "t",
        arguments: { a: 1 },
        toolCallId: "call-mcp__s__t"
      })
      assert.match(scope.warnings[0]!, /metaToUse does not count/)
    }))
})
