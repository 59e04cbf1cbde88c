/** Scripts for prompts and results as people publish them, in agents that run. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../../../test/support/agent.ts"
import { command, work } from "../../../support/publicAgent.ts"

const on = (line: string, more: object = {}, matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [command(line, more)]
})

describe("SessionStart and UserPromptSubmit", () => {
  it("load context: text, JSON, git, files, and the hour", async () => {
    const { heard, notices, warnings } = await work({
      settings: {
        hooks: {
          SessionStart: [
            on("python3 .claude/hooks/session_start.py --load-context"),
            on("echo 'only when resumed'", {}, "resume"),
            on("echo 'at startup'", {}, "startup|clear"),
            on("git log --oneline -5 2>/dev/null || true"),
            on("cat CONTRIBUTING.md; cat no-such-file.md 2>/dev/null || true"),
            on("echo '{\"systemMessage\":\"welcome back\"}'")
          ],
          UserPromptSubmit: [
            on("python3 .claude/hooks/prompt.py", {}, "ignored"),
            on("echo \"Current time: noon\""),
            on(
              "jq -c '{hookSpecificOutput: {hookEventName: .hook_event_name, additionalContext: (\"You were asked: \" + .prompt)}}'"
            ),
            on("cat > /dev/null; echo '[\"a\", \"list\"]'")
          ]
        }
      },
      files: {
        "CONTRIBUTING.md": "Use tabs.\n",
        ".claude/hooks/session_start.py": `#!/usr/bin/env python3
import argparse, json, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("--load-context", action="store_true")
args = parser.parse_args()
input_data = json.loads(sys.stdin.read())
source = input_data.get("source", "unknown")
branch = subprocess.run(["git", "rev-parse", "--abbrev-ref", "HEAD"], capture_output=True, text=True).stdout.strip()
if args.load_context:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": f"Session started by {source} on '{branch}'"}}))
sys.exit(0)
`,
        ".claude/hooks/prompt.py": `import json, sys
data = json.load(sys.stdin)
print(f"<context>{len(data['prompt'])} characters, in {data['cwd'].split('/')[-1]} 🎉</context>")
`
      },
      lines: [{ text: "hello" }]
    })
    const text = heard(0)
    for (
      const part of [
        "Session started by startup on ''",
        "at startup",
        "Use tabs.",
        "<context>2 characters, in my project 🎉</context>",
        "Current time: noon",
        "You were asked: go",
        "[\"a\", \"list\"]"
      ]
    ) assert.include(text, part)
    assert.notInclude(text, "only when resumed")
    assert.deepEqual([notices, warnings], [["welcome back"], []])
  })

  it("refuse prompts by exit code, by JSON and by continue", async () => {
    const { requests, results } = await work({
      settings: {
        hooks: {
          UserPromptSubmit: [
            on("python3 .claude/hooks/validate.py"),
            on(
              "jq -e '.prompt | test(\"deploy\")' > /dev/null && echo '{\"decision\":\"block\",\"reason\":\"Deploys are frozen\"}'; exit 0"
            ),
            on(
              "grep -q '\"prompt\":\"stop everything\"' && echo '{\"continue\":false,\"stopReason\":\"as you wish\"}'; true"
            )
          ]
        }
      },
      files: {
        ".claude/hooks/validate.py": `import json, re, sys
prompt = json.load(sys.stdin).get("prompt", "")
for pattern, message in [(r"(?i)\\b(password|secret|api[_-]?key)\\s*[:=]\\s*\\S+", "Prompt contains a secret")]:
    if re.search(pattern, prompt):
        print(f"Security policy violation: {message}", file=sys.stderr)
        sys.exit(2)
`
      },
      lines: [{ text: "hello" }],
      prompts: ["my API_KEY=abc", "deploy it", "stop everything", "hello"]
    })
    assert.lengthOf(requests, 1)
    assert.include(JSON.stringify(results[0]), "HookRejected")
    assert.include(JSON.stringify(results[0]), "Security policy violation: Prompt contains a secret")
    assert.include(JSON.stringify(results[1]), "Deploys are frozen")
    assert.include(JSON.stringify(results[2]), "as you wish")
    assert.deepInclude(results[3], { status: "completed", text: "hello" })
    assert.notInclude(requests[0]!.messages.map((message) => JSON.stringify(message)).join(), "API_KEY")
  })
})

describe("PostToolUse", () => {
  it("formats, lints, tests, logs and tells the model", async () => {
    const { cwd, heard, said, warnings } = await work({
      settings: {
        hooks: {
          PostToolUse: [
            on(
              "jq -r '.tool_input.file_path' | { read file_path; if echo \"$file_path\" | grep -q '\\.ts$'; then echo \"$file_path\" >> formatted; fi; }",
              {},
              "Edit|Write"
            ),
            on(
              "f=$(jq -r '.tool_input.file_path // .tool_response.filePath'); case \"$f\" in *.json) python3 -m json.tool \"$f\" > /dev/null || { echo \"$f is no JSON\" >&2; exit 2; };; esac",
              {},
              "Edit|MultiEdit|Write"
            ),
            on(
              "jq -c 'if .tool_response.success == false then empty elif (.tool_input.file_path | endswith(\".py\")) then {decision: \"block\", reason: \"E501 line too long\"} else empty end'",
              {},
              "Write"
            ),
            on("jq -r '\"\\(.tool_input.command) - \\(.tool_response.stdout)\"' >> bash-command-log.txt", {}, "Bash"),
            on(
              "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"Remember to commit.\"}}'",
              {},
              "Edit"
            ),
            on(
              "jq -c '{hookSpecificOutput: {hookEventName: \"PostToolUse\", updatedMCPToolOutput: (.tool_response | tostring | gsub(\"secret-[a-z]+\"; \"***\"))}}'",
              {},
              "mcp__.*"
            ),
            on("echo 'lint failed'; exit 1", {}, "NotebookEdit")
          ],
          PostToolUseFailure: [
            on(
              "jq -c '{hookSpecificOutput: {hookEventName: \"PostToolUseFailure\", additionalContext: (\"It failed: \" + .error)}}'"
            )
          ]
        }
      },
      files: { "bad.json": "{", "good.json": "{}" },
      answers: { Bash: "one\ntwo", mcp__db__query: "row secret-abc", Grep: new Error("no such folder") },
      lines: [
        calls(["Write", { file_path: "a.ts", content: "" }]),
        calls(["write_file", { path: "bad.json", content: "{" }]),
        calls(["Edit", { file_path: "good.json", old_string: "a", new_string: "b" }]),
        calls(["Write", { file_path: "a.py", content: "" }]),
        calls(["Bash", { command: "ls" }]),
        calls(["mcp__db__query", { sql: "select" }]),
        calls(["NotebookEdit", { notebook_path: "a.ipynb", new_source: "" }]),
        calls(["Grep", { pattern: "x" }])
      ]
    })
    assert.strictEqual(readFileSync(join(cwd, "formatted"), "utf8"), `${join(cwd, "a.ts")}\n`)
    assert.strictEqual(readFileSync(join(cwd, "bash-command-log.txt"), "utf8"), "ls - one\ntwo\n")
    assert.include(heard(2), `${join(cwd, "bad.json")} is no JSON`)
    assert.include(heard(3), "Remember to commit.")
    assert.notInclude(heard(3), "good.json is no JSON")
    assert.include(heard(4), "E501 line too long")
    assert.include(said[5]!, "row ***")
    assert.include(heard(8), "It failed: no such folder")
    assert.match(warnings.join("\n"), /ended with 1/)
  })

  it("remembers in files beside its scripts what was edited, until the agent stops", async () => {
    const { cwd, heard, requests, warnings } = await work({
      settings: {
        hooks: {
          PostToolUse: [
            on("python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/track.py", {}, "Edit|Write"),
            on("touch .claude/.dirty", {}, "Edit|Write")
          ],
          Stop: [
            on(
              "[ -f .claude/.dirty ] || exit 0; rm -f .claude/.dirty; .claude/hooks/review.sh"
            )
          ]
        }
      },
      files: {
        ".claude/hooks/review.sh":
          "#!/usr/bin/env bash\njq -r '.files[]' \"$(dirname \"$0\")/edits-state.json\" | sed 's/^/Review /' >&2\nexit 2\n",
        ".claude/hooks/lib/__init__.py": "",
        ".claude/hooks/lib/store.py":
          "import json\n\ndef load(path):\n    try:\n        return json.load(open(path))\n    except FileNotFoundError:\n        return {'files': []}\n",
        ".claude/hooks/track.py": `import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib.store import load
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "edits-state.json")
state = load(path)
name = os.path.relpath(json.load(sys.stdin)["tool_input"]["file_path"], os.environ["CLAUDE_PROJECT_DIR"])
if name not in state["files"]:
    state["files"].append(name)
with open(path, "w") as f:
    json.dump(state, f, indent=2)
`
      },
      lines: [calls(["Write", { file_path: "a.ts", content: "" }]), calls(["Edit", { file_path: "b.ts" }]), {
        text: "done"
      }, {
        text: "reviewed"
      }]
    })
    assert.deepEqual(warnings, [])
    assert.lengthOf(requests, 4)
    assert.include(heard(3), "Review a.ts\nReview b.ts")
    assert.isFalse(existsSync(join(cwd, ".claude/.dirty")))
  })

  it("gives the model another result, as the tool would have", async () => {
    const { said } = await work({
      settings: {
        hooks: {
          PostToolUse: [
            on(
              "jq -c '{hookSpecificOutput: {hookEventName: \"PostToolUse\", updatedToolOutput: (.tool_response | .stdout |= gsub(\"hunter2\"; \"[redacted]\"))}}'",
              {},
              "Bash"
            ),
            on(
              "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"updatedMCPToolOutput\":\"never\"}}'",
              {},
              "Read"
            )
          ]
        }
      },
      answers: { Bash: "password: hunter2", Read: "the file" },
      lines: [calls(["Bash", { command: "cat x" }]), calls(["Read", { file_path: "x" }])]
    })
    assert.deepEqual(said, ["password: [redacted]", "the file"])
  })

  it("ends the turn with continue: false", async () => {
    const { requests, results } = await work({
      settings: {
        hooks: { PostToolUse: [on("echo '{\"continue\":false,\"stopReason\":\"tests are red\"}'", {}, "Bash")] }
      },
      lines: [calls(["Bash", { command: "npm test" }])]
    })
    assert.lengthOf(requests, 1)
    assert.include(JSON.stringify(results[0]), "tests are red")
  })
})
