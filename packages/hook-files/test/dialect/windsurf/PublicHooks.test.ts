/** Hooks of Windsurf as projects have them, in agents that run: real scripts, their own `hooks.json`. */
import { assert, describe, it } from "vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { type Files, judge, start, type Step } from "../../support/publicFiles.ts"

const file = (hooks: object) => JSON.stringify({ hooks })

const cases: ReadonlyArray<readonly [what: string, files: Files, steps: ReadonlyArray<Step>]> = [
  [
    "a guard of commands in python",
    {
      ".windsurf/hooks.json": file({
        pre_run_command: [{ command: "python3 .windsurf/hooks/guard.py", show_output: true }]
      }),
      ".windsurf/hooks/guard.py": [
        "import json, sys",
        "line = json.load(sys.stdin).get('tool_info', {}).get('command_line', '')",
        "if 'sudo' in line:",
        "    print('not as root: ' + line, file=sys.stderr)",
        "    sys.exit(2)",
        "print('approved')"
      ].join("\n")
    },
    [["bash", { command: "sudo ls" }, /^not as root: sudo ls$/], ["bash", { command: "ls" }, "runs"]]
  ],
  [
    "a guard of folders in bash, of the user",
    {
      "README.md": "",
      "~/.codeium/windsurf/hooks.json": file({
        pre_read_code: [{ command: "~/guard.sh" }],
        pre_write_code: [{ command: "~/guard.sh" }]
      }),
      "~/guard.sh":
        "#!/bin/bash\npath=$(jq -r .tool_info.file_path)\n[[ $path == */secrets/* ]] && { echo \"$path is secret\" >&2; exit 2; }\nexit 0\n"
    },
    [
      ["read_file", { path: "secrets/a" }, /secrets\/a is secret$/],
      ["edit", { path: "secrets/a", old_string: "x", new_string: "y" }, /is secret/],
      ["read_file", { path: "public/a" }, "runs"]
    ]
  ],
  [
    "a policy for MCP servers, and one that fails and blocks nothing",
    {
      ".windsurf/hooks.json": file({
        pre_mcp_tool_use: [{
          command:
            "jq -e '.tool_info.mcp_server_name != \"tracker\"' > /dev/null || { echo not the tracker >&2; exit 2; }"
        }],
        pre_run_command: [{ command: "exit 1" }]
      })
    },
    [["mcp__tracker__delete", { id: 1 }, /^not the tracker$/], ["bash", { command: "ls" }, "runs"]]
  ]
]

describe("hooks of Windsurf in projects", () => {
  it.each(cases)("%s", async (_what, files, steps) => void (await judge("windsurf", files, steps)))

  it("log what the agent wrote, and the transcript of the turn", async () => {
    const world = start("windsurf", {
      ".windsurf/hooks.json": file({
        post_write_code: [{ command: "jq -r '.tool_info.edits[0].new_string' >> edits.log" }],
        post_cascade_response: [{ command: "jq -r .tool_info.response >> said.log" }],
        post_cascade_response_with_transcript: [{
          command: "wc -l < \"$(jq -r .tool_info.transcript_path)\" >> lines.log"
        }]
      })
    }, [calls(["write_file", { path: "a", content: "x" }]), { text: "done" }])
    await world.agent.run("go")
    await world.agent.close()
    assert.strictEqual(world.read("edits.log"), "x\n")
    assert.strictEqual(world.read("said.log"), "### Planner Response\n\ndone\n")
    assert.strictEqual(world.read("lines.log").trim(), "4")
  })
})
