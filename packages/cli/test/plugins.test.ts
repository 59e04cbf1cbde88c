/** Plugins of Claude Code on the command line: found, listed, trusted, tried and checked like other files. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { settings, world } from "./belay.ts"

const guard = settings("PreToolUse", [{ command: "\"${CLAUDE_PLUGIN_ROOT}\"/guard.sh" }], "Bash")
const script = "#!/bin/bash\necho \"not with $CLAUDE_PLUGIN_ROOT\" >&2\nexit 2\n"

const installed = (enabled: object) =>
  world({
    "home/.claude/settings.json": { enabledPlugins: enabled },
    "home/.claude/plugins/cache/team/guard/1.0.0/hooks/hooks.json": guard,
    "home/.claude/plugins/cache/team/guard/1.0.0/guard.sh": script
  })

describe("plugins of Claude Code", () => {
  it("that the user has enabled are listed by name, and tried", async () => {
    const { home, hooks, json } = installed({ "guard@team": true })
    const { stdout } = await hooks("list")
    assert.match(stdout, /hooks\.json {2}claude, plugin guard, user\n {2}PreToolUse {2}Bash/)
    const { value } = await json("list")
    const root = join(home, ".claude/plugins/cache/team/guard/1.0.0")
    assert.deepInclude(value.files[1].plugin, { type: "plugin", name: "guard", root })
    const tried = await json("test", "PreToolUse", "--tool", "Bash", "--input", "{\"command\":\"ls\"}")
    assert.deepInclude(tried.value, { decision: "deny", reason: `not with ${root}` })
    assert.deepEqual((await json("doctor")).value.findings, [])
  })

  it("are a warning of the doctor if they are missing, and no error", async () => {
    const { json } = installed({ "guard@team": true, "other@team": true })
    const { code, value } = await json("doctor")
    assert.deepEqual([code, value.errors, value.warnings], [0, 0, 1])
    assert.deepInclude(value.findings[0], { rule: "plugin-missing", level: "warning", key: "enabledPlugins" })
    assert.match(value.findings[0].fix, /^Install it with Claude Code, or name its folder: --plugin/)
  })

  it("in a folder are loaded alone with --plugin, and together with --source", async () => {
    const { hooks, json, write } = world({ "home/.claude/settings.json": settings("Stop", [{ command: "true" }]) })
    write("mine/hooks/hooks.json", guard)
    write("mine/guard.sh", script)
    const alone = await json("list", "--plugin", "../mine")
    assert.deepEqual(alone.value.files.map(({ scope }: { readonly scope: string }) => scope), ["user"])
    const tried = await hooks(
      "test",
      "PreToolUse",
      "--tool",
      "Bash",
      "--input",
      "{\"command\":\"ls\"}",
      "--plugin",
      "../mine"
    )
    assert.match(tried.stdout, /not with .*mine/)
    assert.lengthOf((await json("list", "--plugin", "../mine", "--source", "claude")).value.files, 2)
    const missing = await hooks("list", "--plugin", "../none")
    assert.deepEqual([missing.code, missing.stderr.includes("--plugin: there is no folder")], [2, true])
  })

  it("in the project are trusted with their scripts", async () => {
    const { hooks, json, write } = world({ "project/tool/hooks/hooks.json": guard, "project/tool/guard.sh": script })
    assert.strictEqual((await json("list", "--plugin", "tool")).value.files[0].status, "untrusted")
    assert.match((await hooks("trust", "--plugin", "tool", "--yes")).stdout, /tool\/guard\.sh[\s\S]*Trusted\./)
    assert.strictEqual((await json("list", "--plugin", "tool")).value.files[0].status, "runs")
    write("project/tool/guard.sh", "#!/bin/bash\n")
    assert.strictEqual((await json("list", "--plugin", "tool")).value.files[0].status, "untrusted")
  })

  it("work by one of their files with --file", async () => {
    const { hooks, write } = world()
    write("mine/hooks/hooks.json", guard)
    write("mine/guard.sh", script)
    const { code, stdout } = await hooks(
      "test",
      "PreToolUse",
      "--tool",
      "Bash",
      "--input",
      "{\"command\":\"ls\"}",
      "--file",
      "../mine/hooks/hooks.json"
    )
    assert.strictEqual(code, 1)
    assert.match(stdout, /not with .*mine/)
  })
})
