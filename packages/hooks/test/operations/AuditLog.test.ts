import { HookRejected } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import { failure, success } from "@belay/core/Tool"
import * as AuditFile from "@belay/hooks/AuditFile"
import * as AuditLog from "@belay/hooks/AuditLog"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answer, call, failed, request } from "../../../../test/support/events.ts"

const secret = "the secret word"

/** A whole session, point by point. */
const session = (chain: HookChain.HookChain, scope = TestScope.make()) =>
  Effect.gen(function*() {
    const input = { message: secret }
    const error = new HookRejected({
      hook: "guard",
      point: "postTurn",
      reason: "rule 7",
      message: `guard rejected: ${secret}`
    })
    const tool = call("read", { path: secret })
    const output = {
      text: secret,
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 2 },
      steps: 1,
      toolCalls: 1
    } as const
    yield* chain.run("onSessionStart", { sessionId: "session-1", source: "startup", context: [] }, scope)
    yield* chain.run("preTurn", input, scope)
    yield* chain.run("preLlmCall", request("model-1"), scope)
    yield* chain.run("onLlmError", failed(), scope)
    yield* chain.run("postLlmCall", answer({ text: secret, usage: { inputTokens: 1, outputTokens: 2 } }), scope)
    yield* chain.run("preToolCall", tool, scope)
    yield* chain.run("postToolCall", {
      call: tool,
      tool: tool.tool,
      result: success(secret),
      elapsedMs: 3,
      executed: true
    }, scope)
    yield* chain.run("onToolDenied", { call: tool, by: "policy", reason: "not here" }, scope)
    yield* chain.run("postTurn", { input, output, executed: true }, scope)
    yield* chain.run("onTurnError", { input, error }, scope)
    yield* chain.run("onSessionEnd", { sessionId: "session-1", reason: "done" }, scope)
  })

const logged = (options: Partial<AuditLog.Options> = {}) => {
  const entries: Array<AuditLog.Entry> = []
  return { entries, hook: AuditLog.make({ sink: (entry) => void entries.push(entry), ...options }) }
}

