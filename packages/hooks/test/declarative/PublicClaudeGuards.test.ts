/** Guards as people publish them: each script with the decision that Claude Code takes. */
import { assert, describe, it } from "@effect/vitest"
import { type Call, command, decide } from "./publicworld.ts"

interface Case {
  readonly what: string
  /** The script of a file, or a line of the settings. */
  readonly script?: string
  readonly line?: string
  readonly entry?: object
  readonly file?: string
  readonly files?: { readonly [path: string]: string }
  readonly matcher?: string
  readonly call?: Call
  /** `ran` as it was, with these arguments, or why it did not. */
  readonly then: "ran" | { readonly [argument: string]: unknown } | RegExp | readonly ["asked" | "stopped", RegExp]
  readonly warning?: RegExp
  readonly notice?: string
  readonly heard?: string
}

const bash = (line: string): Call => ["Bash", { command: line }]
const deny = (reason: string, more: object = {}) =>
  JSON.stringify({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason },
    ...more
  })

/** Sees to it that what is not installed is not found. */
const without = (program: string) => `mkdir -p /tmp/none && PATH=/tmp/none ${program}`

const judge = async ({ call, entry, file = "guard", files = {}, heard, line, matcher, notice, script, then, warning, what }: Case) => {
  const at = `.claude/hooks/${file}`
  const found = await decide({
    hooks: [command(line ?? `"$CLAUDE_PROJECT_DIR"/${at}`, { timeout: 30, ...entry })],
    files: { ...files, ...(script === undefined ? {} : { [at]: script }) },
    ...(matcher === undefined ? {} : { matcher }),
    ...(call === undefined ? {} : { call })
  })
  const all = JSON.stringify({ ...found, heard: undefined })
  if (then === "ran") {
    assert.strictEqual(found.is, "ran", `${what}: ${all}`)
    assert.deepEqual(found.is === "ran" ? found.args : undefined, (call ?? bash("ls"))[1], what)
  } else if (then instanceof RegExp) {
    assert.strictEqual(found.is, "blocked", `${what}: ${all}`)
    assert.match(found.is === "blocked" ? found.reason : "", then, what)
  } else if (Array.isArray(then)) {
    assert.strictEqual(found.is, then[0], `${what}: ${all}`)
    assert.match("reason" in found ? found.reason : "", then[1] as RegExp, what)
  } else assert.deepEqual(found.is === "ran" ? found.args : found, then as never, `${what}: ${all}`)
  if (warning === undefined) assert.deepEqual(found.warnings, [], what)
  else assert.match(found.warnings.join("\n"), warning, what)
  assert.deepEqual(found.notices, notice === undefined ? [] : [notice], what)
  if (heard !== undefined) assert.include(found.heard, heard, what)
}

const group = (title: string, cases: ReadonlyArray<Case>) =>
  describe(title, () => {
    for (const one of cases) it(one.what, { timeout: 60_000 }, () => judge(one))
  })

