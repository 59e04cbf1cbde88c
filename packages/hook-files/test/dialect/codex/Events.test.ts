import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text } from "@belay/core/Message"
import * as Codex from "@belay/hook-files/Codex"
import * as HookConfig from "@belay/hook-files/HookConfig"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder } from "../../support/processes.ts"

const group = (command: string, more: object = {}) => [{ hooks: [{ type: "command", command, ...more }] }]

const decode = (hooks: object, more: object = {}) => Codex.decode(JSON.stringify({ ...more, hooks }), "hooks.json")

/** Runs one call of a tool between two answers of the model, and returns what the model read of its result. */
const afterTool = async (hooks: object, execute: () => string = () => "the secret result") => {
  const cwd = folder()
  const { handlers } = decode(hooks)
  const read = defineTool({ name: "read", description: "reads", input: { type: "object" }, execute })
  const { provider, requests } = scripted([calls(["read", {}]), { text: "done" }])
  await using agent = createAgent({ provider, tools: [read], cwd, hooks: [Codex.make({ handlers, projectDir: cwd })] })
  const { status } = await agent.run("go")
  return { cwd, status, told: requests.flatMap(({ messages }) => messages.map(text)).join("\n") }
}

describe("events of Codex", () => {
  for (
    const [what, command, reason] of [
      ["a block", `echo '{"decision":"block","reason":"hidden"}'`, "hidden"],
      ["exit code 2", "echo hidden >&2; exit 2", "hidden"],
      ["continue: false", `echo '{"continue":false,"stopReason":"hidden"}'`, "hidden"]
    ] as const
  ) {
    it(`replace the result of a tool with ${what}, and the turn goes on`, async () => {
      const { status, told } = await afterTool({ PostToolUse: group(command) })
      assert.strictEqual(status, "completed")
      assert.include(told, reason)
      assert.notInclude(told, "secret")
    })
  }

  it("tell PostToolUse of a call that failed, and let it replace the error", async () => {
    const fails = () => {
      throw new Error("the secret error")
    }
    const { cwd, told } = await afterTool({ PostToolUse: group("cat > input.json; echo hidden >&2; exit 2") }, fails)
    const input = JSON.parse(readFileSync(join(cwd, "input.json"), "utf8"))
    assert.deepInclude(input, { hook_event_name: "PostToolUse", tool_response: "the secret error" })
    assert.include(told, "hidden")
    assert.notInclude(told, "secret")
  })

  it("have SessionEnd and Interrupt, whose entries have at most 3 seconds", async () => {
    const cwd = folder()
    const { handlers, warnings } = decode({
      SessionEnd: group("cat > end.json"),
      Interrupt: group("cat > interrupt.json")
    })
    assert.deepEqual(warnings, [])
    const options = { projectDir: cwd, handlers }
    const { provider } = scripted([{ text: "done" }])
    await using agent = createAgent({ provider, tools: recording().tools, cwd, hooks: [Codex.make(options)] })
    {
      await using session = await agent.session({ id: "s" })
      await session.run("go")
      await session.signal({ name: "Interrupt", payload: {}, blockable: false })
    }
    const read = (name: string) => JSON.parse(readFileSync(join(cwd, name), "utf8"))
    assert.deepInclude(read("end.json"), { hook_event_name: "SessionEnd", session_id: "s" })
    assert.deepInclude(read("interrupt.json"), { hook_event_name: "Interrupt", session_id: "s", transcript_path: null })
    assert.containsAllKeys(read("interrupt.json"), ["turn_id", "model", "cwd", "permission_mode"])
    // Settings of Claude Code have no such event.
    const claude = HookConfig.decode(JSON.stringify({ hooks: { Interrupt: group("x") } }), "settings.json")
    assert.deepEqual(claude.warnings.map(({ key }) => key), ["hooks.Interrupt"])
  })

  it("end entries of SessionEnd after the time that Codex gives them", async () => {
    const cwd = folder()
    const given: Array<number> = []
    const { handlers } = decode({
      SessionEnd: [...group("a"), ...group("b", { timeout: 2 }), ...group("c", { timeout: 60 })],
      Stop: group("d")
    })
    const hook = Codex.make({
      handlers,
      projectDir: cwd,
      runners: ({ timeoutMs }) =>
        Effect.sync(() => {
          given.push(timeoutMs)
          return { exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1 }
        })
    })
    await using agent = createAgent({ provider: scripted([{ text: "done" }]).provider, cwd, hooks: [hook] })
    await agent.run("go")
    assert.sameMembers(given, [600_000, 1_000, 2_000, 3_000])
  })

  it("run commands and MCP tools, and nothing else", () => {
    const entry = (hook: object) => [{ hooks: [hook] }]
    const { handlers, warnings } = decode({
      PreToolUse: [
        ...entry({ type: "prompt", prompt: "ok?" }),
        ...entry({ type: "agent", prompt: "ok?" }),
        ...entry({ type: "http", url: "https://hooks.example/" }),
        ...entry({ type: "mcp_tool", server: "guard", tool: "check" }),
        ...entry({ type: "command", command: "x" })
      ]
    })
    assert.deepEqual(handlers.map(({ work }) => work.type), ["mcp_tool", "command"])
    assert.match(warnings.map(({ reason }) => reason).join("\n"), /Codex runs no hooks of type prompt; expected one of/)
    assert.lengthOf(warnings, 3)
  })

  it("are not read from a file with an unknown key at its top, which the warning names", () => {
    const hooks = { PreToolUse: group("exit 2") }
    assert.lengthOf(decode(hooks, { description: "guards" }).handlers, 1)
    const { handlers, warnings } = decode(hooks, { version: 1 })
    assert.deepEqual(handlers, [])
    assert.deepEqual(warnings, [{
      file: "hooks.json",
      key: "version",
      reason: "is not known, so no hook of this file runs; Codex knows description and hooks"
    }])
  })
})
