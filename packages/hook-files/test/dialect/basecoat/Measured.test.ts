import { defineTool } from "@belay/core/defineTool"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { bash, world } from "./support.ts"

describe("what Base Coat hooks read about cost and size", () => {
  // rows: B-05
  it("PostToolUse runs after success and failure, and reads output, exit status, latency and token cost", async () => {
    const shell = defineTool({
      name: "shell",
      description: "runs a command",
      input: { type: "object" },
      execute: () => ({ exitCode: 3, stdout: "x".repeat(400), stderr: "" })
    })
    const lines = [calls(["shell", { command: "false" }]), bash("ls"), calls(["fail", { why: "disk is full" }])]
    const { agent, hear, heard } = world(lines, {}, { tools: [shell] })
    hear("PreToolUse")
    hear("PostToolUse")
    await agent.run("go")
    const tools = heard.flatMap(({ hook, tool }) => hook === "PostToolUse" && tool !== undefined ? [tool] : [])
    assert.deepEqual(tools.map(({ exitStatus, success }) => [success, exitStatus]), [[true, 3], [true, 0], [false, 1]])
    assert.isTrue(tools.every(({ durationMs = -1 }) => durationMs >= 0))
    assert.deepEqual(tools.map(({ error }) => error), [undefined, undefined, "disk is full"])
    const [input, output] = [tools[0]!.input, tools[0]!.output].map((one) => JSON.stringify(one).length)
    assert.strictEqual(tools[0]!.tokenCost, Math.ceil(input! / 4) + Math.ceil(output! / 4))
    assert.isAbove(tools[2]!.tokenCost!, 0)
    assert.isUndefined(heard.find(({ hook }) => hook === "PreToolUse")!.tool!.tokenCost)
  })

  // rows: B-44
  it("SessionEnd reports the size of the handoff of a rotation", async () => {
    const { agent, hear, heard, sent } = world([{ text: "done" }], {}, { window: { tokens: 1_000, compactAt: 1 } })
    hear("OnBudgetExceeded", { action: "block", reason: "rotate" })
    hear("SessionStart")
    hear("SessionEnd", { metadata: { persistedFacts: 2 } })
    const session = await agent.session({
      messages: [{ role: "user", content: "x".repeat(1_500) }, { role: "assistant", content: "y".repeat(1_900) }]
    })
    await session.run("go")
    await session.close()
    const ends = sent.filter(({ name, payload }) => name === "base-coat" && payload["event"] === "SessionEnd")
    const [rotated, closed] = ends.map(({ payload }) => payload)
    assert.deepInclude(closed!, { persistedFacts: 2, handoffSize: 0 })
    const start = heard.find(({ hook, source }) => hook === "SessionStart" && source === "rotate")!
    const size = rotated!["handoffSize"] as number
    assert.isAbove(size, 0)
    assert.isAtLeast((start["handoff"] as ReadonlyArray<string>).join("").length, size)
    assert.deepEqual(heard.flatMap(({ handoffSize, hook }) => hook === "SessionEnd" ? [handoffSize] : []), [size, 0])
  })
})
