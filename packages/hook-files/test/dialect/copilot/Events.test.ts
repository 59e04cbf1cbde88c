import { HookRejected, PortFailed } from "@belay/core/AgentError"
import * as ProviderError from "@belay/core/ProviderError"
import * as Copilot from "@belay/hook-files/Copilot"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, failed, overloaded, standing } from "../../../../../test/support/events.ts"
import { answer, result } from "../claude/support.ts"
import { bash, world } from "./support.ts"

const child = { agent: { name: "helper", depth: 1, invokedBy: "subagent" as const } }

describe("Copilot and everything but tools", () => {
  it.effect("begins a session with context and with prompts, which a session that goes on does not get again", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        sessionStart: [{ type: "prompt", prompt: "/init" }, { bash: "x" }],
        SessionStart: bash("y")
      }, {
        x: answer({ additionalContext: "use tabs" }),
        y: answer({ hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "be brief" } })
      })
      const begin = (source: "startup" | "resume" | "rotate") =>
        Effect.map(
          at("onSessionStart", { sessionId: "session-1", source, context: [] }),
          ({ event }) => (event["context"] as Array<{ content: string }>).map(({ content }) => content)
        )
      assert.deepEqual(yield* begin("startup"), ["use tabs", "be brief", "/init"])
      assert.deepEqual(yield* begin("resume"), ["use tabs", "be brief"])
      yield* begin("rotate")
      assert.deepEqual(told.map(({ input }) => input["source"]), [
        "startup",
        "startup",
        "resume",
        "resume",
        "new",
        "new"
      ])
      assert.strictEqual(told[1]!.input["hook_event_name"], "SessionStart")
    }))

  it.effect("tells the end of a session", () =>
    Effect.gen(function*() {
      const { at, told } = world({ sessionEnd: bash("x") }, { x: answer("", 1) })
      for (const reason of ["done", "error", "abort", "rotate"] as const) {
        yield* at("onSessionEnd", { sessionId: "session-1", reason })
      }
      assert.deepEqual(
        told.map(({ input }) => input["reason"]),
        ["complete", "error", "abort", "user_exit"]
      )
    }))

  it.effect("lets a prompt be changed, first as the user gave it and then as the model gets it", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({ userPromptSubmitted: bash("a"), userPromptTransformed: bash("b") }, {
        a: answer({ modifiedPrompt: "one", additionalContext: "more" }),
        b: answer({ modifiedTransformedPrompt: "two" })
      })
      const { event } = yield* at("preTurn", { message: "zero" })
      assert.strictEqual(event["message"], "two")
      assert.deepEqual(heard.injected, ["more"])
      assert.strictEqual(told[0]!.input["prompt"], "zero")
      assert.deepInclude(told[1]!.input, { prompt: "one", transformedPrompt: "one" })
      const wrong = world({ userPromptSubmitted: bash("a"), userPromptTransformed: bash("b") }, {
        a: answer({ modifiedPrompt: "" }),
        b: answer({ modifiedTransformedPrompt: 7 })
      })
      assert.strictEqual((yield* wrong.at("preTurn", { message: "zero" }))._tag, "Continue")
      assert.match(
        wrong.scope.warnings.join("\n"),
        /modifiedPrompt does not count[^]*modifiedTransformedPrompt does not count/
      )
      const warned = world({ UserPromptSubmit: bash("x") }, { x: answer("", 2, "careful") })
      assert.strictEqual((yield* warned.at("preTurn", { message: "zero" }))._tag, "Continue")
      assert.deepEqual(warned.heard.users, ["careful"])
    }))

  // rows: U-22
  it.effect("keeps the agent going, at most 8 times in a row", () =>
    Effect.gen(function*() {
      const { at, heard, scope, told } = world({ agentStop: bash("x"), Stop: bash("y") }, {
        x: answer({ decision: "block", reason: "run the tests" })
      })
      for (const followUps of [0, 7, 8]) {
        assert.strictEqual((yield* at("preStop", { ...standing, text: "done", followUps }))._tag, "Continue")
      }
      assert.deepEqual(heard.follow, ["run the tests", "run the tests"])
      assert.match(scope.warnings[0]!, /8 times in a row/)
      assert.deepInclude(told[0]!.input, { transcriptPath: "", stopReason: "end_turn", stop_hook_active: false })
      assert.deepInclude(told[3]!.input, {
        hook_event_name: "Stop",
        transcript_path: "",
        stop_reason: "end_turn",
        stop_hook_active: true
      })
      assert.strictEqual(Copilot.maxBlocks, 8)
    }))

  it.effect("tells sub-agents more, keeps them going, and changes what they give back", () =>
    Effect.gen(function*() {
      const { at, heard, of, told } = world({
        subagentStart: [{ bash: "start", matcher: "helper" }, { bash: "never", matcher: "help" }],
        subagentStop: bash("stop"),
        SubagentStop: bash("Stop")
      }, { start: answer({ additionalContext: "use tabs" }), stop: answer({ modifiedResponse: "short" }) })
      const scope = of(child)
      assert.strictEqual((yield* at("preTurn", { message: "do it" }, scope)).event["message"], "use tabs\n\ndo it")
      yield* at("preStop", { text: "long", followUps: 0, ...standing }, scope)
      assert.deepInclude(told[0]!.input, { agentName: "helper", transcriptPath: "" })
      assert.deepInclude(told[1]!.input, {
        agentId: "session-1",
        agentType: "helper",
        agentName: "helper",
        response: "long",
        stopReason: "end_turn"
      })
      assert.deepInclude(told[2]!.input, {
        agent_name: "helper",
        last_assistant_message: "long",
        stop_reason: "end_turn"
      })
      const output = {
        text: "long",
        finishReason: "stop" as const,
        usage: { inputTokens: 1, outputTokens: 1 },
        steps: 1,
        toolCalls: 0
      }
      const ended = yield* at("postTurn", { input: { message: "do it" }, output, executed: true }, scope)
      assert.deepInclude(ended.event["output"], { text: "short" })
      const blocked = world({ subagentStop: bash("a", "b") }, {
        a: answer({ decision: "block", reason: "and the tests?" }),
        b: answer({ modifiedResponse: "x" })
      })
      yield* blocked.at("preStop", { text: "long", followUps: 0, ...standing }, blocked.of(child))
      assert.deepEqual(blocked.heard.follow, ["and the tests?"])
      assert.strictEqual(
        (yield* blocked.at("postTurn", { input: { message: "" }, output, executed: true }, blocked.of(child)))._tag,
        "Continue"
      )
      assert.deepEqual(heard.follow, [])
    }))

  it.effect("answers the policy's questions: the last word counts, 2 denies, and a sandbox is left only with a person", () =>
    Effect.gen(function*() {
      const ask = (args = {}) => ({
        call: { id: "c", name: "bash", args: { command: "ls", ...args } },
        tool: call("bash").tool,
        reason: "r",
        decision: { type: "ask" as const, reason: "r" }
      })
      const of = (...said: ReadonlyArray<ReturnType<typeof answer>>) =>
        world(
          { permissionRequest: bash(...said.map((_, index) => `${index}`)) },
          Object.fromEntries(said.map((one, index) => [`${index}`, one]))
        )
      const allow = of(answer({ behavior: "allow" }))
      assert.deepInclude(yield* allow.at("onPermission", ask()), { _tag: "Replace", value: { type: "allow" } })
      assert.deepInclude(allow.told[0]!.input, {
        toolName: "bash",
        toolArgs: "{\"command\":\"ls\"}",
        toolInput: { command: "ls" }
      })
      assert.strictEqual((yield* allow.at("onPermission", ask({ requestSandboxBypass: true })))._tag, "Continue")
      const deny = of(answer({ behavior: "deny", message: "not you" }))
      assert.deepInclude(yield* deny.at("onPermission", ask({ requestSandboxBypass: true })), {
        _tag: "Reject",
        reason: "not you"
      })
      assert.strictEqual(
        (yield* of(answer({ behavior: "deny" }), answer({ behavior: "allow" })).at("onPermission", ask()))._tag,
        "Replace"
      )
      const two = of(answer({ behavior: "allow", message: "told so" }, 2, "ignored"))
      assert.deepInclude(yield* two.at("onPermission", ask()), { _tag: "Reject", reason: "told so" })
      assert.deepInclude(yield* of(answer("", 2, "ignored")).at("onPermission", ask()), {
        _tag: "Reject",
        reason: "Denied by permissionRequest hook"
      })
      assert.strictEqual((yield* of(answer("", 1)).at("onPermission", ask()))._tag, "Continue")
      const claude = world({ PermissionRequest: [{ bash: "x", matcher: "Bash" }] }, {
        x: answer({
          hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "deny", message: "no" } }
        })
      })
      assert.deepInclude(yield* claude.at("onPermission", ask()), { _tag: "Reject", reason: "no" })
      assert.deepInclude(claude.told[0]!.input, { tool_name: "Bash", tool_input: { command: "ls" } })
    }))

  it.effect("ends the turn where a denial says so", () =>
    Effect.gen(function*() {
      const { at } = world({ permissionRequest: bash("x") }, {
        x: answer({ behavior: "deny", message: "stop it", interrupt: true })
      })
      const usage = { inputTokens: 1, outputTokens: 1 }
      yield* at("onPermission", {
        call: { id: "c", name: "bash", args: {} },
        tool: call("bash").tool,
        reason: "r",
        decision: { type: "ask", reason: "r" }
      })
      assert.deepInclude(yield* at("postStep", { ...standing, usage }), { _tag: "Abort", reason: "stop it" })
      assert.strictEqual((yield* at("postStep", { ...standing, usage }))._tag, "Continue")
    }))

  it.effect("tells errors by where they happened, and does what hooks say about them", () =>
    Effect.gen(function*() {
      const of = (said: object = {}) => world({ errorOccurred: bash("x") }, { x: answer(said) })
      const seen = of()
      yield* seen.at("onLlmError", failed({ decision: { type: "retry", delayMs: 1 } }))
      yield* seen.at("postToolCall", { ...result("bash", {}, ""), result: { ok: false, error: "exit 1" } })
      const refused = new HookRejected({ hook: "h", point: "preTurn", reason: "r", message: "h rejected preTurn: r" })
      yield* seen.at("onTurnError", { input: { message: "m" }, error: refused })
      yield* seen.at("onTurnError", {
        input: { message: "m" },
        error: new PortFailed({ port: "memory", message: "gone" })
      })
      yield* seen.at("onTurnError", { input: { message: "m" }, error: overloaded })
      assert.deepEqual(seen.told.map(({ input }) => [input["errorContext"], input["recoverable"], input["error"]]), [
        ["model_call", true, { message: "out of capacity", name: "Overloaded" }],
        ["tool_execution", true, { message: "exit 1", name: "ToolError" }],
        ["user_input", false, { message: "h rejected preTurn: r", name: "HookRejected" }],
        ["system", false, { message: "gone", name: "PortFailed" }]
      ])
      assert.isTrue(ProviderError.isProviderError(overloaded))
      const retry = of({ errorHandling: "retry", retryCount: 2, userNotification: "trying again" })
      assert.deepInclude((yield* retry.at("onLlmError", failed({ attempt: 2 }))).event["decision"], { type: "retry" })
      assert.strictEqual((yield* retry.at("onLlmError", failed({ attempt: 3 })))._tag, "Continue")
      assert.deepEqual(retry.heard.users, ["trying again", "trying again"])
      assert.strictEqual((yield* of({ errorHandling: "skip" }).at("onLlmError", failed()))._tag, "Continue")
      const abort = of({ errorHandling: "abort" })
      assert.strictEqual((yield* abort.at("onLlmError", failed()))._tag, "Abort")
      assert.strictEqual(
        (yield* abort.at("postToolCall", { ...result("bash", {}, ""), result: { ok: false, error: "x" } }))._tag,
        "Abort"
      )
      const pascal = world({ ErrorOccurred: bash("x") })
      yield* pascal.at("onLlmError", failed())
      assert.deepInclude(pascal.told[0]!.input, {
        hook_event_name: "ErrorOccurred",
        error_context: "model_call",
        recoverable: false
      })
    }))

  it.effect("tells compactions and notifications, which nobody can block", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        preCompact: [{ bash: "auto", matcher: "auto" }, { bash: "manual", matcher: "manual" }],
        notification: [{ bash: "note", matcher: "shell_.*" }]
      }, {
        auto: answer({ decision: "block" }, 2, "careful"),
        note: answer({ additionalContext: "the build is done", decision: "block" })
      })
      const compaction = {
        messages: [],
        budget: { usedTokens: 1, windowTokens: 2 },
        hint: { instructions: "keep names" }
      }
      assert.strictEqual((yield* at("preCompaction", { ...compaction, trigger: "overflow" }))._tag, "Continue")
      yield* at("preCompaction", { ...compaction, trigger: "manual" })
      const note = (notification_type: string) =>
        at("onSignal", { name: "notification", payload: { notification_type, message: "m" }, blockable: true })
      assert.strictEqual((yield* note("shell_completed"))._tag, "Continue")
      yield* note("agent_idle")
      assert.deepEqual(told.map(({ what }) => what), ["auto", "manual", "note"])
      assert.deepInclude(told[0]!.input, { trigger: "auto", customInstructions: "keep names", transcriptPath: "" })
      assert.deepInclude(told[2]!.input, {
        hook_event_name: "Notification",
        notification_type: "shell_completed",
        message: "m",
        sessionId: "session-1"
      })
      assert.deepEqual([heard.injected, heard.users], [["the build is done"], ["careful"]])
    }))
})
