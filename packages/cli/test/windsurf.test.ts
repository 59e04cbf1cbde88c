/** Hook files of Windsurf on the command line. */
import { assert, describe, it } from "vitest"
import { world } from "./belay.ts"

describe("hooks of Windsurf", () => {
  it("are listed, explained, tried and checked", async () => {
    const { home, hooks, json, write } = world({
      "home/.codeium/windsurf/hooks.json": { hooks: { pre_run_command: [{ command: "~/guard.sh" }] } },
      "home/guard.sh": "#!/bin/bash\njq -r .tool_info.command_line | grep -q push && { echo no >&2; exit 2; }\nexit 0\n"
    })
    assert.match((await hooks("list")).stdout, /windsurf, user\n {2}pre_run_command {2}may refuse the call/)
    const tried = await json("test", "pre_run_command", "--payload", "{\"tool_info\":{\"command_line\":\"git push\"}}")
    assert.deepInclude(tried.value, { decision: "deny", reason: "no" })
    assert.strictEqual(
      (await json("test", "PreToolUse", "--tool", "Bash", "--input", "{\"command\":\"ls\"}")).value.decision,
      "allow"
    )
    assert.match((await hooks("explain", "pre_mcp_tool_use")).stdout, /tool_info\.mcp_server_name/)
    assert.strictEqual(
      (await json("list", "--file", `${home}/.codeium/windsurf/hooks.json`)).value.files[0].dialect,
      "windsurf"
    )
    assert.deepEqual((await json("doctor")).value.errors, 0)
    write("home/guard.sh", "#!/bin/bash\necho blocked\nexit 1\n")
    assert.deepEqual((await json("doctor")).value.findings.map(({ rule }: { readonly rule: string }) => rule), [
      "exit-one"
    ])
  })

  it("can be tried after the turn", async () => {
    const { json } = world({
      "home/.codeium/windsurf/hooks.json": { hooks: { post_cascade_response: [{ command: "cat > ~/said.json" }] } }
    })
    const { value } = await json("test", "post_cascade_response", "--output", "hello")
    assert.deepInclude(value.runs[0], { matched: true, exitCode: 0 })
  })
})
