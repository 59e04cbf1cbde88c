import type { JsonObject } from "@belay/core/Json"
import type { McpAccessor } from "@belay/core/McpAccessor"
import type * as Command from "@belay/hook-files/Command"
import * as Outcome from "@belay/hook-files/Outcome"
import type * as Runners from "@belay/hook-files/Runners"
import * as McpServers from "@belay/providers/McpServers"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { event, trial } from "../support/trial.ts"

const file = fileURLToPath(new URL("../../../../test/support/mcpEcho.ts", import.meta.url))
const mcp = McpServers.make({
  echo: { command: process.execPath, args: [file] },
  broken: { command: process.execPath, args: [file, "broken"] }
})
afterAll(() => mcp.close())

const work = (tool: string, input?: JsonObject, server = "echo"): Runners.Work => ({
  type: "mcp_tool",
  server,
  tool,
  ...(input === undefined ? {} : { input })
})
const one = async (task: Runners.Work, accessor: McpAccessor = mcp, timeoutMs = 30_000): Promise<Command.Finished> => {
  const { outcomes: [outcome] } = await trial([task], [], { mcp: accessor }, { timeoutMs })
  return outcome!
}
const fake = (answer: Partial<Effect.Success<ReturnType<McpAccessor["callTool"]>>>): McpAccessor => ({
  callTool: () => Effect.succeed({ content: [], isError: false, ...answer }),
  listTools: () => Effect.succeed([])
})

describe("a hook of type mcp_tool", () => {
  // rows: C-02
  it("sends the event to a real server, whose answer is the answer of the hook", async () => {
    const says = {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "not ${tool_input.file_path}"
      }
    }
    const finished = await one(work("echo", says))
    assert.deepInclude(finished, { exitCode: 0, stderr: "", timedOut: false, overflowed: false })
    assert.deepInclude(Outcome.read(finished, "PreToolUse"), { outcome: "blocking", blocked: "not /p/a.ts" })
    assert.deepEqual(JSON.parse((await one(work("echo"))).stdout), event)
  })

  it("has fields of the event in the texts of its input, and values where a text is nothing else", async () => {
    const input = {
      path: "${tool_input.file_path}",
      said: "${tool_name} of ${tool_input.file_path}: ${tool_input.lines}, ${nothing}",
      lines: "${tool_input.lines}",
      second: ["${tool_input.lines.1}", { whole: "${tool_input}" }],
      none: "${tool_input.nothing.at.all}",
      proto: "${__proto__.x}${constructor}${tool_input.__proto__}${tool_name.length}",
      kept: ["$tool_name", "${}", "${odd key}", "$${tool_name}", 7, null, true],
      "${tool_name}": 1
    }
    assert.deepEqual(JSON.parse((await one(work("echo", input))).stdout), {
      path: "/p/a.ts",
      said: "Write of /p/a.ts: [1,2], ",
      lines: [1, 2],
      second: [2, { whole: event["tool_input"] }],
      none: "",
      proto: "",
      kept: ["$tool_name", "${}", "${odd key}", "$Write", 7, null, true],
      "${tool_name}": 1
    })
    const hostile = { callTool: mcp.callTool, listTools: mcp.listTools }
    assert.strictEqual((await one(work("echo", { a: "${tool_input.file_path}" }), hostile)).exitCode, 0)
  })

  it("says its structured content, else its first text, else nothing", async () => {
    const text = (said: string) => ({ type: "text", text: said })
    assert.strictEqual(
      (await one(work("a"), fake({ content: [text("a"), text("b")], structuredContent: { c: 1 } }))).stdout,
      "{\"c\":1}"
    )
    assert.strictEqual(
      (await one(work("a"), fake({ content: [{ type: "image" }, { type: "text" }, text("a"), text("b")] }))).stdout,
      "a"
    )
    assert.deepInclude(await one(work("a"), fake({})), { exitCode: 0, stdout: "" })
  })

  // rows: C-30, C-36
  it("is an error that blocks nothing where the tool failed, or cannot be called", async () => {
    const { outcomes } = await trial(
      [work("fail"), work("nothing"), work("a", {}, "ehco"), work("a", {}, "broken"), work("crash"), work("large")],
      [],
      { mcp }
    )
    for (const finished of outcomes) {
      assert.deepInclude(finished, { exitCode: 1, stdout: "" })
      assert.strictEqual(Outcome.read(finished, "PreToolUse").outcome, "nonBlockingError")
    }
    const reasons = [
      /^the disk is full$/,
      /no such tool/,
      /did you mean "echo"/,
      /no licence found/,
      /echo: crash/,
      /too large/
    ]
    for (const [index, why] of reasons.entries()) assert.match(outcomes[index]!.stderr, why)
    const { outcomes: [none] } = await trial([work("a")])
    assert.match(none!.stderr, /the agent has no MCP servers/)
    assert.match((await one(work("a"), fake({ isError: true }))).stderr, /failed and did not say why/)
    assert.isTrue((await one(work("a"), fake({ content: [{ type: "text", text: "x".repeat(1_100_000) }] }))).overflowed)
    assert.strictEqual((await one(work("a"), { ...fake({}), callTool: () => Effect.die("a bug") })).exitCode, 1)
  })

  it("ends at its timeout, and the server sees the cancellation", async () => {
    assert.strictEqual((await one(work("slowed"))).stdout, "0")
    const finished = await one(work("slow"), mcp, 300)
    assert.deepInclude(finished, { timedOut: true, exitCode: undefined })
    assert.deepInclude(Outcome.read(finished, "PreToolUse"), {
      outcome: "cancelled",
      problem: "took too long and was ended"
    })
    while ((await one(work("cancelled"))).stdout !== "1");
  })
})
