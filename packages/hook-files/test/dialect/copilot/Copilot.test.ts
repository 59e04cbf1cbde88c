import * as Command from "@belay/hook-files/Command"
import * as Copilot from "@belay/hook-files/Copilot"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answer, result } from "../../support/claude.ts"
import { bash, world } from "../../support/copilot.ts"
import { call } from "../../support/events.ts"

const shell = (command: string) => call("bash", { command })

describe("Copilot and tools", () => {
  it.effect("tells preToolUse in camel case, with Copilot's names and fields", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        preToolUse: [{ bash: "x", cwd: "scripts", env: { M: "1", P: "${CLAUDE_PROJECT_DIR}/$NOPE" } }]
      })
      yield* at("preToolCall", call("write_file", { path: "src/a.ts", contents: "x" }))
      yield* at("preToolCall", call("edit_file", { file: "/a", search: "x", replacement: "y" }))
      const [{ input, task }, { input: edit }] = [told[0]!, told[1]!]
      assert.deepEqual({ ...input, timestamp: 0 }, {
        sessionId: "session-1",
        timestamp: 0,
        cwd: "/p",
        toolName: "create",
        toolArgs: JSON.stringify({ path: "/p/src/a.ts", file_text: "x" })
      })
      assert.isNumber(input["timestamp"])
      assert.deepEqual([edit["toolName"], edit["toolArgs"]], [
        "edit",
        JSON.stringify({ path: "/a", old_str: "x", new_str: "y" })
      ])
      assert.deepEqual([task.cwd, task.timeoutMs, task.env], ["/p/scripts", 30_000, {
        COPILOT_PROJECT_DIR: "/p",
        CLAUDE_PROJECT_DIR: "/p",
        M: "1",
        P: "/p/"
      }])
      assert.deepInclude(heard.events[0] as object, {
        event: "preToolUse",
        command: "x",
        outcome: "success",
        exitCode: 0
      })
    }))

  it.effect("tells PreToolUse in snake case, with Claude's names, and Copilot's fields beside Claude's", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PreToolUse: [{ bash: "x", matcher: "Write" }] })
      yield* at("preToolCall", call("write_file", { path: "/a", contents: "x" }))
      yield* at("preToolCall", shell("ls"))
      assert.lengthOf(told, 1)
      const { input } = told[0]!
      assert.deepEqual({ ...input, timestamp: "" }, {
        hook_event_name: "PreToolUse",
        session_id: "session-1",
        timestamp: "",
        cwd: "/p",
        tool_name: "Write",
        tool_use_id: "call-write_file",
        tool_input: { path: "/a", file_text: "x", file_path: "/a", content: "x" }
      })
      assert.match(input["timestamp"] as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }))

  // rows: C-55
  it.effect("knows tools by the names that scripts know, and by those that the host gives them", () =>
    Effect.gen(function*() {
      const toolNames = {
        run: "bash",
        put: { name: "create", fields: { where: "path", what: "file_text" } },
        old: "Edit"
      }
      const { at, told } = world({ preToolUse: bash("x"), PreToolUse: bash("y") }, {}, { toolNames })
      const tools = [
        "bash",
        "run",
        "old",
        "read_file",
        "create",
        "view",
        "str_replace_editor",
        "rg",
        "task",
        "powershell",
        "mcp__s__t",
        "other"
      ]
      for (const name of tools) yield* at("preToolCall", call(name))
      yield* at("preToolCall", call("put", { where: "/a", what: "x" }))
      const of = (what: string, field: string) =>
        told.filter((one) => one.what === what).map(({ input }) => input[field])
      assert.deepEqual(of("x", "toolName"), [
        "bash",
        "bash",
        "edit",
        "view",
        "create",
        "view",
        "edit",
        "grep",
        "task",
        "bash",
        "mcp__s__t",
        "other",
        "create"
      ])
      assert.deepEqual(of("y", "tool_name"), [
        "Bash",
        "Bash",
        "Edit",
        "Read",
        "Write",
        "Read",
        "Edit",
        "Grep",
        "Agent",
        "Bash",
        "mcp__s__t",
        "other",
        "Write"
      ])
      assert.deepEqual(told.at(-2)!.input["toolArgs"], JSON.stringify({ path: "/a", file_text: "x" }))
    }))

  it.effect("puts modifiedArgs in place of the arguments, in the words of either; the last of several counts", () =>
    Effect.gen(function*() {
      const changed = (event: string, ...given: ReadonlyArray<object>) =>
        world(
          { [event]: given.map((_, index) => ({ bash: `${index}` })) },
          Object.fromEntries(given.map((one, index) => [`${index}`, answer(one)]))
        )
          .at("preToolCall", call("write_file", { path: "a.ts", contents: "x" })).pipe(
            Effect.map(({ event: { args } }) => args)
          )
      assert.deepEqual(yield* changed("preToolUse", { modifiedArgs: { path: "b.ts", file_text: "y" } }), {
        path: "b.ts",
        contents: "y"
      })
      assert.deepEqual(
        yield* changed("preToolUse", { modifiedArgs: { path: "b" } }, {
          permissionDecision: "allow",
          modifiedArgs: { path: "c" }
        }),
        { path: "c" }
      )
      assert.deepEqual(yield* changed("PreToolUse", { modifiedArgs: { file_path: "/p/a.ts", content: "y" } }), {
        path: "a.ts",
        contents: "y"
      })
      const both = { path: "/p/a.ts", file_text: "x", file_path: "/p/a.ts", content: "x" }
      assert.deepEqual(yield* changed("PreToolUse", { modifiedArgs: { ...both, file_text: "y" } }), {
        path: "a.ts",
        contents: "y"
      })
      assert.deepEqual(
        yield* changed("PreToolUse", { hookSpecificOutput: { updatedInput: { ...both, file_path: "/b" } } }),
        {
          path: "/b",
          contents: "x"
        }
      )
    }))

  it.effect("shows no argument that the tool never reads in place of one that it does", () =>
    Effect.gen(function*() {
      const { at, told } = world({ preToolUse: bash("x"), PreToolUse: bash("y") })
      const event = call("write_file", { file: "/etc/passwd", path: "/p/harmless", content: "x" })
      const inputSchema = { type: "object", properties: { file: {}, content: {} } }
      yield* at("preToolCall", { ...event, tool: { ...event.tool, inputSchema } })
      assert.deepEqual(told[0]!.input["toolArgs"], JSON.stringify({ path: "/etc/passwd", file_text: "x" }))
      assert.deepInclude(told[1]!.input["tool_input"] as object, { path: "/etc/passwd", file_path: "/etc/passwd" })
    }))

  const command = { type: "command", bash: "x" }
  const http = { type: "http", url: "https://h.example/" }
  const errored = "Denied by preToolUse hook (hook errored)"
  const rules: ReadonlyArray<readonly [title: string, entry: object, finished: Command.Finished, action: object]> = [
    ["deny denies", command, answer({ permissionDecision: "deny", permissionDecisionReason: "no" }), {
      _tag: "Reject",
      reason: "no"
    }],
    ["deny without a reason denies", command, answer({ permissionDecision: "deny" }), {
      _tag: "Reject",
      reason: "Denied by preToolUse hook"
    }],
    ["ask asks", command, answer({ permissionDecision: "ask", permissionDecisionReason: "sure?" }), {
      _tag: "Ask",
      reason: "sure?"
    }],
    ["ask with new arguments is refused", command, answer({ permissionDecision: "ask", modifiedArgs: {} }), {
      _tag: "Reject"
    }],
    ["allow lets it run", command, answer({ permissionDecision: "allow" }), { _tag: "Continue" }],
    ["nothing lets it run", command, answer(""), { _tag: "Continue" }],
    ["what is no JSON lets it run", command, answer("deny!"), { _tag: "Continue" }],
    [
      "two objects are no JSON",
      command,
      answer("{\"permissionDecision\":\"deny\"}\n{\"permissionDecision\":\"deny\"}"),
      {
        _tag: "Continue"
      }
    ],
    ["an object over several lines is one", command, answer("{\n\"permissionDecision\":\n\"deny\"\n}\n"), {
      _tag: "Reject"
    }],
    ["a decision that is none does not count", command, answer({ permissionDecision: "maybe", modifiedArgs: 7 }), {
      _tag: "Continue"
    }],
    ["2 denies with standard error", command, answer("", 2, "not on main\n"), {
      _tag: "Reject",
      reason: "not on main"
    }],
    [
      "2 denies whatever its JSON decides",
      command,
      answer({ permissionDecision: "allow", permissionDecisionReason: "why" }, 2),
      {
        _tag: "Reject",
        reason: "why"
      }
    ],
    ["1 denies", command, answer("", 1, "Traceback"), { _tag: "Reject", reason: `${errored}: Traceback` }],
    ["1 denies whatever its JSON decides", command, answer({ permissionDecision: "allow" }, 1), {
      _tag: "Reject",
      reason: errored
    }],
    ["127 denies", command, answer("", 127), { _tag: "Reject", reason: errored }],
    ["a crash denies", command, { ...answer(""), exitCode: undefined }, { _tag: "Reject", reason: errored }],
    ["too much output denies", command, { ...answer(""), exitCode: undefined, overflowed: true }, {
      _tag: "Reject",
      reason: errored
    }],
    ["a timeout lets it run", command, {
      ...answer({ permissionDecision: "deny" }),
      exitCode: undefined,
      timedOut: true
    }, {
      _tag: "Continue"
    }],
    ["http denies by its answer", http, answer({ permissionDecision: "deny", permissionDecisionReason: "no" }), {
      _tag: "Reject",
      reason: "no"
    }],
    ["http that fails lets it run", http, answer("", 1, "status 500"), { _tag: "Continue" }],
    ["http that answers 2 lets it run", http, answer({ permissionDecision: "deny" }, 2), { _tag: "Continue" }],
    ["http that takes too long lets it run", http, { ...answer(""), exitCode: undefined, timedOut: true }, {
      _tag: "Continue"
    }]
  ]
  for (const [title, entry, finished, action] of rules) {
    // rows: U-08, U-17
    it.effect(`reads preToolUse: ${title}`, () =>
      Effect.gen(function*() {
        const { at } = world({ preToolUse: [entry] }, { x: finished, "https://h.example/": finished })
        assert.deepInclude(yield* at("preToolCall", shell("ls")), action)
      }))
  }

  it.effect("takes the answers of other tools under a name in Pascal case", () =>
    Effect.gen(function*() {
      const of = (said: object) => world({ PreToolUse: bash("x") }, { x: answer(said) }).at("preToolCall", shell("ls"))
      const hookSpecificOutput = {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "no"
      }
      assert.deepInclude(yield* of({ hookSpecificOutput }), { _tag: "Reject", reason: "no" })
      assert.deepInclude(yield* of({ decision: "block", reason: "old" }), { _tag: "Reject", reason: "old" })
      assert.deepInclude(yield* of({ continue: false, stopReason: "enough" }), { _tag: "Abort", reason: "enough" })
      const lint = world({ PostToolUse: bash("x") }, { x: answer({ decision: "block", reason: "3 errors" }) })
      assert.deepEqual((yield* lint.at("postToolCall", result("bash", {}, "done"))).event["result"], {
        ok: true,
        output: "done\n\n3 errors"
      })
      assert.deepInclude(lint.heard.events[0] as object, { event: "PostToolUse", outcome: "success" })
    }))

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
