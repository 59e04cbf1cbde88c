import * as Cursor from "@belay/hook-files/Cursor"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { answer as modelAnswer, call, standing } from "../../../../../test/support/events.ts"
import { folder, write } from "../../support/processes.ts"
import { answer } from "../claude/support.ts"
import { commands, world } from "./support.ts"

const shell = (command: string) => call("bash", { command })
const result = (name: string, args: object, output: unknown) => ({
  call: call(name, args as never),
  tool: call(name).tool,
  result: { ok: true as const, output: output as never },
  executed: true,
  elapsedMs: 7
})

describe("Cursor and tools", () => {
  it.effect("tells preToolUse and the event of the tool, with Cursor's names and the fields of every event", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        preToolUse: commands("pre"),
        beforeShellExecution: commands("shell"),
        beforeMCPExecution: commands("mcp"),
        beforeReadFile: commands("read")
      })
      yield* at("preToolCall", shell("ls"))
      yield* at("preToolCall", call("mcp__tracker__close", { id: 7 }))
      yield* at("preToolCall", call("edit_file", { path: "src/a.ts", search: "x", replacement: "y" }))
      const { tool_input, ...first } = told[0]!.input
      assert.deepEqual(first, {
        conversation_id: "session-1",
        session_id: "session-1",
        generation_id: "session-1-3",
        model: "",
        model_id: "",
        hook_event_name: "preToolUse",
        cursor_version: "3.9.0",
        workspace_roots: ["/p"],
        user_email: null,
        transcript_path: null,
        tool_name: "Shell",
        tool_use_id: "call-bash",
        cwd: "/p"
      })
      assert.deepEqual(tool_input, { command: "ls" })
      assert.deepInclude(told[1]!.input, {
        hook_event_name: "beforeShellExecution",
        command: "ls",
        cwd: "/p",
        sandbox: false
      })
      assert.deepInclude(told[2]!.input, { tool_name: "MCP:close", tool_input: { id: 7 } })
      assert.deepInclude(told[3]!.input, { tool_name: "close", tool_input: "{\"id\":7}" })
      assert.deepInclude(told[4]!.input, {
        tool_name: "Write",
        tool_input: { file_path: "/p/src/a.ts", old_string: "x", new_string: "y" }
      })
      assert.lengthOf(told, 5)
      assert.deepEqual(told[0]!.task.env, {
        CURSOR_PROJECT_DIR: "/p",
        CURSOR_VERSION: "3.9.0",
        CLAUDE_PROJECT_DIR: "/p"
      })
      assert.deepEqual([told[0]!.task.cwd, told[0]!.task.timeoutMs], ["/p", 60_000])
    }))

  it.effect("tells beforeReadFile what is in the file, and nothing of a file that is not there", () =>
    Effect.gen(function*() {
      const path = write(join(folder(), "a.env"), "TOKEN=1")
      const { at, told } = world({ beforeReadFile: commands("read") })
      yield* at("preToolCall", call("read_file", { path }))
      yield* at("preToolCall", call("read_file", { path: "gone.txt" }))
      assert.deepInclude(told[0]!.input, { file_path: path, content: "TOKEN=1", attachments: [] })
      assert.deepInclude(told[1]!.input, { file_path: "/p/gone.txt", content: "" })
    }))

  const denials: ReadonlyArray<readonly [what: string, said: ReturnType<typeof answer>, reason: string]> = [
    ["the message for the agent", answer({ permission: "deny", user_message: "u", agent_message: "a" }), "a"],
    ["the message for the user without another", answer({ permission: "deny", user_message: "u" }), "u"],
    ["the old spelling", answer({ permission: "deny", userMessage: "u", agentMessage: "a" }), "a"],
    ["no message", answer({ permission: "deny" }), "blocked by a hook"],
    ["exit code 2 with standard error", answer("", 2, "no\n"), "no"],
    ["exit code 2 with a text", answer("not this", 2), "not this"],
    ["exit code 2 with JSON", answer({ permission: "allow", agent_message: "a" }, 2, "no"), "a"]
  ]
  it.effect.each(denials)("refuses a call with %s", ([, said, reason]) =>
    Effect.gen(function*() {
      for (const event of ["preToolUse", "beforeShellExecution"]) {
        const { at } = world({ [event]: commands("x") }, { x: said })
        assert.deepInclude(yield* at("preToolCall", shell("ls")), { _tag: "Reject", reason })
      }
    }))

  it.effect("shows the user what is for the user", () =>
    Effect.gen(function*() {
      const said = answer({ permission: "deny", user_message: "for you", agent_message: "for it" })
      const { at, heard } = world({ beforeShellExecution: commands("x") }, { x: said })
      yield* at("preToolCall", shell("ls"))
      assert.deepEqual(heard.users, ["for you"])
    }))

  it.effect("asks a person at shell commands and MCP tools, and nowhere else", () =>
    Effect.gen(function*() {
      const ask = answer({ permission: "ask", user_message: "sure?" })
      const outcome = (event: string, of: ReturnType<typeof call>) => {
        const { at, scope } = world({ [event]: commands("x") }, { x: ask })
        return Effect.map(at("preToolCall", of), ({ _tag, reason }) => [_tag, reason, ...scope.warnings])
      }
      assert.deepEqual(yield* outcome("beforeShellExecution", shell("ls")), ["Ask", "sure?"])
      assert.deepEqual(yield* outcome("beforeMCPExecution", call("mcp__a__b", {})), ["Ask", "sure?"])
      for (
        const [event, of] of [["preToolUse", shell("ls")], [
          "beforeReadFile",
          call("read_file", { path: "x" })
        ]] as const
      ) {
        const [tag, , warning] = yield* outcome(event, of)
        assert.strictEqual(tag, "Continue")
        assert.match(warning!, new RegExp(`permission "ask" does not count at ${event}`))
      }
    }))

  it.effect("changes only the named fields of an input, under the tool's own names, and checks what they became", () =>
    Effect.gen(function*() {
      const { at, told } = world(
        { preToolUse: commands("x"), beforeShellExecution: commands("y") },
        { x: answer({ permission: "allow", updated_input: { command: "npm ci" } }) }
      )
      const { event } = yield* at("preToolCall", call("run_command", { cmd: "npm i", timeout: 5 }))
      assert.deepEqual(event["args"], { cmd: "npm ci", timeout: 5 })
      assert.strictEqual(told[1]!.input["command"], "npm ci")
    }))

  it.effect("reads the nested answer of Claude Code at preToolUse", () =>
    Effect.gen(function*() {
      const nested = (fields: object) => answer({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } })
      const of = (fields: object) =>
        world({ preToolUse: commands("x") }, { x: nested(fields) }).at("preToolCall", shell("ls"))
      assert.deepInclude(yield* of({ permissionDecision: "deny", permissionDecisionReason: "no" }), { reason: "no" })
      assert.deepEqual((yield* of({ updatedInput: { command: "pwd" } })).event["args"], { command: "pwd" })
    }))

  it.effect("fails open, and closed with failClosed where something can be blocked", () =>
    Effect.gen(function*() {
      const late = { ...answer(), exitCode: undefined, timedOut: true }
      const broken: ReadonlyArray<readonly [RegExp, ReturnType<typeof answer>]> = [
        [/ended with 1: boom/, answer("", 1, "boom")],
        [/took too long/, late],
        [/was killed/, { ...answer(), exitCode: undefined }],
        [/not JSON/, answer("checking...")]
      ]
      for (const [problem, said] of broken) {
        for (const failClosed of [false, true]) {
          const { at, scope } = world({ beforeShellExecution: [{ command: "x", failClosed }] }, { x: said })
          const { _tag, reason } = yield* at("preToolCall", shell("ls"))
          assert.match(scope.warnings.join(), problem)
          assert.strictEqual(_tag, failClosed ? "Reject" : "Continue")
          if (failClosed) assert.match(reason!, problem)
        }
      }
    }))

  it.effect("selects by the command, the tool or the kind of sub-agent", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        preToolUse: [{ command: "shell", matcher: "Shell|Read" }, { command: "mcp", matcher: "^MCP:close$" }],
        beforeShellExecution: [{ command: "net", matcher: "curl|wget|nc " }, { command: "all", matcher: "*" }],
        afterFileEdit: [{ command: "edit", matcher: "Write" }, { command: "tab", matcher: "TabWrite" }]
      })
      yield* at("preToolCall", shell("sync && curl x"))
      yield* at("preToolCall", shell("ls"))
      yield* at("preToolCall", call("mcp__tracker__close", {}))
      yield* at("postToolCall", result("write_file", { path: "/a", content: "x" }, "done"))
      assert.deepEqual(told.map(({ what }) => what), ["shell", "net", "all", "shell", "all", "mcp", "edit"])
    }))
})

