import { chmodSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { findings } from "../src/internal/files/doctor.ts"
import { guides } from "../src/internal/guides.ts"
import type { Finding } from "../src/internal/lint/finding.ts"
import { look } from "../src/internal/world.ts"
import { settings, world } from "./belay.ts"

const of = ({ cwd, home, managed }: ReturnType<typeof world>): ReadonlyArray<Finding> =>
  findings(
    look({ cwd, home, managed, dialects: [], files: [], plugins: [], off: false, systems: [] }),
    process.env["PATH"] ?? ""
  )

const rulesOf = (found: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  found.map(({ level, rule }) => `${level} ${rule}`)

/** What is said about a line of the user's, or about the script that is its only word. */
const at = (
  system: "claude" | "copilot" | "gemini" | "basecoat",
  event: string,
  text: string,
  more: object = {},
  matcher?: string
) => {
  const made = world(text.startsWith("#!") ? { "home/hook": text } : {})
  const command = text.startsWith("#!") ? join(made.home, "hook") : text
  if (text.startsWith("#!")) chmodSync(join(made.home, "hook"), 0o755)
  if (system === "claude") made.write("home/.claude/settings.json", settings(event, [{ command, ...more }], matcher))
  if (system === "gemini") made.write("home/.gemini/settings.json", settings(event, [{ command, ...more }], matcher))
  if (system === "copilot") {
    made.write("home/.copilot/hooks/a.json", { version: 1, hooks: { [event]: [{ bash: command, ...more }] } })
  }
  if (system === "basecoat") {
    made.write("project/hooks.json", { version: 1, hooks: { [event]: [{ command, ...more }] } })
  }
  return of(made).filter(({ rule }) => rule !== "untrusted")
}
const rulesAt = (...args: Parameters<typeof at>) => rulesOf(at(...args))

const kodelet = (text: string, mode = 0o755) => {
  const made = world({ "home/.kodelet/hooks/guard": text })
  chmodSync(join(made.home, ".kodelet/hooks/guard"), mode)
  return rulesOf(of(made))
}

describe("belay hooks doctor, by system", () => {
  it("has no finding for the scripts of explain", () => {
    for (const { dialect, events } of guides) {
      for (const event of events) {
        const script = guides.find((one) => one.dialect === dialect)!.script(event)
        if (!script.startsWith("#!")) continue
        const found = dialect === "kodelet"
          ? kodelet(script)
          : dialect === "codex" || dialect === "basecoat"
          ? []
          : rulesAt(
            // The other built-in systems.
            dialect as "claude" | "copilot" | "gemini",
            event.name,
            script,
            {},
            event.matcher === "tool_name" ? dialect === "gemini" ? "run_shell_command" : "Bash" : undefined
          )
        assert.deepEqual([dialect, event.name, found.filter((one) => !one.startsWith("hint"))], [
          dialect,
          event.name,
          []
        ])
      }
    }
  })

  it("says what happens in each system if an entry cannot start", () => {
    const why = (...args: Parameters<typeof at>) => at(...args)[0]?.why
    assert.include(why("claude", "PreToolUse", "/nowhere/x.sh", {}, "Bash"), "127, which blocks nothing")
    assert.include(
      why("claude", "PreToolUse", "python3 /nowhere/x.py", {}, "Bash"),
      "exits with 2, which blocks: the call is refused, each time"
    )
    assert.include(why("copilot", "preToolUse", "/nowhere/x.sh"), "blocks every call that it matches")
    assert.include(why("copilot", "preToolUse", "no-such-program"), "blocks every call that it matches")
    assert.include(why("copilot", "postToolUse", "/nowhere/x.sh"), "which is only a warning")
    assert.include(
      why("gemini", "BeforeTool", "/nowhere/x.sh", {}, "run_shell_command"),
      "127, which denies every call"
    )
    assert.include(why("gemini", "SessionStart", "/nowhere/x.sh"), "which is only a warning")
    assert.include(why("basecoat", "PreToolUse", "/nowhere/x.sh"), "blocks nothing")
    const made = world({ "home/.kodelet/hooks/guard": "#!/opt/no/such/shell\n" })
    assert.include(of(made)[0]?.why, "it is left out")
  })

  it("finds matchers of Gemini CLI that name a tool of Claude Code", () => {
    const matcher = (text: string) =>
      at("gemini", "BeforeTool", "exit 0", {}, text).map(({ fix, rule }) => `${rule} ${fix}`)
    assert.deepEqual(matcher("Bash"), ["matcher-nothing Write \"run_shell_command\"."])
    assert.deepEqual(matcher("Write|Edit|MultiEdit"), ["matcher-nothing Write \"write_file|replace\"."])
    for (const fine of ["run_shell_command", "write_.*", "Bash|run_shell_command", "mcp_.*", "*", "my_Edit"]) {
      assert.deepEqual(matcher(fine), [])
    }
  })

  it("finds scripts for Copilot that read missing fields", () => {
    const jq = (path: string) => `#!/bin/bash\nc=$(jq -r '${path}')\ncase "$c" in *push*) exit 1 ;; esac\n`
    assert.deepEqual(rulesAt("copilot", "preToolUse", jq(".toolArgs.command")), ["error input-field"])
    assert.deepEqual(rulesAt("copilot", "preToolUse", jq(".tool_input.command")), ["error input-field"])
    assert.deepEqual(rulesAt("copilot", "PreToolUse", jq(".toolArgs")), ["error input-field"])
    assert.deepEqual(rulesAt("copilot", "preToolUse", jq(".toolArgs | fromjson | .command")), [])
    assert.deepEqual(rulesAt("copilot", "PreToolUse", jq(".tool_input.command")), [])
    assert.deepEqual(
      rulesAt("copilot", "preToolUse", jq(".tool_input.command // (.toolArgs | fromjson | .command)")),
      []
    )
    const python = (read: string) =>
      `#!/usr/bin/env python3\nimport json, sys\ne = json.load(sys.stdin)\nif "push" in ${read}:\n    sys.exit(1)\n`
    assert.deepEqual(rulesAt("copilot", "preToolUse", python("e[\"toolArgs\"][\"command\"]")), ["error input-field"])
    assert.deepEqual(rulesAt("copilot", "preToolUse", python("json.loads(e[\"toolArgs\"])[\"command\"]")), [])
    assert.deepEqual(rulesAt("copilot", "preToolUse", python("e[\"toolArgs\"].lower()")), [])
    const node = (read: string) =>
      `#!/usr/bin/env node\nconst e = JSON.parse(require("fs").readFileSync(0, "utf8"))\nif (${read}) process.exit(1)\n`
    assert.deepEqual(rulesAt("copilot", "preToolUse", node("e.toolArgs.command.includes('push')")), [
      "error input-field"
    ])
    assert.deepEqual(rulesAt("copilot", "preToolUse", node("JSON.parse(e.toolArgs).command.includes('push')")), [])
    assert.deepEqual(rulesAt("copilot", "preToolUse", node("e.toolArgs.includes('push')")), [])
  })

  it("finds answers that a system ignores", () => {
    const block = "echo '{\"decision\":\"block\",\"reason\":\"no\"}'"
    assert.deepEqual(rulesAt("copilot", "userPromptSubmitted", `if grep -q x; then ${block}; fi`), [
      "error answer-unsupported"
    ])
    assert.deepEqual(rulesAt("copilot", "agentStop", `npm test || ${block}`), [])
    assert.deepEqual(rulesAt("copilot", "agentStop", block), ["error stop-loop"])
    assert.deepEqual(rulesAt("gemini", "AfterAgent", "echo more >&2; exit 2"), ["error stop-loop"])
    const deny = "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\"}}'"
    assert.deepEqual(rulesAt("gemini", "BeforeTool", deny, {}, "replace"), ["error answer-unsupported"])
    assert.deepEqual(
      rulesAt("gemini", "BeforeTool", "echo '{\"decision\":\"deny\",\"permissionDecision\":\"deny\"}'", {}, "replace"),
      []
    )
  })

  it("finds text before JSON, and no other text", () => {
    const json = "echo '{\"decision\":\"block\",\"reason\":\"no\"}'"
    const text = (code: string) => rulesAt("claude", "PostToolUse", code, {}, "Bash")
    assert.deepEqual(text(`echo checking; ${json}`), ["error answer-text"])
    assert.deepEqual(text(`echo "$(jq -r .transcript_path)"; ${json}`), ["error answer-text"])
    assert.deepEqual(text(`#!/bin/bash\necho "checking $1"\nif grep -q x; then\n  ${json}\nfi\n`), [
      "error answer-text"
    ])
    assert.deepEqual(text("#!/bin/bash\nif grep -q x; then\n  echo found\n  jq -n '{decision:\"block\"}'\nfi\n"), [
      "error answer-text"
    ])
    assert.deepEqual(text(`#!/bin/bash\necho hello\ncat <<EOF\n{"decision":"block"}\nEOF\n`), ["error answer-text"])
    assert.deepEqual(rulesAt("copilot", "preToolUse", `echo checking; echo '{"permissionDecision":"deny"}'`), [
      "error answer-text"
    ])
    const python = "#!/usr/bin/env python3\nimport json, sys\n"
    assert.deepEqual(text(`${python}print("checking")\nif True:\n    print(json.dumps({"decision": "block"}))\n`), [
      "error answer-text"
    ])
    for (
      const fine of [
        `echo checking >&2; ${json}`,
        `echo checking >> hooks.log; ${json}`,
        `echo checking | tee hooks.log > /dev/null; ${json}`,
        `echo; ${json}`,
        `#!/bin/bash\n# echo checking\n${json}\n`,
        `#!/bin/bash\nif grep -q x; then\n  echo found\n  exit 0\nfi\n${json}\n`,
        `#!/bin/bash\nif grep -q x; then\n  echo found\nelse\n  ${json}\nfi\n`,
        `#!/bin/bash\ncase "$1" in\n  a) echo found ;;\n  b|c)\n    ${json}\n    ;;\nesac\n`,
        `#!/bin/bash\nlog() {\n  echo "$1" >&2\n}\nsay() {\n  echo hello\n}\nlog x\n${json}\n`,
        `#!/bin/bash\nx=$(\n  echo hello; echo more\n)\n${json}\n`,
        `#!/bin/bash\n[ -f x ] && echo found && exit 0\n${json}\n`,
        `#!/bin/bash\ncat > /tmp/x <<'EOF'\nhello\nEOF\n${json}\n`,
        `${python}if len(sys.argv) > 1:\n    print("usage")\n    sys.exit(0)\nprint(json.dumps({"decision": "block"}))\n`,
        `${python}def log(text):\n    print("log", file=sys.stderr)\ndef say():\n    print("hello")\nprint(json.dumps({"decision": "block"}))\n`
      ]
    ) assert.deepEqual([fine, text(fine)], [fine, []])
    const before =
      "#!/bin/bash\ncase \"$1\" in\n  hook) echo before_tool_call ;;\n  run)\n    echo '{\"blocked\":true}'\n    ;;\nesac\n"
    assert.deepEqual(kodelet(before), [])
  })

  it("finds variables that no command has, also in scripts", () => {
    const bash = (code: string, more: object = {}) =>
      rulesAt("claude", "PostToolUse", `#!/bin/bash\n${code}\n`, more, "Bash")
    assert.deepEqual(bash("prettier --write \"$CLAUDE_FILE_PATHS\""), ["warning variable-unknown"])
    assert.deepEqual(bash("echo \"$CLAUDE_TOOL_INPUT\" >> /tmp/x.log"), ["warning variable-unknown"])
    const [slack] = at("claude", "PostToolUse", "curl -H \"Bearer $SLACK_TOKEN\" https://example.com", {}, "Bash")
    assert.deepEqual([slack?.rule, slack?.fix], [
      "variable-unknown",
      "Add it to the options of the agent: passEnv: [\"SLACK_TOKEN\"]."
    ])
    const python = (code: string) =>
      rulesAt("claude", "PostToolUse", `#!/usr/bin/env python3\nimport os\n${code}\n`, {}, "Bash")
    assert.deepEqual(python("print(os.environ[\"CLAUDE_TOOL_INPUT\"])"), ["warning variable-unknown"])
    assert.deepEqual(python("print(os.environ[\"CLAUDE_PROJECT_DIR\"], os.environ.get(\"DEBUG\"))"), [])
    assert.deepEqual(rulesAt("gemini", "AfterTool", "echo \"$FILE\" >&2", {}, "replace"), ["warning variable-unknown"])
    assert.deepEqual(
      rulesAt("gemini", "AfterTool", "echo \"$GEMINI_CWD $MODE\" >&2", { env: { MODE: "x" } }, "replace"),
      []
    )
    for (
      const fine of [
        "INPUT=$(cat); FILE=$(jq -r .x <<< \"$INPUT\"); echo \"${FILE}\" >&2",
        "while IFS= read -r line; do echo \"$line\" >&2; done < /dev/null",
        "f() { local a=\"$1\" b c; b=1; echo \"$a$b$c\" >&2; }; f x",
        "jq --arg name x '.a == $name and $ENV.HOME' | awk '{ print $NF, $name }' >&2",
        "if [ -n \"$CI\" ]; then echo \"$CI\" >&2; fi",
        "echo \"${DEBUG:-0} $(( RANDOM % 3 )) $UID ${BASH_SOURCE[0]} $#\" >&2",
        "mapfile -t lines < /dev/null; printf -v out '%s' x; echo \"${lines[@]} $out\" >&2",
        "cat > /tmp/x <<'EOF'\n$NOBODY\nEOF",
        "echo \"it's $HOME\" 'and $NOBODY' >&2 # $NEITHER",
        ". ./config.sh\necho \"$FROM_THERE\" >&2",
        "for ((i = 0; i < 3; i++)); do echo \"$i\" >&2; done"
      ]
    ) assert.deepEqual([fine, bash(fine)], [fine, []])
  })

  // rows: DEC-36
  it("knows the unit of a timeout", () => {
    assert.deepEqual(rulesAt("copilot", "preToolUse", "exit 0", { timeoutSec: 5_000 }), ["warning timeout-unit"])
    assert.deepEqual(rulesAt("copilot", "preToolUse", "exit 0", { timeoutSec: 120 }), [])
    assert.deepEqual(rulesAt("gemini", "AfterTool", "exit 0", { timeout: 60 }, "replace"), ["warning timeout-unit"])
    assert.deepEqual(rulesAt("gemini", "AfterTool", "exit 0", { timeout: 5_000 }, "replace"), [])
  })

  it("finds executables of Kodelet that cannot run, or that block by exit code", () => {
    const script = (run: string) =>
      `#!/bin/bash\ncase "$1" in\n  hook) echo before_tool_call ;;\n  run) ${run} ;;\nesac\n`
    assert.deepEqual(kodelet(script("grep -q push && exit 2")), ["warning exit-ignored"])
    assert.deepEqual(kodelet(script("echo '{\"blocked\":true}'; exit 2")), ["error exit-ignored"])
    assert.deepEqual(kodelet(script("echo '{\"blocked\":true}'; exit 0")), [])
    assert.deepEqual(kodelet(script("exit 0"), 0o644), ["error script-mode"])
    assert.deepEqual(kodelet("A readme.\n", 0o644), [])
  })

  it("says that a project cannot loosen anything", () => {
    const allow = "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'"
    const from = (folder: string, command: string) =>
      rulesOf(of(world({ [`${folder}/.claude/settings.json`]: settings("PreToolUse", [{ command }], "Bash") }))).filter(
        (one) => one !== "warning untrusted"
      )
    assert.deepEqual(from("project", allow), ["hint allow-project"])
    assert.deepEqual(from("home", allow), [])
    assert.deepEqual(from("project", allow.replace("\"allow\"", "\"allow\",\"updatedInput\":{}")), [])
  })

  it("accepts groups in files of Copilot", () => {
    const made = world({
      "home/.copilot/hooks/a.json": {
        version: 1,
        hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "exit 0" }] }] }
      }
    })
    assert.deepEqual(rulesOf(of(made)), [])
  })

  it("reads hostile scripts in little time", () => {
    for (const unit of ["\n", "print('a')\n", "blocked: true ", "$(dirname "]) {
      const text = `#!/bin/bash\nset -e\n${unit.repeat(250_000 / unit.length)}`
      assert.isArray(at("claude", "PreToolUse", text, {}, "Bash"))
    }
  })
})
