import type { Json } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, standing } from "../../../../../test/support/events.ts"
import { answer, result } from "../claude/support.ts"
import { group, specific, world } from "./support.ts"

const bash = (command: string) => call("bash", { command })
describe("Gemini", () => {
  it.effect("tells BeforeTool as scripts expect it", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({ BeforeTool: [group(["x"])] })
      yield* at("preToolCall", call("write_file", { path: "src/a.ts", contents: "x" }))
      const { input, task } = told[0]!
      assert.deepEqual({ ...input, timestamp: "" }, {
        session_id: "session-1",
        transcript_path: "",
        cwd: "/p",
        hook_event_name: "BeforeTool",
        timestamp: "",
        tool_name: "write_file",
        // As the model wrote it.
        tool_input: { file_path: "src/a.ts", content: "x" }
      })
      assert.match(input["timestamp"] as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual(task.timeoutMs, 60_000)
      assert.deepEqual(task.env, {
        GEMINI_PROJECT_DIR: "/p",
        GEMINI_CWD: "/p",
        GEMINI_SESSION_ID: "session-1",
        GEMINI_PLANS_DIR: "/p/.gemini/plans",
        CLAUDE_PROJECT_DIR: "/p",
        workspacePath: "/p"
      })
      assert.deepInclude(heard.events[0] as object, {
        event: "BeforeTool",
        command: "x",
        outcome: "success",
        exitCode: 0
      })
    }))

  // rows: C-55
  it.effect("knows tools by the names that scripts know, and by those that the host gives them", () =>
    Effect.gen(function*() {
      const toolNames = {
        run: "run_shell_command",
        put: { name: "write_file", fields: { where: "file_path" } },
        find: "Grep"
      }
      const { at, told } = world({ BeforeTool: [group(["x"])] }, {}, { toolNames })
      for (
        const name of [
          "bash",
          "run",
          "find",
          "read_file",
          "edit",
          "replace",
          "list_directory",
          "mcp__github__create_issue",
          "other"
        ]
      ) {
        yield* at("preToolCall", call(name, { old: "a" }))
      }
      yield* at("preToolCall", call("put", { where: "/a" }))
      assert.deepEqual(told.map(({ input }) => input["tool_name"]), [
        "run_shell_command",
        "run_shell_command",
        "grep_search",
        "read_file",
        "replace",
        "replace",
        "list_directory",
        "mcp_github_create_issue",
        "other",
        "write_file"
      ])
      assert.deepEqual(told[4]!.input["tool_input"], { old_string: "a" })
      assert.deepEqual(told[5]!.input["tool_input"], { old_string: "a" })
      assert.deepEqual(told[7]!.input["mcp_context"], { server_name: "github", tool_name: "create_issue" })
      assert.deepEqual(told[9]!.input["tool_input"], { file_path: "/a" })
    }))

  // rows: C-11
  it.effect("runs nothing for another tool, and a hook that several groups name once", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        BeforeTool: [
          group(["x", "x"], { matcher: "run_shell" }),
          group(["x"], { matcher: ".*" }),
          group(["mcp"], { matcher: "mcp__.*" })
        ]
      })
      yield* at("preToolCall", bash("ls"))
      assert.lengthOf(told, 1)
      yield* at("preToolCall", call("mcp__a__b"))
      assert.deepEqual(told.slice(1).map(({ what }) => what), ["x", "mcp"])
    }))

  // rows: U-02
  it.effect("merges tool_input, under the names of the tool's own arguments", () =>
    Effect.gen(function*() {
      const { at } = world({ BeforeTool: [group(["a", "b"])] }, {
        a: specific({ hookEventName: "BeforeTool", tool_input: { content: "one", mode: 1 } }),
        b: specific({ tool_input: { content: "two" } })
      })
      const { event } = yield* at("preToolCall", call("write_file", { path: "a.ts", contents: "x" }))
      assert.deepEqual(event["args"], { path: "a.ts", contents: "two", mode: 1 })
    }))

  // rows: U-02
  it.effect("lets each hook see what those before it made of the input, where any group is sequential", () =>
    Effect.gen(function*() {
      const answers = {
        a: specific({ tool_input: { command: "ls -a", timeout: 1 } }),
        b: specific({ tool_input: { command: "ls -al" } })
      }
      const chained = world({ BeforeTool: [group(["a"]), group(["b"], { sequential: true })] }, answers)
      const { event } = yield* chained.at("preToolCall", bash("ls"))
      assert.deepEqual(chained.told.map(({ input }) => input["tool_input"]), [{ command: "ls" }, {
        command: "ls -a",
        timeout: 1
      }])
      assert.deepEqual(event["args"], { command: "ls -al", timeout: 1 })
      const parallel = world({ BeforeTool: [group(["a"]), group(["b"])] }, answers)
      yield* parallel.at("preToolCall", bash("ls"))
      assert.deepEqual(parallel.told.map(({ input }) => input["tool_input"]), [{ command: "ls" }, { command: "ls" }])
      const prompts = world({ BeforeAgent: [group(["a", "b"], { sequential: true })] }, {
        a: specific({ additionalContext: "more" })
      })
      yield* prompts.at("preTurn", { message: "hello" })
      assert.deepEqual(prompts.told.map(({ input }) => input["prompt"]), ["hello", "hello\n\nmore"])
    }))

  // rows: C-31
  it.effect("denies where any hook does, with the reasons of all, a line each", () =>
    Effect.gen(function*() {
      const { at, heard } = world({ BeforeTool: [group(["a", "b", "c"])] }, {
        a: answer({ decision: "deny", reason: "one", systemMessage: "seen" }),
        b: answer({ decision: "allow" }),
        c: answer({ decision: "block", reason: "two" })
      })
      assert.deepInclude(yield* at("preToolCall", bash("ls")), { _tag: "Reject", reason: "one\ntwo" })
      assert.deepEqual(heard.users, ["seen"])
    }))

  const rules: ReadonlyArray<readonly [string, Command.Finished, object, ReadonlyArray<string>]> = [
    ["0 and a text lets it run, and tells the user", answer("all is well\n"), { _tag: "Continue" }, ["all is well"]],
    ["0 and nothing lets it run", answer(), { _tag: "Continue" }, []],
    ["1 and a text is a warning", answer("", 1, "oops"), { _tag: "Continue" }, ["Warning: oops"]],
    ["2 denies with standard error", answer("", 2, "not on main\n"), { _tag: "Reject", reason: "not on main" }, []],
    ["2 denies with standard error, not what was printed", answer("checking", 2, "no"), {
      _tag: "Reject",
      reason: "no"
    }, []],
    ["2 denies with standard output, where that is all", answer("no", 2), { _tag: "Reject", reason: "no" }, []],
    ["2 denies without a word", answer("", 2), { _tag: "Reject", reason: "No reason provided" }, []],
    ["2 denies whatever its JSON says", answer({ decision: "allow" }, 2, "no"), { _tag: "Reject", reason: "no" }, []],
    ["3 and a text denies", answer("", 3, "broken"), { _tag: "Reject", reason: "broken" }, []],
    ["127 denies", answer("", 127, "bash: x: command not found"), {
      _tag: "Reject",
      reason: "bash: x: command not found"
    }, []],
    ["3 and nothing is a warning", answer("", 3), { _tag: "Continue" }, []],
    [
      "JSON on standard error counts where standard output is empty",
      answer("", 0, "{\"decision\":\"deny\",\"reason\":\"no\"}"),
      {
        _tag: "Reject",
        reason: "no"
      },
      []
    ],
    ["a text of JSON is read as what it holds", answer(JSON.stringify("{\"decision\":\"deny\",\"reason\":\"no\"}")), {
      _tag: "Reject",
      reason: "no"
    }, []],
    ["JSON decides at 1", answer({ decision: "deny", reason: "no" }, 1), { _tag: "Reject", reason: "no" }, []],
    ["a list is no answer", answer("[1]"), { _tag: "Continue" }, ["[1]"]],
    [
      "a denial whose reason is only in the message for the user",
      answer({ decision: "deny", systemMessage: "no secrets" }),
      { _tag: "Reject", reason: "no secrets" },
      ["no secrets"]
    ],
    ["a denial without a reason", answer({ decision: "deny" }), { _tag: "Reject", reason: "No reason provided" }, []],
    ["continue false ends the turn", answer({ continue: false, stopReason: "enough", decision: "deny" }), {
      _tag: "Abort",
      reason: "enough"
    }, []],
    ["ask asks", answer({ decision: "ask", reason: "sure?" }), { _tag: "Ask", reason: "sure?" }, []],
    [
      "suppressOutput keeps its message",
      answer({ systemMessage: "x", suppressOutput: true }),
      { _tag: "Continue" },
      []
    ],
    ["a timeout lets it run", { ...answer("", 0), exitCode: undefined, timedOut: true }, { _tag: "Continue" }, []],
    ["too much output with a denial denies", { ...answer("x", 2, "no"), overflowed: true }, {
      _tag: "Reject",
      reason: "no"
    }, []],
    [
      "too much output lets it run",
      { ...answer("", 0), exitCode: undefined, overflowed: true },
      { _tag: "Continue" },
      []
    ],
    ["a kill lets it run", { ...answer("x", 0), exitCode: undefined }, { _tag: "Continue" }, []],
    [
      "fields of wrong types do not count",
      answer({ decision: 1, reason: {}, continue: "no", hookSpecificOutput: 7, systemMessage: [] }),
      {
        _tag: "Continue"
      },
      []
    ],
    [
      "a prototype in the answer changes nothing",
      answer(
        "{\"__proto__\":{\"decision\":\"deny\"},\"hookSpecificOutput\":{\"tool_input\":{\"__proto__\":{\"x\":1}}}}"
      ),
      {
        _tag: "Transform"
      },
      []
    ]
  ]
  for (const [title, finished, action, users] of rules) {
    // rows: U-17
    it.effect(`reads an exit: ${title}`, () =>
      Effect.gen(function*() {
        const { at, heard } = world({ BeforeTool: [group(["x"])] }, { x: finished })
        assert.deepInclude(yield* at("preToolCall", bash("ls")), action)
        assert.deepEqual(heard.users, users)
      }))
  }

  // rows: U-08, C-32
  it.effect("warns of what broke, and of fields that do not count", () =>
    Effect.gen(function*() {
      const { at, scope } = world({ BeforeTool: [group(["a", "b", "c"])] }, {
        a: answer("", 1, "Traceback\nmore"),
        b: answer({ decision: "maybe" })
      }, { refuse: ({ work }) => work.command === "c" ? "it changed" : undefined })
      assert.deepInclude(yield* at("preToolCall", bash("ls")), { _tag: "Ask", reason: "it changed" })
      assert.deepEqual(scope.warnings, [
        "hooks.BeforeTool[0].hooks[0] (a) ended with 1: Traceback",
        "hooks.BeforeTool[0].hooks[1] (b): decision does not count: expected allow or approve or deny or block or ask",
        "hooks.BeforeTool[0].hooks[2] (c) was not run: it changed"
      ])
    }))

  it.effect("runs no hook that is switched off", () =>
    Effect.gen(function*() {
      const { at, told } = world({ BeforeTool: [group(["a", "b"])] }, {}, { disabled: ["a"] })
      yield* at("preToolCall", bash("ls"))
      assert.deepEqual(told.map(({ what }) => what), ["b"])
    }))

  it.effect("tells AfterTool the result, hides it behind a reason, or puts context behind it", () =>
    Effect.gen(function*() {
      const of = (finished: Command.Finished) => world({ AfterTool: [group(["x"])] }, { x: finished })
      const seen = of(answer("", 2, "hidden: a key"))
      const { event } = yield* seen.at("postToolCall", result("bash", { command: "env" }, "KEY=1"))
      assert.deepEqual(event["result"], { ok: false, error: "hidden: a key" })
      assert.deepEqual(seen.told[0]!.input["tool_response"], { llmContent: "KEY=1", returnDisplay: "KEY=1" })
      const more = of(specific({ additionalContext: "lint: ok" }))
      assert.deepEqual((yield* more.at("postToolCall", result("bash", {}, "done"))).event["result"], {
        ok: true,
        output: "done\n\nlint: ok"
      })
      yield* more.at("postToolCall", result("bash", {}, { rows: 1 }))
      assert.deepEqual(more.heard.injected, ["lint: ok"])
      const failed = of(answer())
      yield* failed.at("postToolCall", { ...result("bash", {}, ""), result: { ok: false, error: "exit 1" } })
      assert.deepEqual(failed.told[0]!.input["tool_response"], {
        llmContent: "exit 1",
        returnDisplay: "exit 1",
        error: { message: "exit 1" }
      })
      yield* failed.at("postToolCall", { ...result("bash", {}, ""), executed: false })
      assert.lengthOf(failed.told, 1)
      const stop = of(answer({ continue: false, stopReason: "enough" }))
      assert.deepInclude(yield* stop.at("postToolCall", result("bash", {}, "x")), { _tag: "Abort", reason: "enough" })
    }))

  it.effect("begins a session with context whatever SessionStart decides, and tells its end, notifications and compressions", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        SessionStart: [group(["start"], { matcher: "startup" }), group(["again"], { matcher: "clear" })],
        SessionEnd: [group(["end"])],
        Notification: [group(["note"], { matcher: "ToolPermission" })],
        PreCompress: [group(["compress"], { matcher: "auto" })]
      }, {
        start: specific({ additionalContext: "use tabs" }, { continue: false, decision: "deny", reason: "x" }),
        note: answer({ systemMessage: "look", decision: "deny", reason: "x" }),
        compress: answer({ decision: "deny", reason: "x" })
      })
      const begun = yield* at("onSessionStart", { sessionId: "session-1", source: "startup", context: [] })
      assert.deepEqual(begun.event["context"], [{ role: "user", content: "use tabs", source: "gemini-hooks" }])
      yield* at("onSessionStart", { sessionId: "session-1", source: "rotate", context: [] })
      assert.strictEqual(
        (yield* at("onSignal", {
          name: "notification",
          payload: { notification_type: "ToolPermission", message: "m" },
          blockable: true
        }))
          ._tag,
        "Continue"
      )
      const hint = { messages: [], budget: { usedTokens: 1, windowTokens: 2 }, hint: {} }
      assert.strictEqual((yield* at("preCompaction", { ...hint, trigger: "threshold" }))._tag, "Continue")
      yield* at("preCompaction", { ...hint, trigger: "manual" })
      for (const reason of ["done", "error", "rotate"] as const) {
        yield* at("onSessionEnd", { sessionId: "session-1", reason })
      }
      const field = (input: { readonly [key: string]: Json }) =>
        input["source"] ?? input["reason"] ?? input["trigger"] ?? input["message"]
      assert.deepEqual(told.map(({ input, what }) => [what, field(input)]), [
        ["start", "startup"],
        ["again", "clear"],
        ["note", "m"],
        ["compress", "auto"],
        ["end", "exit"],
        ["end", "other"],
        ["end", "clear"]
      ])
      assert.deepEqual(heard.users, ["look"])
    }))

  // rows: U-13
  it.effect("blocks a prompt, ends the turn, or adds context to it", () =>
    Effect.gen(function*() {
      const of = (finished: Command.Finished) => world({ BeforeAgent: [group(["x"])] }, { x: finished })
      assert.deepInclude(yield* of(answer("", 2, "no secrets")).at("preTurn", { message: "m" }), {
        _tag: "Reject",
        userMessage: "no secrets"
      })
      assert.deepInclude(yield* of(answer({ continue: false, reason: "later" })).at("preTurn", { message: "m" }), {
        _tag: "Abort",
        reason: "later"
      })
      const passed = of(specific({ additionalContext: "branch: main" }))
      assert.strictEqual((yield* passed.at("preTurn", { message: "m" }))._tag, "Continue")
      assert.deepEqual(passed.heard.injected, ["branch: main"])
    }))

  // rows: U-22
  it.effect("asks AfterAgent once about an answer, keeps the agent going, and forgets what was said but for what is pinned", () =>
    Effect.gen(function*() {
      const usage = { inputTokens: 1, outputTokens: 1 }
      const of = (finished: Command.Finished) => world({ AfterAgent: [group(["x"])] }, { x: finished })
      const messages = [
        { role: "user" as const, content: "rules", pinned: true },
        { role: "user" as const, content: "go" },
        { role: "assistant" as const, content: "done" }
      ]
      const again = of(specific({ clearContext: true }, { decision: "deny", reason: "more" }))
      yield* again.at("preTurn", { message: "go" })
      assert.deepEqual(
        (yield* again.at("postStep", { ...standing, messages, usage })).event["messages"],
        [messages[0]] as never
      )
      yield* again.at("preStop", { ...standing, text: "done", followUps: 0 })
      assert.deepEqual([again.told.length, again.heard.follow], [1, ["more"]])
      yield* again.at("postStep", { ...standing, messages, usage })
      const told = again.told.map(({ input }) => [input["prompt"], input["prompt_response"], input["stop_hook_active"]])
      assert.deepEqual(told, [["go", "done", false], ["go", "done", true]])
      const calls = [{ id: "1", name: "bash", args: {} }]
      yield* again.at("postStep", {
        ...standing,
        messages: [{ role: "assistant", content: "", toolCalls: calls }],
        usage
      })
      assert.lengthOf(again.told, 2)
      const kept = of(specific({ clearContext: true }))
      assert.strictEqual((yield* kept.at("postStep", { ...standing, messages, usage }))._tag, "Transform")
      yield* kept.at("preStop", { ...standing, text: "done", followUps: 0 })
      assert.deepEqual(kept.heard.follow, [])
      const alone = of(answer("", 2, "more"))
      yield* alone.at("preStop", { ...standing, text: "done", followUps: 0 })
      assert.deepEqual(alone.heard.follow, ["more"])
      const stop = of(answer({ continue: false, stopReason: "enough" }))
      assert.deepInclude(yield* stop.at("postStep", { ...standing, messages, usage }), {
        _tag: "Abort",
        reason: "enough"
      })
    }))
})
