import * as Discovery from "@belay/hook-files/Discovery"
import * as Windsurf from "@belay/hook-files/Windsurf"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { call } from "../../../../../test/support/events.ts"
import { folder, write } from "../../support/processes.ts"
import { answered } from "../../support/runners.ts"
import { answer } from "../claude/support.ts"

const world = (
  hooks: { readonly [event: string]: ReadonlyArray<object> },
  answers: Parameters<typeof answered>[1] = {},
  options: Partial<Windsurf.Options> = {}
) => {
  const { handlers, warnings } = Windsurf.decode(JSON.stringify({ hooks }), "hooks.json")
  assert.deepEqual(warnings, [])
  return answered((runners) => Windsurf.make({ handlers, projectDir: "/p", runners, ...options }), answers)
}
const x = [{ command: "x" }]
const all = (...events: ReadonlyArray<string>) =>
  Object.fromEntries(events.map((event) => [event, [{ command: event }]]))
const result = (name: string, args: object, output: unknown) => ({
  call: call(name, args as never),
  tool: call(name).tool,
  result: { ok: true as const, output: output as never },
  executed: true,
  elapsedMs: 7
})

describe("hooks.json of Windsurf", () => {
  it("is read as far as it is right, with a warning for each mistake", () => {
    const { handlers, warnings } = Windsurf.decode(
      JSON.stringify({
        hooks: {
          pre_run_comand: [],
          pre_read_code: {},
          pre_run_command: [7, {}, { command: "" }, { command: "ok", show_output: "yes", working_directory: "a" }]
        }
      }),
      "h"
    )
    assert.deepEqual(handlers.map(({ cwd, showsOutput, work }) => [work.command, cwd, showsOutput]), [[
      "ok",
      "a",
      false
    ]])
    assert.deepEqual(warnings.map(({ key, reason }) => `${key}: ${reason}`), [
      "hooks.pre_run_comand: unknown event; did you mean pre_run_command?",
      "hooks.pre_read_code: expected a list of hooks",
      "hooks.pre_run_command[0]: expected an object with a command",
      "hooks.pre_run_command[1]: has no command, so it never runs here",
      "hooks.pre_run_command[2].command: expected a text",
      "hooks.pre_run_command[3].show_output: expected true or false"
    ])
  })

  it("exists for the machine, the user and the project, and runs in this order", () => {
    const root = folder()
    const [cwd, home, managed] = [join(root, "p"), join(root, "home"), join(root, "managed")]
    const text = JSON.stringify({ hooks: { pre_read_code: x } })
    for (
      const path of [
        join(managed, "windsurf/hooks.json"),
        join(home, ".codeium/windsurf/hooks.json"),
        join(home, ".codeium/hooks.json"),
        join(cwd, ".windsurf/hooks.json")
      ]
    ) write(path, text)
    const { sources } = Discovery.find({ cwd, home, managed, sources: ["windsurf"] })
    assert.deepEqual(sources.map(({ scope }) => scope), ["managed", "user", "user", "project"])
  })
})

