/** A script that has to run again about the same call. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { place } from "../support/places.ts"
import { write } from "../support/processes.ts"

const settings = (root: string) =>
  JSON.stringify({
    hooks: {
      PreToolUse: [{
        hooks: [{ type: "command", command: `echo "\${BELAY_ASKED_AGAIN:-first}" >> ${join(root, "log")}` }]
      }]
    }
  })

const run = async (priority: number): Promise<ReadonlyArray<string>> => {
  const one = place()
  write(join(one.home, ".claude/settings.json"), settings(one.root))
  const { ran, tools } = recording()
  const { provider } = scripted([calls(["bash", { command: "go" }])])
  const rewrite = {
    name: "rewrite",
    priority,
    preToolCall: (call: { readonly id: string; readonly name: string }) =>
      HookAction.transform({ id: call.id, name: call.name, args: { command: "go on" } })
  }
  await using agent = createAgent({ provider, tools, cwd: one.cwd, hooks: [...one.load({}).hooks, rewrite] })
  await agent.run("hello")
  assert.deepStrictEqual(ran, ["go on"])
  return readFileSync(join(one.root, "log"), "utf8").trim().split("\n")
}

describe("a script beside a hook that changes the command", () => {
  it("runs once, because hook files run after hooks with the default priority", async () => {
    assert.deepStrictEqual(await run(100), ["first"])
  })

  it("has BELAY_ASKED_AGAIN=1 when it must run again, because a hook after it changed the command", async () => {
    assert.deepStrictEqual(await run(900), ["first", "1"])
  })
})

describe("the same hook files on two agents of a tree", () => {
  it("run once for each call", async () => {
    const one = place()
    write(join(one.home, ".claude/settings.json"), settings(one.root))
    const { ran, tools } = recording()
    const make = (name: string, lines: Parameters<typeof scripted>[0], more: typeof tools = []) =>
      createAgent({
        name,
        provider: scripted(lines).provider,
        tools: [...tools, ...more],
        cwd: one.cwd,
        hooks: one.load({}).hooks
      })
    const leaf = make("leaf", [calls(["bash", { command: "in the leaf" }])])
    const middle = make("middle", [calls(["leaf", { message: "x" }])], [
      agentTool({ name: "leaf", description: "l", agent: leaf }) as never
    ])
    await using lead = make("lead", [calls(["middle", { message: "x" }])], [
      agentTool({ name: "middle", description: "m", agent: middle }) as never
    ])
    await lead.run("hello")
    assert.deepStrictEqual(ran, ["in the leaf"])
    // Two delegations and one command.
    assert.deepStrictEqual(readFileSync(join(one.root, "log"), "utf8").trim().split("\n"), ["first", "first", "first"])
  })
})