describe("AuditLog", () => {
  // rows: A-60
  it.effect("writes an entry for everything that begins, ends, fails or is denied", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged()
      yield* TestClock.setTime(1_700_000_000_000)
      yield* session(HookChain.makeUnsafe([hook]))
      assert.deepEqual(entries.map(({ event }) => event), [
        "session_start",
        "turn_start",
        "llm_start",
        "llm_error",
        "llm_end",
        "tool_start",
        "tool_end",
        "tool_denied",
        "turn_end",
        "turn_error",
        "session_end"
      ])
      assert.deepInclude(entries[1], {
        time: 1_700_000_000_000,
        session: "session-1",
        turn: 3,
        step: 2,
        agent: "tester"
      })
      assert.deepInclude(entries[3], { provider: "one", attempt: 1, error: "Overloaded", next: "fail" })
      assert.deepInclude(entries[4], { model: "model-1", usage: { inputTokens: 1, outputTokens: 2 }, executed: true })
      assert.deepInclude(entries[6], { call: "call-read", tool: "read", ok: true, elapsedMs: 3 })
      assert.deepInclude(entries[7], { tool: "read", by: "policy", reason: "not here" })
      assert.deepInclude(entries[9], { error: "HookRejected", hook: "guard", point: "postTurn", reason: "rule 7" })
    }))

  it.effect("logs only lengths and digests of content by default", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged()
      yield* session(HookChain.makeUnsafe([hook]))
      assert.notInclude(JSON.stringify(entries), secret)
      assert.containsAllKeys(entries[1]?.["message"], ["length", "digest"])
      assert.deepInclude(entries[1]?.["message"], { length: secret.length })
      assert.strictEqual(JSON.stringify(entries[1]?.["message"]), JSON.stringify(entries[4]?.["text"]))
    }))

  it.effect("logs the error of a tool without its text", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged()
      const tool = call("read", {})
      yield* HookChain.makeUnsafe([hook]).run("postToolCall", {
        call: tool,
        tool: tool.tool,
        result: failure(secret),
        elapsedMs: 3,
        executed: true
      }, TestScope.make())
      assert.notInclude(JSON.stringify(entries), secret)
      assert.deepInclude(entries[0], { ok: false })
      assert.deepInclude(entries[0]?.["error"], { length: secret.length })
    }))

  it.effect("tells a turn, a message during it and another part of the input apart", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged()
      const chain = HookChain.makeUnsafe([hook])
      yield* chain.run("preTurn", { message: "begin" }, TestScope.make())
      yield* chain.run("preTurn", { message: "also this", steer: true }, TestScope.make())
      yield* chain.run("preTurn", { message: "before", part: "before" }, TestScope.make())
      assert.deepEqual(entries.map(({ event, part }) => [event, part]), [
        ["turn_start", undefined],
        ["steer", undefined],
        ["input_part", "before"]
      ])
    }))

  it.effect("logs contents if the option is set", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged({ content: true })
      yield* session(HookChain.makeUnsafe([hook]))
      assert.deepInclude(entries[1]?.["message"], { content: secret })
      assert.deepInclude(entries[5]?.["args"], { content: { path: secret } })
    }))

  it.effect("logs decisions, also when another hook rejected the call", () =>
    Effect.gen(function*() {
      const { entries, hook } = logged()
      const guard = defineHook({ name: "guard", priority: 1, preTurn: () => HookAction.reject("no") })
      yield* HookChain.makeUnsafe([hook, guard]).run("preTurn", { message: "x" }, TestScope.make())
      assert.deepInclude(entries[0], { event: "turn_start", decision: { action: "Reject", by: "guard", reason: "no" } })
    }))

  for (
    const [how, sink] of [
      ["throws", () => assert.fail("disk full")],
      ["rejects", () => Promise.reject(new Error("disk full"))],
      ["fails", () => Effect.fail("disk full")]
    ] as const
  ) {
    it.effect(`warns, and does not stop the agent, if the sink ${how}`, () =>
      Effect.gen(function*() {
        const scope = TestScope.make()
        const chain = HookChain.makeUnsafe([AuditLog.make({ sink })])
        assert.strictEqual((yield* chain.run("preTurn", { message: "x" }, scope)).action._tag, "Continue")
        assert.deepInclude(scope.failures[0], { hook: "audit-log", policy: "open" })
      }))
  }

  it.effect("waits for a slow sink", () =>
    Effect.gen(function*() {
      const entries: Array<string> = []
      const sink = async ({ event }: AuditLog.Entry) => {
        await Promise.resolve()
        entries.push(event)
      }
      yield* HookChain.makeUnsafe([AuditLog.make({ sink })]).run("preTurn", { message: "x" }, TestScope.make())
      assert.deepEqual(entries, ["turn_start"])
    }))

  // rows: A-60
  it("is an observer with a fixed place", () => {
    assert.deepInclude(logged().hook, { name: "audit-log", priority: 50, kind: "observer" })
  })
})

describe("AuditLog.line", () => {
  const hostile = "a\r\n{\"forged\":1}\u001b[2J\u009b31m\u0000\u2028\u2029\u202e\u200b\u{e0041}"
  const entry: AuditLog.Entry = {
    time: 0,
    event: "turn_start",
    session: "s",
    turn: 1,
    step: 0,
    agent: "a",
    message: hostile
  }

  it("renders an entry as one line of JSON", () => {
    const line = AuditLog.line(entry)
    assert.notMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u)
    assert.deepEqual(JSON.parse(line), entry)
  })

  it.effect("is written to a file for each entry, which only the owner can read", () =>
    Effect.acquireUseRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "belay-audit-"))),
      (folder) =>
        Effect.gen(function*() {
          const path = join(folder, "audit.jsonl")
          const chain = HookChain.makeUnsafe([AuditLog.make({ sink: AuditFile.make(path), content: true })])
          yield* session(chain)
          yield* chain.run("preTurn", { message: hostile }, TestScope.make())
          const lines = readFileSync(path, "utf8").split("\n")
          assert.lengthOf(lines, 13)
          assert.strictEqual(lines[12], "")
          assert.deepInclude(JSON.parse(lines[11]!).message, { content: hostile })
          if (process.platform !== "win32") assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        }),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    ))
})