describe("Windsurf and tools", () => {
  it.effect("tells each kind of tool as its own action", () =>
    Effect.gen(function*() {
      const { at, told } = world(all("pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use"))
      yield* at("preToolCall", call("run_command", { cmd: "ls" }))
      yield* at("preToolCall", call("read_file", { path: "a.ts" }))
      yield* at("preToolCall", call("edit", { path: "/a", old_string: "x", new_string: "y" }))
      yield* at("preToolCall", call("mcp__github__create_issue", { title: "t" }))
      yield* at("preToolCall", call("glob", { pattern: "*" }))
      const { timestamp, ...first } = told[0]!.input
      assert.match(JSON.stringify(timestamp), /^"\d{4}-.*Z"$/)
      assert.deepEqual(first, {
        agent_action_name: "pre_run_command",
        trajectory_id: "session-1",
        execution_id: "session-1-3",
        model_name: "",
        tool_info: { command_line: "ls", cwd: "/p" }
      })
      assert.deepEqual(told.slice(1).map(({ input }) => input["tool_info"]), [
        { file_path: "/p/a.ts" },
        { file_path: "/a", edits: [{ old_string: "x", new_string: "y" }] },
        { mcp_server_name: "github", mcp_tool_name: "create_issue", mcp_tool_arguments: { title: "t" } }
      ])
      assert.deepEqual([told[0]!.task.cwd, told[0]!.task.timeoutMs], ["/p", 60_000])
    }))

  it.effect("blocks only with exit code 2, and says so if an entry answers with JSON", () =>
    Effect.gen(function*() {
      const outcome = (said: ReturnType<typeof answer>, options: Partial<Windsurf.Options> = {}) => {
        const { at, scope } = world({ pre_run_command: x }, { x: said }, options)
        return Effect.map(
          at("preToolCall", call("bash", { command: "ls" })),
          ({ _tag, reason }) => [_tag, reason, scope.warnings.join()]
        )
      }
      assert.deepEqual(yield* outcome(answer("", 2, "no\n")), ["Reject", "no", ""])
      assert.deepEqual(yield* outcome(answer("", 2)), ["Reject", "blocked by a hook", ""])
      assert.deepEqual((yield* outcome(answer("", 1, "boom"))).slice(0, 1), ["Continue"])
      assert.match((yield* outcome(answer("", 1, "boom")))[2]!, /ended with 1: boom/)
      assert.match((yield* outcome({ ...answer(), exitCode: undefined, timedOut: true }))[2]!, /took too long/)
      assert.match((yield* outcome(answer({ permission: "deny", decision: "block" })))[2]!, /only exit code 2 blocks/)
      assert.match((yield* outcome(answer("", 1, "boom"), { onBroken: "block" }))[1]!, /a hook broke: it ended with 1/)
      assert.deepEqual((yield* outcome(answer("", 2, "no"), { refuse: () => "nobody trusts it" }))[0], "Ask")
    }))

  it.effect("has no advice of an entry that ends with 2 and says nothing", () =>
    Effect.gen(function*() {
      const { at, heard } = world({ post_write_code: [{ command: "fmt", show_output: true }] }, { fmt: answer("", 2) })
      yield* at("postToolCall", result("write_file", { path: "/a", content: "x" }, "done"))
      assert.deepEqual([heard.injected, heard.users], [[], []])
    }))

  it.effect("tells what happened, with advice for the model and output for the user", () =>
    Effect.gen(function*() {
      const { at, heard, told } = world({
        post_write_code: [{ command: "fmt", show_output: true }],
        post_mcp_tool_use: [{ command: "mcp" }],
        post_run_command: [{ command: "run" }],
        post_read_code: [{ command: "read" }]
      }, { fmt: answer("formatted", 2, "line 3 is too long") })
      yield* at("postToolCall", result("write_file", { path: "/a", content: "x" }, "done"))
      yield* at("postToolCall", result("mcp__a__b", { id: 1 }, { ok: true }))
      const failed = { ok: false as const, error: "no" }
      yield* at("postToolCall", { ...result("bash", { command: "ls" }, ""), result: failed })
      yield* at("postToolCall", { ...result("read_file", { path: "/a" }, ""), result: failed })
      assert.deepEqual(told.map(({ what }) => what), ["fmt", "mcp", "run"])
      assert.deepEqual(heard.injected, ["line 3 is too long"])
      assert.deepEqual(heard.users, ["formatted\nline 3 is too long"])
      assert.deepInclude(told[1]!.input["tool_info"], { mcp_tool_name: "b", mcp_result: "{\"ok\":true}" })
    }))

  it.effect("runs the hooks of an event in order, and all of them", () =>
    Effect.gen(function*() {
      const { at, told } = world({ pre_run_command: [{ command: "a" }, { command: "b", working_directory: "sub" }] }, {
        a: answer("", 2, "first"),
        b: answer("", 2, "second")
      })
      assert.deepInclude(yield* at("preToolCall", call("bash", { command: "ls" })), { reason: "first\nsecond" })
      assert.deepEqual(told.map(({ task }) => task.cwd), ["/p", "/p/sub"])
    }))
})

describe("Windsurf and turns", () => {
  it.effect("refuses prompts, and tells answers without waiting", () =>
    Effect.gen(function*() {
      const { at, told } = world({ pre_user_prompt: x, post_cascade_response: [{ command: "y" }] }, {
        x: answer("", 2, "no")
      })
      assert.deepInclude(yield* at("preTurn", { message: "hi" } as never), {
        _tag: "Reject",
        reason: "no",
        userMessage: "no"
      })
      assert.deepInclude(told[0]!.input, { trajectory_id: "", tool_info: { user_prompt: "hi" } })
      yield* at("postTurn", { input: { message: "hi" }, output: { text: "hello" } } as never)
      assert.deepEqual(told[1]!.input["tool_info"], { response: "### Planner Response\n\nhello" })
    }))

  it.effect("tells worktrees that the host makes", () =>
    Effect.gen(function*() {
      const { at, told } = world({ post_setup_worktree: x })
      const payload = { worktree_path: "/w", root_workspace_path: "/p" }
      yield* at("onSignal", { name: "post_setup_worktree", payload, blockable: false } as never)
      yield* at("onSignal", { name: "pre_user_prompt", payload, blockable: false } as never)
      assert.lengthOf(told, 1)
      assert.deepEqual(told[0]!.task.env, { ROOT_WORKSPACE_PATH: "/p" })
    }))
})
