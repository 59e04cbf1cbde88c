import type { Json } from "@belay/core/Json"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as Command from "@belay/hook-files/Command"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../../../test/support/events.ts"
import { answer, group, specific, world } from "./support.ts"

describe("the commands of ClaudeCode", () => {
  it.effect("goes on after a command that broke, with a warning, unless that is to block", () =>
    Effect.gen(function*() {
      const events = { PreToolUse: [group([{ command: "late" }, { command: "broken" }])] }
      const answers = { late: { ...answer(), exitCode: undefined, timedOut: true }, broken: answer("", 1, "boom") }
      const open = world(events, answers)
      assert.strictEqual((yield* open.bash("ls"))._tag, "Continue")
      assert.deepEqual(open.scope.warnings, [
        "hooks.PreToolUse[0].hooks[0] (late) took too long and was ended",
        "hooks.PreToolUse[0].hooks[1] (broken) ended with 1: boom"
      ])
      const closed = world(events, answers, { onBroken: "block" })
      assert.match(
        (yield* closed.bash("ls")).reason!,
        /^a hook broke: it took too long.*\na hook broke: it ended with 1: boom$/
      )
    }))

  // rows: C-15
  it.effect("passes what a call says as variables only, and only what fits there", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PreToolUse: [group([{ command: "echo $tool_input_path" }])] })
      const args = {
        path: "a; touch pwned",
        "x y": "1",
        "A=B": "2",
        ["__proto__"]: "3",
        n: 5,
        ok: true,
        list: [1],
        nul: "a\0b",
        big: "x".repeat(40_000),
        LD_PRELOAD: "/x.so"
      }
      yield* at("preToolCall", call("custom", args))
      const { env } = told[0]!.request
      assert.strictEqual(told[0]!.command, "echo $tool_input_path")
      assert.deepEqual(env, {
        CLAUDE_PROJECT_DIR: "/p",
        tool_name: "custom",
        tool_input_path: "a; touch pwned",
        tool_input___proto__: "3",
        tool_input_n: "5",
        tool_input_ok: "true",
        tool_input_LD_PRELOAD: "/x.so"
      })
    }))

  it.effect("also names the file of a call tool_input_path, for linters that take --file $tool_input_path", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PreToolUse: [group([{ command: "x" }])] })
      yield* at("preToolCall", call("Write", { file_path: "src/a.ts", content: "x" }))
      yield* at("preToolCall", call("write_file", { path: "src/b.ts", content: "x" }))
      assert.deepEqual(told.map(({ request: { env } }) => [env!["tool_input_path"], env!["tool_input_file_path"]]), [
        ["/p/src/a.ts", "/p/src/a.ts"],
        ["src/b.ts", "/p/src/b.ts"]
      ])
    }))

  it.effect("shows scripts what the tool reads, whatever stands beside it", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PreToolUse: [group([{ command: "x" }])] }, {
        x: answer(specific("PreToolUse", { updatedInput: { file_path: "/p/other", content: "" } }))
      }, { toolNames: { put: { name: "Write", fields: { where: "file_path" } } } })
      const tool = (name: string, args: Json, ...parameters: ReadonlyArray<string>) => {
        const event = call(name, args, "c1")
        const properties = Object.fromEntries(parameters.map((one) => [one, { type: "string" }]))
        return { ...event, tool: { ...event.tool, inputSchema: { type: "object", properties } } }
      }
      const calls = [
        tool("write_file", { file_path: "ok.txt", path: ".env", file: "ok.txt" }, "path", "content"),
        tool("write_file", { path: ".env", file_path: "ok.txt" }, "path", "content"),
        tool("write_file", { file: "ok.txt", file_path: ".env" }, "file_path", "content"),
        tool("put", { where: ".env", file_path: "ok.txt" }, "where"),
        tool("put", { file_path: "ok.txt", where: ".env" }, "where")
      ]
      for (const each of calls) yield* at("preToolCall", each)
      assert.deepEqual(
        told.map(({ input }) => (input["tool_input"] as { readonly file_path: string }).file_path),
        calls.map(() => "/p/.env")
      )
      const action = yield* at("preToolCall", calls[0]!)
      assert.deepEqual(action.event["args"], { path: "/p/other", content: "" })
    }))

  it.live("starts a guard however many arguments a call has", () =>
    Effect.gen(function*() {
      const args = Object.fromEntries(
        Array.from({ length: 100_000 }, (_, index) => [`k${index}`, "x".repeat(index % 40)])
      )
      const { at } = world({ PreToolUse: [group([{ command: "exit 2" }])] }, {}, { run: Command.run, projectDir: "/" })
      const action = yield* at(
        "preToolCall",
        call("bash", { ...args, command: "rm -rf build", big: "日".repeat(32_768) }),
        TestScope.make({ cwd: "/" })
      )
      assert.strictEqual(action._tag, "Reject")
    }))

  it.effect("fills the project's folder into the arguments of a program", () =>
    Effect.gen(function*() {
      const { bash, told } = world(
        { PreToolUse: [group([{ command: "${CLAUDE_PROJECT_DIR}/x", args: ["${CLAUDE_PROJECT_DIR}/$&"] }])] },
        {},
        {
          projectDir: "/p $& q"
        }
      )
      yield* bash("ls")
      assert.deepEqual([told[0]!.command, told[0]!.request.args], ["/p $& q/x", ["/p $& q/$&"]])
    }))

  it("implements the points of its events and no others", () => {
    const { hook } = world({ PreToolUse: [group([{ command: "x" }])] })
    assert.deepEqual(Object.keys(hook).filter((key) => typeof hook[key as never] === "function"), [
      "close",
      "onSessionEnd",
      "preTurn",
      "onPermission",
      "preToolCall",
      "onToolDenied",
      "onSignal"
    ])
    assert.throws(
      () => ClaudeCode.make({ handlers: [], projectDir: "/p", concurrency: 0 }),
      /settings-hooks\.concurrency/
    )
  })
})
