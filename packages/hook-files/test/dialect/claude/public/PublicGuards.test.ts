/** Guards in bash as people publish them: each with the decision that Claude Code takes. */
import { bash, deny, group } from "../../../support/publicCases.ts"

/** Sees to it that what is not installed is not found. */
const without = (program: string) => `mkdir -p /tmp/none && PATH=/tmp/none ${program}`

group("guards in bash", [
  {
    what: "jq and grep in one line, which block by exit code",
    line:
      `jq -r '.tool_input.command' | grep -qE '(^|[;&| ])rm +-[a-zA-Z]*r' && { echo 'rm -r is not allowed here' >&2; exit 2; } || exit 0`,
    call: bash("ls && rm -rf build"),
    decision: /^rm -r is not allowed here$/
  },
  {
    what: "the same line lets others pass",
    line:
      `jq -r '.tool_input.command' | grep -qE '(^|[;&| ])rm +-[a-zA-Z]*r' && { echo 'rm -r is not allowed here' >&2; exit 2; } || exit 0`,
    decision: "ran"
  },
  {
    what: "jq that is not installed ends with 127, which blocks nothing",
    line: `${without("jq")} -r '.tool_input.command'`,
    call: bash("rm -rf /"),
    decision: "ran",
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
    decision: "ran",
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
    decision: "ran",
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
    decision: /^⛔ BLOCKED: "git push --force origin main" matches "git push --force"\.\nAsk the user to run it\.$/
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
    decision: /^Use rg instead of grep 🚫$/
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
    decision: /^use pnpm, not: npm install$/
  },
  {
    what: "the old words: block",
    line: `cat >/dev/null; echo '{"decision":"block","reason":"not during the freeze"}'`,
    decision: /^not during the freeze$/
  },
  { what: "the old words: approve", line: `echo '{"decision":"approve","reason":"safe"}'`, decision: "ran" },
  {
    what: "continue: false ends the turn, before any other decision",
    line: `echo '{"continue":false,"stopReason":"budget is used up","decision":"approve"}'`,
    decision: ["stopped", /budget is used up/]
  },
  { what: "exit 2 without a word", line: "exit 2", decision: /./ },
  {
    what: "exit 2 with JSON that allows blocks all the same",
    line: `echo '{"decision":"approve"}'; echo 'still no' >&2; exit 2`,
    decision: /^still no$/
  },
  {
    what: "exit 2 with JSON that denies gives the JSON's reason",
    line: `echo '${deny("from JSON")}'; echo 'from stderr' >&2; exit 2`,
    decision: /^from JSON$/
  },
  {
    what: "exit 2 with broken JSON",
    line: `echo '{"decision":'; echo 'from stderr' >&2; exit 2`,
    decision: /^from stderr$/,
    warning: /counts as text/
  },
  {
    what: "exit 2 with text on standard output only does not show it as the reason",
    line: "echo 'blocked on stdout'; exit 2",
    decision: /^(?!blocked on stdout)/
  },
  {
    what: "exit 1 after JSON that denies: the JSON decides",
    line: `echo '${deny("said before the crash")}'; exit 1`,
    decision: /^said before the crash$/
  },
  {
    what: "exit 1 with a message is an error that blocks nothing",
    line: "echo 'not allowed' >&2; exit 1",
    decision: "ran",
    warning: /not allowed/
  },
  { what: "exit 255 blocks nothing", line: "exit 255", decision: "ran", warning: /ended with 255/ },
  { what: "false && exit 2", line: "false && exit 2", decision: "ran", warning: /ended with 1/ },
  {
    what: "a log before JSON makes it text",
    line: `echo 'checking...'; echo '${deny("never read")}'`,
    decision: "ran",
    warning: /counts as text/
  },
  {
    what: "text after JSON makes it text",
    line: `echo '${deny("never read")}'; echo done`,
    decision: "ran",
    warning: /counts as text/
  },
  {
    what: "two JSON objects are text",
    line: `echo '{"suppressOutput":true}'; echo '${deny("never read")}'`,
    decision: "ran",
    warning: /counts as text/
  },
  { what: "a list is text", line: `echo '[${deny("never read")}]'`, decision: "ran", warning: /counts as text/ },
  {
    what: "logs on standard error beside JSON",
    line: `echo 'debug: checking' >&2; echo '${deny("read")}'`,
    decision: /^read$/
  },
  {
    what: "line breaks and spaces before JSON",
    line: `printf '\\n\\n   %s\\r\\n\\r\\n' '${deny("read")}'`,
    decision: /^read$/
  },
  { what: "JSON after a byte order mark", line: `printf '\\xef\\xbb\\xbf%s' '${deny("read")}'`, decision: /^read$/ },
  {
    what: "does not read its input at all",
    line: "exec 0<&-; echo 'closed' >&2; exit 2",
    call: ["Write", { file_path: "/tmp/x", content: "x".repeat(300_000) }],
    decision: /^closed$/
  },
  {
    what: "reads its input twice: the second time there is nothing",
    script: `#!/bin/bash
tool=$(jq -r .tool_name)
cmd=$(jq -r .tool_input.command)
[ "$cmd" = "ls" ] && exit 2
exit 0
`,
    decision: "ran"
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
    decision: /^🚫 blocked\nby name$/
  },
  {
    what: "writes JSON to /dev/stdout, from what node reads as /dev/stdin",
    line:
      `node -e 'const i = JSON.parse(require("fs").readFileSync("/dev/stdin", "utf8")); console.log(JSON.stringify({ decision: "block", reason: i.hook_event_name }))' > /dev/stdout`,
    decision: /^PreToolUse$/
  },
  {
    what: "reads its input late",
    line: "sleep 0.2; jq -e '.tool_input.command == \"ls\"' >/dev/null && { echo late >&2; exit 2; }",
    decision: /^late$/
  },
  {
    what: "reads its input line by line",
    line:
      "while IFS= read -r line; do case \"$line\" in *'\"tool_name\":\"Bash\"'*) echo 'read it' >&2; exit 2;; esac; done",
    decision: /^read it$/
  },
  {
    what: "leaves something in the background that keeps the pipes open",
    line: "(sleep 30; echo late) & echo 'at once' >&2; exit 2",
    decision: /^at once$/
  },
  {
    what: "says much more than anybody reads, and blocks all the same",
    line: "head -c 10000000 /dev/zero | tr '\\0' x; echo 'tests failed' >&2; exit 2",
    decision: /^tests failed$/
  },
  {
    what: "says much more than anybody reads, and blocks nothing",
    line: "head -c 10000000 /dev/zero | tr '\\0' x",
    decision: "ran",
    warning: /too much/
  },
  {
    what: "an unquoted folder with a space in it is not found",
    line: "$CLAUDE_PROJECT_DIR/.claude/hooks/guard",
    script: "#!/bin/sh\nexit 2\n",
    decision: "ran",
    warning: /127/
  },
  { what: "a path relative to the project", line: ".claude/hooks/guard", script: "#!/bin/sh\nexit 2\n", decision: /./ },
  {
    what: "bash and a path",
    line: "bash .claude/hooks/guard",
    script: "echo 'by bash' >&2\nexit 2\n",
    decision: /^by bash$/
  },
  {
    what: "a file that may not be executed ends with 126",
    script: "echo no; exit 2\n",
    decision: "ran",
    warning: /ended with 126/
  },
  {
    what: "cd to the project first",
    line: "cd \"$CLAUDE_PROJECT_DIR\" && ./.claude/hooks/guard",
    script: "#!/bin/sh\necho \"$(basename \"$PWD\")\" >&2\nexit 2\n",
    decision: /^my project$/
  },
  {
    what: "a file in the home folder",
    line: "~/.claude/hooks/guard",
    files: { "~/.claude/hooks/guard": "#!/bin/sh\necho \"home\" >&2\nexit 2\n" },
    decision: /^home$/
  },
  {
    what: "$HOME",
    line: "\"$HOME/.claude/hooks/guard\"",
    files: { "~/.claude/hooks/guard": "#!/bin/sh\necho \"home\" >&2\nexit 2\n" },
    decision: /^home$/
  },
  {
    what: "windows line ends in the script are not found",
    script: "#!/bin/bash\r\nexit 2\r\n",
    decision: "ran",
    warning: /ended with (?:127|126)/
  },
  {
    what: "a plugin's folder with a default of its own",
    line: "\"${CLAUDE_PLUGIN_ROOT:-$CLAUDE_PROJECT_DIR/.claude}/hooks/guard\"",
    script: "#!/bin/sh\necho 'the default' >&2\nexit 2\n",
    decision: /^the default$/
  },
  {
    what: "colours in a strict script need a terminal's name, whatever the host has",
    script: "#!/usr/bin/env bash\nset -e\nBOLD=$(tput sgr0)\nexit 0\n",
    decision: "ran"
  },
  {
    what: "bash's own words",
    line: "if [[ $(jq -r .tool_input.command) =~ ^l[a-z]$ ]]; then echo \"${BASH_REMATCH[0]} is ours\" >&2; exit 2; fi",
    decision: /^ls is ours$/
  },
  {
    what: "takes too long: no decision",
    line: "sleep 20; exit 2",
    entry: { timeout: 0.3 },
    decision: "ran",
    warning: /too long/
  }
])
