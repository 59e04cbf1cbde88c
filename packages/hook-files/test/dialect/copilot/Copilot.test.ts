import * as Command from "@belay/hook-files/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../../../test/support/events.ts"
import { answer, result } from "../claude/support.ts"
import { bash, world } from "./support.ts"

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
        // As the model wrote it.
        toolArgs: JSON.stringify({ path: "src/a.ts", file_text: "x" })
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
      assert.deepEqual(yield* changed("PreToolUse", { modifiedArgs: { file_path: "a.ts", content: "y" } }), {
        path: "a.ts",
        contents: "y"
      })
      const both = { path: "a.ts", file_text: "x", file_path: "a.ts", content: "x" }
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
    [
      "deny with only a message for the user denies with it",
      command,
      answer({ permissionDecision: "deny", systemMessage: "no secrets" }),
      { _tag: "Reject", reason: "no secrets" }
    ],
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
})