describe("Cursor and results", () => {
  it.effect("tells what a tool gave: to its own event, then to postToolUse", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        postToolUse: commands("post"),
        afterShellExecution: commands("shell"),
        afterMCPExecution: commands("mcp"),
        afterFileEdit: commands("edit")
      })
      yield* at("postToolCall", result("bash", { command: "ls" }, "a\nb"))
      yield* at("postToolCall", result("mcp__tracker__close", { id: 7 }, { ok: true }))
      yield* at("postToolCall", result("edit", { path: "/a", old_string: "x", new_string: "y" }, "done"))
      yield* at("postToolCall", result("write_file", { path: "/a", content: "z" }, "done"))
      assert.deepInclude(told[0]!.input, { command: "ls", output: "a\nb", duration: 7, sandbox: false })
      assert.deepInclude(told[1]!.input, {
        tool_name: "Shell",
        tool_output: "{\"exitCode\":0,\"stdout\":\"a\\nb\"}",
        duration: 7
      })
      assert.deepInclude(told[2]!.input, { tool_name: "close", tool_input: "{\"id\":7}", result_json: "{\"ok\":true}" })
      assert.deepInclude(told[4]!.input, { file_path: "/a", edits: [{ old_string: "x", new_string: "y" }] })
      assert.deepInclude(told[6]!.input, { file_path: "/a", edits: [{ old_string: "", new_string: "z" }] })
    }))

  it.effect("tells what a shell printed, whatever the tool calls it", () =>
    Effect.gen(function*() {
      const { at, told } = world({ afterShellExecution: commands("shell") })
      for (const output of [{ output: "b", stdout: "a" }, { output: "b", stdout: 1 }, { exitCode: 0 }]) {
        yield* at("postToolCall", result("bash", { command: "ls" }, output))
      }
      assert.deepEqual(told.map(({ input }) => input["output"]), ["a", "b", "{\"exitCode\":0}"])
    }))

  it.effect("adds context, and replaces the output of MCP tools only", () =>
    Effect.gen(function*() {
      const said = answer({ additional_context: "look", updated_mcp_tool_output: { clean: true } })
      const { at, heard, scope } = world({ postToolUse: commands("x") }, { x: said })
      assert.strictEqual((yield* at("postToolCall", result("bash", { command: "ls" }, "a")))._tag, "Continue")
      assert.match(scope.warnings.join(), /does not belong to an MCP server/)
      const { event } = yield* at("postToolCall", result("mcp__a__b", {}, { raw: 1 }))
      assert.deepEqual(event["result"], { ok: true, output: { clean: true } })
      assert.deepEqual(heard.injected, ["look", "look"])
    }))

  it.effect("tells failures and denials", () =>
    Effect.gen(function*() {
      const { at, told } = world({ postToolUseFailure: commands("x") })
      const failed = (error: string) => ({
        ...result("bash", { command: "ls" }, ""),
        result: { ok: false as const, error }
      })
      yield* at("postToolCall", failed("boom"))
      yield* at("postToolCall", failed("Command timed out after 30s"))
      yield* at("onToolDenied", { call: shell("ls"), reason: "no", by: "hook" } as never)
      assert.deepEqual(told.map(({ input: { error_message, failure_type } }) => [error_message, failure_type]), [
        ["boom", "error"],
        ["Command timed out after 30s", "timeout"],
        ["no", "permission_denied"]
      ])
    }))
})

