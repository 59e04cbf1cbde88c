/** What hook files remember in a tree of agents: for the whole tree, or for each agent alone. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as HookConfig from "@belay/hook-files/HookConfig"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, type Line, recording } from "../../../test/support/agent.ts"
import { place } from "./support/places.ts"
import { write } from "./support/processes.ts"

/** A model that says these lines in each conversation, and then "the end". */
const saying = (...lines: ReadonlyArray<Line>): LlmProvider => ({
  name: "one",
  complete: ({ messages }) =>
    Effect.sync(() => {
      const line = lines[messages.filter(({ role }) => role === "assistant").length] ?? { text: "the end" }
      const finishReason = line.toolCalls === undefined ? "stop" : "tool-calls"
      return { model: "model-1", text: "", toolCalls: [], finishReason, ...line }
    })
})

/** A lead with two parallel sub-agents; each of the three runs two commands. */
const tree = (cwd: string, hooks: ReturnType<ReturnType<typeof place>["load"]>["hooks"]) => {
  const { tools } = recording()
  const work = [calls(["bash", { command: "ls" }]), calls(["bash", { command: "pwd" }])]
  const worker = (name: string) => createAgent({ name, cwd, provider: saying(...work), tools })
  return createAgent({
    name: "lead",
    cwd,
    provider: saying(calls(["one", { message: "go" }], ["two", { message: "go" }]), ...work),
    tools: [...["one", "two"].map((name) => agentTool({ name, description: name, agent: worker(name) })), ...tools],
    hooks
  })
}

const linesOf = (path: string): ReadonlyArray<string> => readFileSync(path, "utf8").trim().split("\n")

describe("hook files in a tree of agents", () => {
  it("run an entry with `once` once for all agents", async () => {
    const { cwd, root } = place()
    const log = join(root, "log")
    const entry = (line: string) => ({ type: "command", command: `echo ${line} >> ${log}` })
    const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [entry("once"), entry("every")] }] }
    const [first, ...others] = HookConfig.decode(JSON.stringify({ hooks }), "s.json").handlers
    await using agent = tree(cwd, [
      ClaudeCode.make({ handlers: [{ ...first!, once: true }, ...others], projectDir: cwd })
    ])
    assert.strictEqual((await agent.run("go")).status, "completed")
    const lines = linesOf(log)
    assert.deepStrictEqual(["once", "every"].map((line) => lines.filter((one) => one === line).length), [1, 6])
  })

  it("run once for a sub-agent that loads the same files and those of another system", async () => {
    const { cwd, load, project, root } = place()
    const log = join(root, "log")
    const hooks = (line: string) => ({
      PreToolUse: [{ hooks: [{ type: "command", command: `echo ${line} >> ${log}` }] }]
    })
    project(JSON.stringify({ hooks: hooks("claude") }))
    write(join(cwd, ".codex/hooks.json"), JSON.stringify({ hooks: hooks("codex") }))
    const both = { sources: ["claude", "codex"] }
    load(both).untrusted[0]!.trust()
    const { tools } = recording()
    const run = [calls(["bash", { command: "ls" }])]
    const worker = createAgent({ name: "worker", cwd, provider: saying(...run), tools, hooks: load(both).hooks })
    await using agent = createAgent({
      cwd,
      provider: saying(calls(["worker", { message: "go" }])),
      tools: [agentTool({ name: "worker", description: "worker", agent: worker })],
      hooks: load({ sources: ["claude"] }).hooks
    })
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.deepStrictEqual(linesOf(log).toSorted(), ["claude", "claude", "codex"])
  })

  it("count the steps of each agent alone for executables of Kodelet", async () => {
    const { cwd, home, load, root } = place()
    const log = join(root, "log")
    write(
      join(home, ".kodelet/hooks/a"),
      `#!/bin/sh
[ "$1" = hook ] && echo after_turn && exit
sed -n 's/.*"turn_number":\\([0-9]*\\).*/\\1/p' >> ${log}
`
    )
    await using agent = tree(cwd, load({ sources: ["kodelet"] }).hooks)
    assert.strictEqual((await agent.run("go")).status, "completed")
    // Three steps of each sub-agent, and four of the lead.
    assert.deepStrictEqual(linesOf(log).toSorted(), ["1", "1", "1", "2", "2", "2", "3", "3", "3", "4"])
  })
})