group("guards in bash", [
  {
    what: "jq and grep in one line, which block by exit code",
    line:
      `jq -r '.tool_input.command' | grep -qE '(^|[;&| ])rm +-[a-zA-Z]*r' && { echo 'rm -r is not allowed here' >&2; exit 2; } || exit 0`,
    call: bash("ls && rm -rf build"),
    then: /^rm -r is not allowed here$/
  },
  {
    what: "the same line lets others pass",
    line:
      `jq -r '.tool_input.command' | grep -qE '(^|[;&| ])rm +-[a-zA-Z]*r' && { echo 'rm -r is not allowed here' >&2; exit 2; } || exit 0`,
    then: "ran"
  },
  {
    what: "jq that is not installed ends with 127, which blocks nothing",
    line: `${without("jq")} -r '.tool_input.command'`,
    call: bash("rm -rf /"),
    then: "ran",
    warning: /ended with 127/
  },
  {
    what: "a strict script whose jq is not installed blocks nothing",
    script: `#!/bin/bash
set -euo pipefail
export PATH=/tmp/none
INPUT="$(</dev/stdin)"
COMMAND=$(printf '%s' "$INPUT" | jq -r '.tool_input.command // empty')
[[ "$COMMAND" == *rm* ]] && exit 2
exit 0
`,
    call: bash("rm x"),
    then: "ran",
    warning: /ended with 127.*jq/
  },
  {
    what: "grep that ends a strict script with 1 blocks nothing",
    script: `#!/usr/bin/env bash
set -euo pipefail
cmd=$(jq -r .tool_input.command)
echo "$cmd" | grep -q 'sudo'
echo 'no sudo' >&2
exit 2
`,
    then: "ran",
    warning: /ended with 1/
  },
  {
    what: "one that goes through a list of patterns",
    script: `#!/usr/bin/env bash
set -euo pipefail
input=$(cat)
tool=$(jq -r '.tool_name' <<<"$input")
[[ "$tool" == "Bash" ]] || exit 0
cmd=$(jq -r '.tool_input.command' <<<"$input")
declare -a deny=('git reset --hard' 'git clean -f' 'git checkout -- ' 'git push --force')
for p in "\${deny[@]}"; do
  if [[ "$cmd" == *"$p"* ]]; then
    printf '⛔ BLOCKED: "%s" matches "%s".\\n' "$cmd" "$p" >&2
    printf 'Ask the user to run it.\\n' >&2
    exit 2
  fi
done
`,
    call: bash("git push --force origin main"),
    then: /^⛔ BLOCKED: "git push --force origin main" matches "git push --force"\.\nAsk the user to run it\.$/
  },
  {
    what: "JSON from a heredoc, pretty-printed, with keys nobody knows",
    script: `#!/bin/bash
cat <<EOF
{
  "version": 2,
  "hookSpecificOutput": {
    "hookEventName": "PreToolUse",
    "permissionDecision": "deny",
    "permissionDecisionReason": "Use rg instead of grep 🚫",
    "note": "x"
  }
}
EOF
`,
    call: bash("grep -r x ."),
    then: /^Use rg instead of grep 🚫$/
  },
  {
    what: "JSON that jq writes",
    script: `#!/bin/bash
CMD=$(jq -r '.tool_input.command')
if echo "$CMD" | grep -qE '^(npm|yarn) '; then
  jq -n --arg cmd "$CMD" '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: ("use pnpm, not: " + $cmd)}}'
fi
`,
    call: bash("npm install"),
    then: /^use pnpm, not: npm install$/
  },
  {
    what: "the old words: block",
    line: `cat >/dev/null; echo '{"decision":"block","reason":"not during the freeze"}'`,
    then: /^not during the freeze$/
  },
  { what: "the old words: approve", line: `echo '{"decision":"approve","reason":"safe"}'`, then: "ran" },
  {
    what: "continue: false ends the turn, before any other decision",
    line: `echo '{"continue":false,"stopReason":"budget is used up","decision":"approve"}'`,
    then: ["stopped", /budget is used up/]
  },
  { what: "exit 2 without a word", line: "exit 2", then: /./ },
  {
    what: "exit 2 with JSON that allows blocks all the same",
    line: `echo '{"decision":"approve"}'; echo 'still no' >&2; exit 2`,
    then: /^still no$/
  },
  {
    what: "exit 2 with JSON that denies gives the JSON's reason",
    line: `echo '${deny("from JSON")}'; echo 'from stderr' >&2; exit 2`,
    then: /^from JSON$/
  },
  { what: "exit 2 with broken JSON", line: `echo '{"decision":'; echo 'from stderr' >&2; exit 2`, then: /^from stderr$/ },
  {
    what: "exit 2 with text on standard output only does not show it as the reason",
    line: "echo 'blocked on stdout'; exit 2",
    then: /^(?!blocked on stdout)/
  },
  {
    what: "exit 1 after JSON that denies: the JSON decides",
    line: `echo '${deny("said before the crash")}'; exit 1`,
    then: /^said before the crash$/
  },
  {
    what: "exit 1 with a message is an error that blocks nothing",
    line: "echo 'not allowed' >&2; exit 1",
    then: "ran",
    warning: /not allowed/
  },
  { what: "exit 255 blocks nothing", line: "exit 255", then: "ran", warning: /ended with 255/ },
  { what: "false && exit 2", line: "false && exit 2", then: "ran", warning: /ended with 1/ },
  { what: "a log before JSON makes it text", line: `echo 'checking...'; echo '${deny("never read")}'`, then: "ran" },
  { what: "text after JSON makes it text", line: `echo '${deny("never read")}'; echo done`, then: "ran" },
  { what: "two JSON objects are text", line: `echo '{"suppressOutput":true}'; echo '${deny("never read")}'`, then: "ran" },
  { what: "a list is text", line: `echo '[${deny("never read")}]'`, then: "ran" },
  { what: "logs on standard error beside JSON", line: `echo 'debug: checking' >&2; echo '${deny("read")}'`, then: /^read$/ },
  { what: "line breaks and spaces before JSON", line: `printf '\\n\\n   %s\\r\\n\\r\\n' '${deny("read")}'`, then: /^read$/ },
  { what: "JSON after a byte order mark", line: `printf '\\xef\\xbb\\xbf%s' '${deny("read")}'`, then: /^read$/ },
  {
    what: "does not read its input at all",
    line: "exec 0<&-; echo 'closed' >&2; exit 2",
    call: ["Write", { file_path: "/tmp/x", content: "x".repeat(300_000) }],
    then: /^closed$/
  },
  {
    what: "reads its input twice: the second time there is nothing",
    script: `#!/bin/bash
tool=$(jq -r .tool_name)
cmd=$(jq -r .tool_input.command)
[ "$cmd" = "ls" ] && exit 2
exit 0
`,
    then: "ran"
  },
  {
    what: "opens /dev/stdin and /dev/stderr by their names",
    script: `#!/bin/bash
set -euo pipefail
INPUT=$(cat /dev/stdin)
if [ "$(jq -r .tool_input.command <<<"$INPUT")" = ls ]; then
  echo "🚫 blocked" | tee /dev/stderr > /dev/null
  echo "by name" > /dev/stderr
  exit 2
fi
`,
    then: /^🚫 blocked\nby name$/
  },
  {
    what: "writes JSON to /dev/stdout, from what node reads as /dev/stdin",
    line:
      `node -e 'const i = JSON.parse(require("fs").readFileSync("/dev/stdin", "utf8")); console.log(JSON.stringify({ decision: "block", reason: i.hook_event_name }))' > /dev/stdout`,
    then: /^PreToolUse$/
  },
  {
    what: "reads its input late",
    line: "sleep 0.2; jq -e '.tool_input.command == \"ls\"' >/dev/null && { echo late >&2; exit 2; }",
    then: /^late$/
  },
  {
    what: "reads its input line by line",
    line: "while IFS= read -r line; do case \"$line\" in *'\"tool_name\":\"Bash\"'*) echo 'read it' >&2; exit 2;; esac; done",
    then: /^read it$/
  },
  {
    what: "leaves something in the background that keeps the pipes open",
    line: "(sleep 30; echo late) & echo 'at once' >&2; exit 2",
    then: /^at once$/
  },
  {
    what: "says much more than anybody reads, and blocks all the same",
    line: "head -c 10000000 /dev/zero | tr '\\0' x; echo 'tests failed' >&2; exit 2",
    then: /^tests failed$/
  },
  {
    what: "says much more than anybody reads, and blocks nothing",
    line: "head -c 10000000 /dev/zero | tr '\\0' x",
    then: "ran",
    warning: /too much/
  },
  {
    what: "an unquoted folder with a space in it is not found",
    line: "$CLAUDE_PROJECT_DIR/.claude/hooks/guard",
    script: "#!/bin/sh\nexit 2\n",
    then: "ran",
    warning: /127/
  },
  { what: "a path relative to the project", line: ".claude/hooks/guard", script: "#!/bin/sh\nexit 2\n", then: /./ },
  { what: "bash and a path", line: "bash .claude/hooks/guard", script: "echo 'by bash' >&2\nexit 2\n", then: /^by bash$/ },
  { what: "a file that may not be executed ends with 126", script: "echo no; exit 2\n", then: "ran", warning: /ended with 126/ },
  {
    what: "cd to the project first",
    line: "cd \"$CLAUDE_PROJECT_DIR\" && ./.claude/hooks/guard",
    script: "#!/bin/sh\necho \"$(basename \"$PWD\")\" >&2\nexit 2\n",
    then: /^my project$/
  },
  {
    what: "a file in the home folder",
    line: "~/.claude/hooks/guard",
    files: { "~/.claude/hooks/guard": "#!/bin/sh\necho \"home\" >&2\nexit 2\n" },
    then: /^home$/
  },
  {
    what: "$HOME",
    line: "\"$HOME/.claude/hooks/guard\"",
    files: { "~/.claude/hooks/guard": "#!/bin/sh\necho \"home\" >&2\nexit 2\n" },
    then: /^home$/
  },
  {
    what: "windows line ends in the script are not found",
    script: "#!/bin/bash\r\nexit 2\r\n",
    then: "ran",
    warning: /ended with (?:127|126)/
  },
  {
    what: "a plugin's folder with a default of its own",
    line: "\"${CLAUDE_PLUGIN_ROOT:-$CLAUDE_PROJECT_DIR/.claude}/hooks/guard\"",
    script: "#!/bin/sh\necho 'the default' >&2\nexit 2\n",
    then: /^the default$/
  },
  {
    what: "colours in a strict script need a terminal's name, whatever the host has",
    script: "#!/usr/bin/env bash\nset -e\nBOLD=$(tput sgr0)\nexit 0\n",
    then: "ran"
  },
  {
    what: "bash's own words",
    line: "if [[ $(jq -r .tool_input.command) =~ ^l[a-z]$ ]]; then echo \"${BASH_REMATCH[0]} is ours\" >&2; exit 2; fi",
    then: /^ls is ours$/
  },
  {
    what: "takes too long: no decision",
    line: "sleep 20; exit 2",
    entry: { timeout: 0.3 },
    then: "ran",
    warning: /too long/
  }
])

