import type { Json } from "@belay/core/Json"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, standing } from "../../../../../test/support/events.ts"
import { answer, group, result, specific, world } from "./support.ts"

describe("ClaudeCode", () => {
  it.effect("blocks a prompt with a reason for the user, and adds context to one that passes", () =>
    Effect.gen(function*() {
      const blocked = world({ UserPromptSubmit: [group([{ command: "x" }])] }, { x: answer("", 2, "no secrets here") })
      assert.deepInclude(yield* blocked.at("preTurn", { message: "my password" }), {
        _tag: "Reject",
        userMessage: "no secrets here"
      })
      assert.strictEqual(blocked.told[0]!.input["prompt"], "my password")
      assert.strictEqual(blocked.told[0]!.request.timeoutMs, 30_000)
      const passed = world({ UserPromptSubmit: [group([{ command: "x" }])] }, { x: answer("The branch is main.\n") })
      assert.strictEqual((yield* passed.at("preTurn", { message: "hello" }))._tag, "Continue")
      assert.deepEqual(passed.heard.injected, ["The branch is main."])
    }))

  it.effect("begins a session with what SessionStart says, by its source", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        SessionStart: [group([{ command: "x" }], "startup"), group([{ command: "y" }], "compact")]
      }, {
        x: answer("ctx"),
        y: answer("again")
      })
      const action = yield* at("onSessionStart", { sessionId: "session-1", source: "startup", context: [] })
      assert.deepEqual(action.event["context"], [{ role: "user", content: "ctx", source: "settings-hooks" }])
      assert.strictEqual(
        (yield* at("onSessionStart", { sessionId: "session-1", source: "resume", context: [] }))._tag,
        "Continue"
      )
      // A compaction follows, which says it.
      yield* at("onSessionStart", { sessionId: "session-2", source: "rotate", context: [] })
      yield* at("postCompaction", {
        removedCount: 1,
        summary: "",
        budget: { usedTokens: 1, windowTokens: 2 },
        trigger: "threshold"
      })
      assert.deepEqual(told.map(({ command, input }) => [command, input["source"]]), [["x", "startup"], [
        "y",
        "compact"
      ]])
    }))

  // rows: C-22
  it.effect("tells results, and puts a new one, feedback or context beside them", () =>
    Effect.gen(function*() {
      const of = (stdout: unknown, code = 0, stderr = "") =>
        world({ PostToolUse: [group([{ command: "x" }])] }, { x: answer(stdout, code, stderr) })
      const feedback = of("", 2, "lint: 3 errors")
      assert.deepInclude(
        yield* feedback.at("postToolCall", result("write_file", { path: "a.ts", content: "" }, "written")),
        {
          _tag: "Reject",
          reason: "lint: 3 errors"
        }
      )
      assert.deepEqual(feedback.told[0]!.input["tool_response"], {
        filePath: "/p/a.ts",
        content: "",
        structuredPatch: [],
        success: true,
        output: "written"
      })
      assert.strictEqual(feedback.told[0]!.input["duration_ms"], 7)
      const changed = of({
        decision: "block",
        reason: "look",
        ...specific("PostToolUse", { updatedToolOutput: { stdout: "[hidden]" } })
      })
      assert.deepEqual(
        (yield* changed.at("postToolCall", result("bash", { command: "env" }, "KEY=1"))).event["result"],
        {
          ok: true,
          output: "[hidden]"
        }
      )
      assert.deepEqual(changed.heard.injected, ["look"])
      const mcp = of(specific("PostToolUse", { updatedMCPToolOutput: "new" }))
      assert.strictEqual((yield* mcp.at("postToolCall", result("bash", { command: "ls" }, "old")))._tag, "Continue")
      assert.deepEqual((yield* mcp.at("postToolCall", result("mcp__s__t", {}, "old"))).event["result"], {
        ok: true,
        output: "new"
      })
      const skipped = of("", 2, "x")
      yield* skipped.at("postToolCall", { ...result("bash", {}, "x"), executed: false })
      assert.deepEqual(skipped.told, [])
    }))

  it.effect("tells failures apart from results", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world(
        { PostToolUse: [group([{ command: "ok" }])], PostToolUseFailure: [group([{ command: "failed" }])] },
        {
          failed: answer("", 2, "try npm ci")
        }
      )
      const action = yield* at("postToolCall", {
        ...result("bash", { command: "npm t" }, ""),
        result: { ok: false, error: "exit 1" }
      })
      assert.strictEqual(action._tag, "Continue")
      assert.deepEqual(told.map(({ command, input }) => [command, input["error"]]), [["failed", "exit 1"]])
      assert.deepEqual(heard.injected, ["try npm ci"])
    }))

  it.effect("keeps the agent going at Stop, and says when it does so again", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        Stop: [group([{ command: "x" }])],
        SubagentStop: [group([{ command: "sub" }], "helper")]
      }, {
        x: answer({ decision: "block", reason: "run the tests" })
      })
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      yield* at("preStop", { text: "done", followUps: 1, ...standing })
      assert.deepEqual(heard.follow, ["run the tests", "run the tests"])
      assert.deepEqual(told.map(({ input }) => input["stop_hook_active"]), [false, true])
      yield* at(
        "preStop",
        { text: "x", followUps: 0, ...standing },
        TestScope.make({ cwd: "/p", agent: { name: "helper", depth: 1, invokedBy: "subagent" } })
      )
      assert.deepInclude(told[2]!.input, { hook_event_name: "SubagentStop", agent_type: "helper" })
      assert.strictEqual(told[2]!.command, "sub")
    }))

  it.effect("keeps the agent going at most as often in a row as the option says, by default 8 times", () =>
    Effect.gen(function*() {
      for (const [options, cap] of [[{ stopCap: 2 }, 2], [{}, 8]] as const) {
        const { at, heard, scope } = world(
          { Stop: [group([{ command: "x" }])] },
          { x: answer({ decision: "block", reason: "run the tests" }) },
          options
        )
        yield* at("preStop", { ...standing, text: "done", followUps: cap - 1 })
        assert.lengthOf(heard.follow, 1)
        yield* at("preStop", { ...standing, text: "done", followUps: cap })
        assert.lengthOf(heard.follow, 1)
        assert.include(scope.warnings.join(), `kept the agent going ${cap} times in a row: it stops now`)
      }
    }))

  it.effect("answers the policy's questions, and sees denials", () =>
    Effect.gen(function*() {
      const decision = (behavior: string) =>
        answer(specific("PermissionRequest", { decision: { behavior, message: "not you" } }))
      const asked = {
        call: { id: "c", name: "bash", args: { command: "ls" } },
        tool: call("bash").tool,
        reason: "r",
        decision: { type: "ask" as const, reason: "r" }
      }
      const permit = world({ PermissionRequest: [group([{ command: "x" }], "Bash")] }, { x: decision("allow") })
      assert.deepInclude(yield* permit.at("onPermission", asked), { _tag: "Replace", value: { type: "allow" } })
      const deny = world({ PermissionRequest: [group([{ command: "x" }])] }, { x: decision("deny") })
      assert.deepInclude(yield* deny.at("onPermission", asked), { _tag: "Reject", reason: "not you" })
      const denied = world({ PermissionDenied: [group([{ command: "x" }])] }, {
        x: answer(specific("PermissionDenied", { retry: true }))
      })
      yield* denied.at("onToolDenied", { call: asked.call, by: "policy", reason: "never" })
      assert.strictEqual(denied.told[0]!.input["reason"], "never")
      assert.match(denied.heard.injected[0]!, /may be tried again/)
    }))

  it.effect("tells the calls of a step together, and ends the turn where that is wanted", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PostToolBatch: [group([{ command: "x" }])] }, {
        x: answer({ decision: "block", reason: "enough" })
      })
      const user = { role: "user" as const, content: "go" }
      assert.strictEqual(
        (yield* at("postStep", { ...standing, messages: [user, { role: "assistant", content: "done" }] }))._tag,
        "Continue"
      )
      assert.deepEqual(told, [])
      const calls = ["a", "b"].map((id) => ({ id, name: "bash", args: { command: id } }))
      const results = calls.map(({ id, name }) => ({
        role: "tool" as const,
        toolCallId: id,
        toolName: name,
        content: `${id}!`
      }))
      const step = [user, { role: "assistant" as const, content: "", toolCalls: calls }, ...results]
      assert.deepInclude(yield* at("postStep", { ...standing, messages: step as never }), {
        _tag: "Abort",
        reason: "enough"
      })
      assert.deepEqual(told[0]!.input["tool_calls"], [
        { tool_name: "Bash", tool_input: { command: "a" }, tool_use_id: "a", tool_response: "a!" },
        { tool_name: "Bash", tool_input: { command: "b" }, tool_use_id: "b", tool_response: "b!" }
      ])
    }))

  it.effect("tells sub-agents, compactions and what happens in the host", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        SubagentStart: [group([{ command: "sub" }], "reviewer")],
        PreCompact: [group([{ command: "pre" }], "manual")],
        PostCompact: [group([{ command: "post" }])],
        SessionStart: [group([{ command: "start" }], "compact")],
        FileChanged: [group([{ command: "file" }], ".env|.envrc")],
        ConfigChange: [group([{ command: "config" }])],
        Setup: [group([{ command: "setup" }], "init")]
      }, {
        sub: answer(specific("SubagentStart", { additionalContext: "be brief" })),
        pre: answer("", 2, "not now"),
        start: answer("anchors"),
        config: answer("", 2, "frozen")
      })
      const injected: Array<string> = []
      const agent = { name: "reviewer", depth: 1, invokedBy: "subagent" } as const
      const inner = TestScope.make({ cwd: "/p", agent, inject: (text) => void injected.push(text) })
      yield* at("preTurn", { message: "look" }, inner)
      assert.deepEqual(injected, ["be brief"])
      const request = { messages: [], budget: { usedTokens: 1, windowTokens: 2 }, hint: {} }
      assert.strictEqual((yield* at("preCompaction", { ...request, trigger: "threshold" }))._tag, "Continue")
      assert.deepInclude(yield* at("preCompaction", { ...request, trigger: "manual" }), {
        _tag: "Reject",
        reason: "not now"
      })
      yield* at("postCompaction", { removedCount: 1, summary: "so far", budget: request.budget, trigger: "threshold" })
      assert.deepEqual(heard.injected, ["anchors"])
      const signal = (name: string, payload: Json, blockable = true) => at("onSignal", { name, payload, blockable })
      yield* signal("file-changed", {
        file_path: "/p/.env",
        event: "change",
        session_id: "forged",
        hook_event_name: "forged"
      })
      yield* signal("fileChanged", { file_path: "/p/a.ts" })
      yield* signal("setup", { trigger: "init" })
      yield* signal("unheard_of", null)
      yield* signal("__proto__", {})
      assert.strictEqual((yield* signal("configChange", { source: "user_settings" }))._tag, "Reject")
      assert.strictEqual((yield* signal("configChange", { source: "user_settings" }, false))._tag, "Continue")
      assert.strictEqual((yield* signal("configChange", { source: "policy_settings" }))._tag, "Continue")
      assert.deepEqual(told.map(({ command }) => command), [
        "sub",
        "pre",
        "post",
        "start",
        "file",
        "setup",
        "config",
        "config",
        "config"
      ])
      assert.deepInclude(told[4]!.input, { session_id: "session-1", hook_event_name: "FileChanged", event: "change" })
    }))

  it.effect("gives SessionEnd little time, and more where a command asks for it", () =>
    Effect.gen(function*() {
      const { at, told } = world({ SessionEnd: [group([{ command: "a" }, { command: "b", async: true }])] })
      yield* at("onSessionEnd", { sessionId: "session-1", reason: "done" })
      assert.deepEqual(told.map(({ request }) => request.timeoutMs), [1_500, 1_500])
      const more = world({ SessionEnd: [group([{ command: "a", timeout: 5 }, { command: "b", timeout: 500 }])] })
      yield* more.at("onSessionEnd", { sessionId: "session-1", reason: "error" })
      assert.deepEqual(more.told.map(({ request }) => request.timeoutMs), [5_000, 60_000])
    }))

  it.effect("ignores what entries answer to SessionEnd", () =>
    Effect.gen(function*() {
      const { at, heard } = world({ SessionEnd: [group([{ command: "a" }])] }, { a: answer({ systemMessage: "bye" }) })
      yield* at("onSessionEnd", { sessionId: "session-1", reason: "done" })
      assert.deepEqual(heard.users, [])
    }))
})
