/**
 * Guards in several languages, and their answers in JSON, as people publish them: each with the decision that Claude
 * Code takes.
 */
import { bash, group } from "../../../support/publicCases.ts"

group("guards in other languages", [
  {
    what: "python3 -c in one line",
    line:
      `python3 -c "import json, sys; data=json.load(sys.stdin); path=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if any(p in path for p in ['.env', 'package-lock.json', '.git/']) else 0)"`,
    call: ["Write", { file_path: "/p/.env.local", content: "" }],
    decision: /./
  },
  {
    what: "a python script with a table of rules",
    file: "validate.py",
    script: `#!/usr/bin/env python3
import json
import re
import sys

RULES = [
    (r"^grep\\b(?!.*\\|)", "Use 'rg' (ripgrep) instead of 'grep'"),
    (r"^find\\s+\\S+\\s+-name\\b", "Use 'rg --files -g pattern' instead of 'find -name'"),
]

def validate(command: str) -> list[str]:
    return [message for pattern, message in RULES if re.search(pattern, command)]

try:
    input_data = json.load(sys.stdin)
except json.JSONDecodeError as e:
    print(f"Error: {e}", file=sys.stderr)
    sys.exit(1)
if input_data.get("tool_name", "") != "Bash":
    sys.exit(0)
issues = validate(input_data.get("tool_input", {}).get("command", ""))
if issues:
    for message in issues:
        print(f"• {message}", file=sys.stderr)
    sys.exit(2)
`,
    call: bash("find . -name '*.ts'"),
    decision: /^• Use 'rg --files -g pattern' instead of 'find -name'$/
  },
  {
    what: "python that breaks ends with 1, which blocks nothing",
    line: "python3 -c \"import json,sys; json.load(sys.stdin)['tool_input']['file_path']\"",
    decision: "ran",
    warning: /Traceback|KeyError/
  },
  {
    what: "python asks for a file that is not there and ends with 2, which blocks",
    line: "python3 .claude/hooks/not-there.py",
    decision: /can't open file/
  },
  {
    what: "a shebang whose program is not installed",
    file: "uv.py",
    script:
      "#!/usr/bin/env -S uv-that-is-not-there run --script\n# /// script\n# requires-python = \">=3.11\"\n# ///\nimport sys\nsys.exit(2)\n",
    decision: "ran",
    warning: /127/
  },
  {
    what: "uv run that is not installed",
    line: "uv-that-is-not-there run \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/pre_tool_use.py",
    decision: "ran",
    warning: /ended with 127.*not found/
  },
  {
    what: "node -e",
    line:
      `node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>{const i=JSON.parse(s);if(/\\.(lock|min\\.js)$/.test(i.tool_input.file_path||"")){console.error("generated: "+i.tool_input.file_path);process.exit(2)}})'`,
    call: ["Edit", { file_path: "/p/yarn.lock", old_string: "a", new_string: "b" }],
    decision: /^generated: \/p\/yarn\.lock$/
  },
  {
    what: "node reads file descriptor 0, and answers with JSON",
    file: "guard.cjs",
    script: `#!/usr/bin/env node
const fs = require("fs");
const input = JSON.parse(fs.readFileSync(0, "utf-8"));
const secret = /(AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----|ghp_[A-Za-z0-9]{36})/;
const text = [input.tool_input.content, input.tool_input.new_string, ...(input.tool_input.edits || []).map(e => e.new_string)].filter(Boolean).join("\\n");
if (secret.test(text)) {
  console.log(JSON.stringify({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: \`Secret in \${input.tool_input.file_path}\` },
    systemMessage: "A secret was about to be written",
  }, null, 2));
}
`,
    call: ["MultiEdit", { file_path: "/p/a.ts", edits: [{ old_string: "a", new_string: "AKIAABCDEFGHIJKLMNOP" }] }],
    decision: /^Secret in \/p\/a\.ts$/,
    notice: "A secret was about to be written"
  },
  {
    what: "node reads /dev/stdin",
    line:
      `cat | node -e 'if (JSON.parse(require("fs").readFileSync("/dev/stdin")).tool_name === "Bash") process.exit(2)'`,
    decision: /./
  },
  {
    what: "perl",
    line: `perl -0777 -ne 'if (/"command":"ls"/) { print STDERR "perl says no\\n"; exit 2 }'`,
    decision: /^perl says no$/
  },
  {
    what: "sed, as POSIX sh has it",
    script:
      "#!/bin/sh\nc=$(sed -n 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/p')\n[ \"$c\" = ls ] || exit 0\necho \"sed read $c\" >&2\nexit 2\n",
    decision: /^sed read ls$/
  },
  {
    what: "the branch protector: no edits on main",
    line:
      `[ "$(git symbolic-ref --short HEAD 2>/dev/null)" != "main" ] || { echo '{"decision":"block","reason":"Create a feature branch first"}'; exit 0; }`,
    files: {
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": "[core]\n\trepositoryformatversion = 0\n",
      ".git/objects/.keep": "",
      ".git/refs/.keep": ""
    },
    call: ["Edit", { file_path: "a.ts", old_string: "a", new_string: "b" }],
    decision: /^Create a feature branch first$/
  },
  {
    what: "the TDD guard: no code before its test",
    file: "tdd.py",
    script: `#!/usr/bin/env python3
import json, os, sys
d = json.load(sys.stdin)
p = d["tool_input"].get("file_path", "")
if p.endswith(".py") and "/src/" in p:
    t = os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "tests", "test_" + os.path.basename(p))
    if not os.path.exists(t):
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
              "permissionDecisionReason": "Write " + os.path.relpath(t, d["cwd"]) + " first"}}))
`,
    call: ["write_file", { path: "src/app.py", content: "x = 1" }],
    matcher: "Write|Edit|MultiEdit",
    decision: /^Write tests\/test_app\.py first$/
  }
])