group("guards in other languages", [
  {
    what: "python3 -c in one line",
    line:
      `python3 -c "import json, sys; data=json.load(sys.stdin); path=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if any(p in path for p in ['.env', 'package-lock.json', '.git/']) else 0)"`,
    call: ["Write", { file_path: "/p/.env.local", content: "" }],
    then: /./
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
    then: /^• Use 'rg --files -g pattern' instead of 'find -name'$/
  },
  {
    what: "python that breaks ends with 1, which blocks nothing",
    line: "python3 -c \"import json,sys; json.load(sys.stdin)['tool_input']['file_path']\"",
    then: "ran",
    warning: /Traceback|KeyError/
  },
  {
    what: "python asks for a file that is not there and ends with 2, which blocks",
    line: "python3 .claude/hooks/not-there.py",
    then: /can't open file/
  },
  {
    what: "a shebang whose program is not installed",
    file: "uv.py",
    script:
      "#!/usr/bin/env -S uv-that-is-not-there run --script\n# /// script\n# requires-python = \">=3.11\"\n# ///\nimport sys\nsys.exit(2)\n",
    then: "ran",
    warning: /127/
  },
  {
    what: "uv run that is not installed",
    line: "uv-that-is-not-there run \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/pre_tool_use.py",
    then: "ran",
    warning: /ended with 127.*not found/
  },
  {
    what: "node -e",
    line:
      `node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>{const i=JSON.parse(s);if(/\\.(lock|min\\.js)$/.test(i.tool_input.file_path||"")){console.error("generated: "+i.tool_input.file_path);process.exit(2)}})'`,
    call: ["Edit", { file_path: "/p/yarn.lock", old_string: "a", new_string: "b" }],
    then: /^generated: \/p\/yarn\.lock$/
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
    then: /^Secret in \/p\/a\.ts$/,
    notice: "A secret was about to be written"
  },
  {
    what: "node reads /dev/stdin",
    line: `cat | node -e 'if (JSON.parse(require("fs").readFileSync("/dev/stdin")).tool_name === "Bash") process.exit(2)'`,
    then: /./
  },
  {
    what: "perl",
    line: `perl -0777 -ne 'if (/"command":"ls"/) { print STDERR "perl says no\\n"; exit 2 }'`,
    then: /^perl says no$/
  },
  {
    what: "sed, as POSIX sh has it",
    script:
      "#!/bin/sh\nc=$(sed -n 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/p')\n[ \"$c\" = ls ] || exit 0\necho \"sed read $c\" >&2\nexit 2\n",
    then: /^sed read ls$/
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
    then: /^Create a feature branch first$/
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
    then: /^Write tests\/test_app\.py first$/
  }
])