describe("Cursor and turns", () => {
  it.effect("refuses a prompt with continue false or exit code 2, and the user reads why", () =>
    Effect.gen(function*() {
      for (const said of [answer({ continue: false, user_message: "no" }), answer("", 2, "no")]) {
        const { at, told } = world({ beforeSubmitPrompt: [{ command: "x", matcher: "UserPromptSubmit" }] }, { x: said })
        assert.deepInclude(yield* at("preTurn", { message: "hi", history: [] } as never), {
          _tag: "Reject",
          reason: "no",
          userMessage: "no"
        })
        assert.deepInclude(told[0]!.input, { prompt: "hi", attachments: [] })
      }
    }))

  it.effect("starts a session with context and variables for later entries, without variables that load code", () =>
    Effect.gen(function*() {
      const env = { TEAM: "a", LD_PRELOAD: "/x.so", "bad name": "x", COUNT: 3 }
      const { at, told } = world(
        { sessionStart: commands("start"), beforeShellExecution: commands("x") },
        { start: answer({ env, additional_context: "be kind", continue: false }) }
      )
      const { event } = yield* at("onSessionStart", { source: "startup", context: [] } as never)
      assert.deepEqual(event["context"], [{ role: "user", content: "be kind", source: "cursor-hooks" }])
      assert.deepInclude(told[0]!.input, {
        session_id: "session-1",
        is_background_agent: false,
        composer_mode: "agent"
      })
      yield* at("preToolCall", shell("ls"))
      assert.strictEqual(told[1]!.task.env!["TEAM"], "a")
      assert.notProperty(told[1]!.task.env, "LD_PRELOAD")
      yield* at("onSessionStart", { source: "resume", context: [] } as never)
      assert.lengthOf(told, 2)
    }))

  it.effect("lets the agent continue at most loop_limit times in a row, each entry for itself", () =>
    Effect.gen(function*() {
      const more = (text: string) => answer({ followup_message: text })
      const { at, heard, scope, told } = world(
        { stop: [{ command: "a", loop_limit: 1 }, { command: "b", loop_limit: null }] },
        { a: more("from a"), b: more("from b") }
      )
      for (const followUps of [0, 1, 9]) yield* at("preStop", { ...standing, text: "done", followUps })
      assert.deepEqual(heard.follow, ["from a", "from b", "from b"])
      assert.deepInclude(told[2]!.input, { status: "completed", loop_count: 1 })
      assert.match(scope.warnings[0]!, /continue 1 times in a row, so it stops now/)
    }))

  it.effect("reads a block with a reason as a follow-up, and ignores an empty one", () =>
    Effect.gen(function*() {
      for (
        const [said, follow] of [
          [{ decision: "block", reason: "go on" }, ["go on"]],
          [{ hookSpecificOutput: { decision: "block", reason: "go on" } }, ["go on"]],
          [{ decision: "approve", reason: "x" }, []],
          [{ followup_message: " " }, []]
        ] as const
      ) {
        const { at, heard } = world({ stop: commands("x") }, { x: answer(said) })
        yield* at("preStop", { ...standing, text: "done", followUps: 0 })
        assert.deepEqual(heard.follow, [...follow])
      }
    }))

  it.effect("tells answers, thoughts and the model that answered", () =>
    Effect.gen(function*() {
      const { at, told } = world({
        afterAgentResponse: commands("a"),
        afterAgentThought: commands("t"),
        stop: commands("s")
      })
      yield* at("postLlmCall", modelAnswer({ text: "hi", reasoning: "hm", model: "m" }))
      yield* at("postLlmCall", modelAnswer({ text: "" }))
      yield* at("preStop", { ...standing, text: "hi", followUps: 0 })
      assert.deepEqual(told.map(({ input, what }) => [what, input["text"]]), [["t", "hm"], ["a", "hi"], [
        "s",
        undefined
      ]])
      assert.strictEqual(told[0]!.input["model"], "m")
    }))

  it.effect("tells events of the editor when the host fires them, and nothing else", () =>
    Effect.gen(function*() {
      const { at, told } = world({ beforeTabFileRead: commands("x"), workspaceOpen: commands("y") }, {
        x: answer({ permission: "deny" })
      })
      const signal = (name: string, blockable: boolean) =>
        at("onSignal", { name, payload: { file_path: "/a" }, blockable } as never)
      assert.strictEqual((yield* signal("beforeTabFileRead", true))._tag, "Reject")
      assert.strictEqual((yield* signal("beforeTabFileRead", false))._tag, "Continue")
      yield* signal("stop", true)
      assert.deepEqual(told.map(({ input }) => input["file_path"]), ["/a", "/a"])
    }))

  it.effect("tells the user what an entry says before a compaction", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({ preCompact: commands("x") }, { x: answer({ user_message: "compacting" }) })
      yield* at("preCompaction", {
        messages: [{ role: "user", content: "a" }],
        budget: { usedTokens: 80, windowTokens: 100 },
        trigger: "threshold",
        hint: {}
      })
      assert.deepEqual(heard.users, ["compacting"])
      assert.deepInclude(told[0]!.input, {
        trigger: "auto",
        context_usage_percent: 80,
        message_count: 1,
        is_first_compaction: true
      })
    }))

  it("names a misspelt option", () => {
    assert.throws(() => Cursor.make({ handlers: [], projectDir: "/p", onBroke: "block" } as never), /onBroke/)
  })
})
