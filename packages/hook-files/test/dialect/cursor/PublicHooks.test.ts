/** Hooks of Cursor as projects have them, in agents that run: real scripts, their own `hooks.json`. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { place } from "../../support/places.ts"
import { write } from "../../support/processes.ts"
import { type Files, judge, start, type Step } from "../../support/publicFiles.ts"

const file = (hooks: object) => JSON.stringify({ version: 1, hooks })
const bash = (...lines: ReadonlyArray<string>) => ["#!/bin/bash", ...lines, ""].join("\n")

const cases: ReadonlyArray<readonly [what: string, files: Files, steps: ReadonlyArray<Step>]> = [
  [
    "a guard in bash and jq that denies, asks nobody, and allows the rest",
    {
      ".cursor/hooks.json": file({ beforeShellExecution: [{ command: ".cursor/hooks/guard.sh" }] }),
      ".cursor/hooks/guard.sh": bash(
        "command=$(jq -r '.command // empty')",
        "if [[ \"$command\" =~ (^|[[:space:]])git[[:space:]]+push ]]; then",
        "  jq -n --arg c \"$command\" '{continue: true, permission: \"deny\", user_message: \"no pushes\", agent_message: (\"blocked: \" + $c)}'",
        "  exit 0",
        "fi",
        "echo '{\"permission\":\"allow\"}'"
      )
    },
    [["bash", { command: "git push origin" }, /^blocked: git push origin$/], [
      "bash",
      { command: "git status" },
      "runs"
    ], ["write_file", { path: "a", content: "git push" }, "runs"]]
  ],
  [
    "a guard in python with exit code 2, for the user in ~/.cursor",
    {
      "README.md": "",
      "~/.cursor/hooks.json": file({ preToolUse: [{ command: "python3 ./hooks/guard.py", matcher: "Shell|Write" }] }),
      "~/.cursor/hooks/guard.py": [
        "import json, sys",
        "event = json.load(sys.stdin)",
        "text = json.dumps(event['tool_input'])",
        "if 'secret' in text:",
        "    print(event['tool_name'] + ' with a secret', file=sys.stderr)",
        "    sys.exit(2)",
        "print(json.dumps({'permission': 'allow'}))"
      ].join("\n")
    },
    [
      ["bash", { command: "echo secret" }, /^Shell with a secret$/],
      ["edit", { path: "a", old_string: "x", new_string: "secret" }, /^Write with a secret$/],
      ["view", { path: "secret" }, "runs"],
      ["bash", { command: "echo fine" }, "runs"]
    ]
  ],
  [
    "a guard of files that reads what is in them",
    {
      "keys.txt": "AKIA1234567890ABCDEF",
      "notes.txt": "nothing here",
      ".cursor/hooks.json": file({ beforeReadFile: [{ command: "node .cursor/hooks/read.js", failClosed: true }] }),
      ".cursor/hooks/read.js": `
        const event = JSON.parse(require("fs").readFileSync(0, "utf8"))
        const found = /AKIA[0-9A-Z]{16}/.test(event.content)
        console.log(JSON.stringify(found ? { permission: "deny", user_message: "a key in " + event.file_path.split("/").pop() } : { permission: "allow" }))`
    },
    [["read_file", { path: "keys.txt" }, /^a key in keys.txt$/], ["read_file", { path: "notes.txt" }, "runs"]]
  ],
  [
    "a guard that is not there, which guards nothing unless it fails closed",
    {
      ".cursor/hooks.json": file({
        beforeShellExecution: [{ command: "./hooks/gone.sh", matcher: "rm" }, {
          command: "./gone.sh",
          matcher: "curl",
          failClosed: true
        }]
      })
    },
    [["bash", { command: "rm -rf x" }, "runs"], ["bash", { command: "curl x" }, /a hook failed: it ended with 127/]]
  ],
  [
    "a script that changes a command",
    {
      ".cursor/hooks.json": file({
        preToolUse: [{ command: "$CURSOR_PROJECT_DIR/x.sh", matcher: "Shell" }, {
          command: "\"$CURSOR_PROJECT_DIR\"/x.sh",
          matcher: "Shell"
        }]
      }),
      "x.sh": bash(
        "jq -c '{permission: \"allow\", updated_input: {command: (.tool_input.command | sub(\"^npm install\"; \"npm ci\"))}}'"
      )
    },
    [["bash", { command: "npm install" }, { with: { command: "npm ci" } }]]
  ],
  [
    "a policy for tools of MCP servers",
    {
      ".cursor/hooks.json": file({
        beforeMCPExecution: [{
          command:
            "x=$(jq -r '.tool_name, (.tool_input | fromjson | .id)' | tr '\\n' ' '); echo \"not $x\" >&2; exit 2",
          matcher: "delete"
        }]
      })
    },
    [["mcp__tracker__delete", { id: 7 }, /^not delete 7$/]]
  ]
]

describe("hooks of Cursor in projects", () => {
  it.each(cases)("%s", async (_what, files, steps) => void (await judge("cursor", files, steps)))

  it(
    "format what the agent writes, add context, and keep it going until they are content",
    async () => {
      const world = start("cursor", {
        ".cursor/hooks.json": file({
          sessionStart: [{
            command: "echo '{\"additional_context\":\"the house rules\",\"env\":{\"TEAM\":\"blue\"}}'"
          }],
          afterFileEdit: [{ command: "jq -r '.file_path, .edits[0].new_string' >> edits.log" }],
          postToolUse: [{ command: "echo '{\"additional_context\":\"checked by '$TEAM'\"}'", matcher: "Write" }],
          stop: [{ command: "[ $(jq .loop_count) -lt 2 ] && echo '{\"followup_message\":\"again\"}' || true" }],
          sessionEnd: [{ command: "jq -r .reason >> end.log" }]
        })
      }, [calls(["write_file", { path: "a.ts", content: "x" }]), { text: "one" }, { text: "two" }, { text: "three" }])
      const { text: last } = await world.agent.run("go")
      await world.agent.close()
      assert.strictEqual(last, "three")
      assert.strictEqual(world.read("edits.log"), `${join(world.cwd, "a.ts")}\nx\n`)
      assert.strictEqual(world.read("end.log"), "completed\n")
      const messages = (index: number) => world.requests[index]!.messages.map(text).join("\n")
      assert.include(messages(0), "the house rules")
      assert.include(messages(1), "checked by blue")
      assert.include(messages(3), "again")
    }
  )

  it("refuse sub-agents, and tell what they did", async () => {
    const { cwd, home, load } = place()
    const path = write(
      join(cwd, "log.sh"),
      bash("jq -c '[.hook_event_name, .subagent_type, .task, .summary]' >> log", "true")
    )
    write(
      join(home, ".cursor/hooks.json"),
      file({
        subagentStart: [{ command: `${path}; echo '{}'` }, {
          command: "echo 'no shells' >&2; exit 2",
          matcher: "^shell$"
        }],
        subagentStop: [{ command: path }]
      })
    )
    const worker = (name: string) => createAgent({ name, provider: scripted([{ text: "found" }]).provider, cwd })
    const { provider } = scripted([
      calls(["ask_explore", { message: "look" }]),
      calls(["ask_shell", { message: "do" }]),
      { text: "end" }
    ])
    await using agent = createAgent({
      provider,
      cwd,
      hooks: load().hooks,
      tools: ["explore", "shell"].map((name) =>
        agentTool({ name: `ask_${name}`, description: name, agent: worker(name) })
      )
    })
    const { messages } = await agent.run("go")
    const results = messages.filter(({ role }) => role === "tool").map(text)
    assert.strictEqual(results[0], "found")
    assert.match(results[1]!, /no shells/)
  })

  it("with the type prompt ask a model", async () => {
    const world = start("cursor", {
      "README.md": "",
      "~/.cursor/hooks.json": file({ beforeShellExecution: [{ type: "prompt", prompt: "Is it safe? $ARGUMENTS" }] })
    }, [calls(["bash", { command: "rm -rf /" }]), { text: "{\"ok\": false, \"reason\": \"it is not\"}" }, {
      text: "end"
    }])
    const { messages } = await world.agent.run("go")
    await world.agent.close()
    assert.deepEqual(world.did, [])
    assert.strictEqual(text(messages.find(({ role }) => role === "tool")!), "it is not")
  })
})