group("decisions by JSON", [
  {
    what: "ask",
    line:
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"touches production"}}'`,
    then: ["asked", /touches production/]
  },
  {
    what: "allow",
    line:
      `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"read only"},"suppressOutput":true}'`,
    then: "ran"
  },
  {
    what: "allow with a new input, from python",
    line:
      `python3 -c "import json,sys; d=json.load(sys.stdin); d['tool_input']['command']+=' --dry-run'; print(json.dumps({'hookSpecificOutput':{'hookEventName':'PreToolUse','permissionDecision':'allow','updatedInput':d['tool_input']}}))"`,
    call: ["Bash", { command: "deploy", description: "Deploys", timeout: 5 }],
    then: { command: "deploy --dry-run", description: "Deploys", timeout: 5 }
  },
  {
    what: "a new input without a decision",
    line:
      `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", updatedInput: (.tool_input + {command: ("rtk " + .tool_input.command)})}}'`,
    then: { command: "rtk ls" }
  },
  {
    what: "a new input replaces all of it",
    line: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}}'`,
    call: ["Bash", { command: "ls", timeout: 5 }],
    then: { command: "pwd" }
  },
  {
    what: "a new input comes back under the tool's own names",
    line:
      `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: (.tool_input | .command |= sub("npm"; "pnpm"))}}'`,
    call: ["run_command", { cmd: "npm test", cwd: "/x" }],
    matcher: "Bash",
    then: { cmd: "pnpm test", cwd: "/x" }
  },
  {
    what: "context for the model, a message for the user",
    line:
      `echo '{"systemMessage":"noted","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"This repository uses pnpm."}}'`,
    then: "ran",
    notice: "noted",
    heard: "This repository uses pnpm."
  },
  {
    what: "deny without a reason",
    line: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'`,
    then: /./
  },
  { what: "an empty object", line: "echo '{}'", then: "ran" },
  { what: "continue: true", line: `echo '{"continue":true,"suppressOutput":true}'`, then: "ran" },
  {
    what: "null in every place",
    line: `echo '{"decision":null,"reason":null,"continue":null,"systemMessage":null,"hookSpecificOutput":null}'`,
    then: "ran"
  },
  {
    what: "decision undefined, as old examples have it, with a reason",
    line: `echo '{"decision":"undefined","reason":"x"}'`,
    then: "ran",
    warning: /decision does not count/
  }
])