group("decisions by JSON", [
  {
    what: "ask",
    line:
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"touches production"}}'`,
    decision: ["asked", /touches production/]
  },
  {
    what: "allow",
    line:
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"read only"},"suppressOutput":true}'`,
    decision: "ran"
  },
  {
    what: "allow with a new input, from python",
    line:
      `python3 -c "import json,sys; d=json.load(sys.stdin); d['tool_input']['command']+=' --dry-run'; print(json.dumps({'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'allow','updatedInput':d['tool_input']}}))"`,
    call: ["Bash", { command: "deploy", description: "Deploys", timeout: 5 }],
    decision: { command: "deploy --dry-run", description: "Deploys", timeout: 5 }
  },
  {
    what: "a new input without a decision",
    line:
      `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", updatedInput: (.tool_input + {command: ("rtk " + .tool_input.command)})}}'`,
    decision: { command: "rtk ls" }
  },
  {
    what: "a new input replaces all of it",
    line: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}}'`,
    call: ["Bash", { command: "ls", timeout: 5 }],
    decision: { command: "pwd" }
  },
  {
    what: "a new input comes back under the tool's own names",
    line:
      `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: (.tool_input | .command |= sub("npm"; "pnpm"))}}'`,
    call: ["run_command", { cmd: "npm test", cwd: "/x" }],
    matcher: "Bash",
    decision: { cmd: "pnpm test", cwd: "/x" }
  },
  {
    what: "context for the model, a message for the user",
    line:
      `echo '{"systemMessage":"noted","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"This repository uses pnpm."}}'`,
    decision: "ran",
    notice: "noted",
    heard: "This repository uses pnpm."
  },
  {
    what: "deny without a reason",
    line: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'`,
    decision: /./
  },
  { what: "an empty object", line: "echo '{}'", decision: "ran" },
  { what: "continue: true", line: `echo '{"continue":true,"suppressOutput":true}'`, decision: "ran" },
  {
    what: "null in every place",
    line: `echo '{"decision":null,"reason":null,"continue":null,"systemMessage":null,"hookSpecificOutput":null}'`,
    decision: "ran"
  },
  {
    what: "decision undefined, as old examples have it, with a reason",
    line: `echo '{"decision":"undefined","reason":"x"}'`,
    decision: "ran",
    warning: /decision does not count/
  }
])
