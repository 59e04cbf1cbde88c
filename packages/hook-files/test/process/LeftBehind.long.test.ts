/** What hooks leave in the background, and what becomes of it when the agent is closed. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { calls } from "../../../../test/support/agent.ts"
import { alive, until, write } from "../support/processes.ts"
import { type Files, start } from "../support/publicFiles.ts"

const word = `3641.${process.pid}`

/** Nobody has to wait for either: one ends soon, the other never does, and has left its group. */
const line = `(until [ -f go ]; do sleep 0.01; done; echo played > sound) & setsid sleep ${word} & :`

const one = { type: "command", command: line }
const systems: ReadonlyArray<readonly [Dialect, Files]> = [
  ["claude", { README: "", "~/.claude/settings.json": { hooks: { PostToolUse: [{ hooks: [one] }] } } }],
  ["codex", { README: "", "~/.codex/hooks.json": { hooks: { PostToolUse: [{ hooks: [one] }] } } }],
  ["copilot", { README: "", "~/.copilot/hooks/a.json": { version: 1, hooks: { postToolUse: [{ bash: line }] } } }],
  ["gemini", { README: "", "~/.gemini/settings.json": { hooks: { AfterTool: [{ hooks: [one] }] } } }],
  ["kodelet", {
    README: "",
    "~/.kodelet/hooks/a":
      `#!/bin/bash\n[ "$1" = hook ] && { echo after_tool_call; exit 0; }\ncd "$(jq -r .cwd)"\n${line}\n`
  }],
  ["basecoat", { "hooks.json": { version: 1, hooks: { PostToolUse: [{ command: line }] } } }]
]

describe("what a hook leaves in the background", () => {
  it.each(systems)("of %s is waited for and ended when the agent is closed, not before", async (dialect, files) => {
    const { agent, cwd, did, heard, read } = start(dialect, files, [calls(["bash", { command: "ls" }])], {
      options: { drainMs: 1_500 }
    })
    const session = await agent.session()
    await session.run("go")
    assert.lengthOf(did, 1)
    assert.deepEqual(heard.warnings, [])
    await until(() => alive(word).length > 0)
    const closed = agent.close()
    write(join(cwd, "go"), "")
    await closed
    assert.deepEqual(alive(word), [])
    assert.strictEqual(read("sound"), "played\n")
  })
})
