import { chmodSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { findings, hasErrors } from "../src/internal/files/doctor.ts"
import type { Finding } from "../src/internal/lint/finding.ts"
import { look } from "../src/internal/world.ts"
import { settings, world } from "./belay.ts"

type World = ReturnType<typeof world>

const of = ({ cwd, home, managed }: World, path = process.env["PATH"] ?? ""): ReadonlyArray<Finding> =>
  findings(look({ cwd, home, managed, dialects: [], files: [], plugins: [], off: false, systems: [] }), path)

const rulesOf = (found: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  found.map(({ level, rule }) => `${level} ${rule}`)

/** What is said about one entry of the user's. */
const entry = (
  hook: object,
  { event = "PreToolUse", group = {}, matcher = "Bash" }: {
    readonly event?: string
    readonly group?: object
    readonly matcher?: string
  } = {}
) =>
  rulesOf(
    of(
      world({
        "home/.claude/settings.json": {
          hooks: { [event]: [{ matcher, ...group, hooks: [{ type: "command", ...hook }] }] }
        }
      })
    )
  )

/** What is said about a script that an entry starts. */
const script = (
  text: string,
  { by = "", event = "PreToolUse", path }: { readonly by?: string; readonly event?: string; readonly path?: string } =
    {}
) => {
  const made = world({ "home/hook": text })
  made.write(
    "home/.claude/settings.json",
    settings(event, [{ command: `${by}${join(made.home, "hook")}` }], event === "PreToolUse" ? "Bash" : undefined)
  )
  chmodSync(join(made.home, "hook"), 0o755)
  return rulesOf(of(made, path))
}

const fine = "#!/bin/bash\nif grep -q push; then\n  echo no >&2\n  exit 2\nfi\nexit 0\n"

describe("belay hooks doctor", () => {
  it("has no finding for a good guard", () => {
    assert.deepEqual(script(fine), [])
    assert.deepEqual(entry({ command: "exit 0", timeout: 10, if: "Bash(git *)" }), [])
  })

  it("names file, key, line, mistake, reason and fix", () => {
    const made = world({
      "home/.claude/settings.json":
        `{\n"hooks": {\n"PreToolUs": [],\n"Stop": [{ "hooks": [\n{ "type": "command", "command": "exit 0", "timout": 3 }] }] } }`
    })
    const [first, second] = of(made)
    assert.deepInclude(first, {
      level: "error",
      rule: "loading",
      key: "hooks.PreToolUs",
      line: 3,
      what: "unknown event",
      fix: "Did you mean PreToolUse?"
    })
    assert.deepInclude(second, {
      level: "error",
      rule: "unknown-key",
      key: "hooks.Stop[0].hooks[0]",
      line: 5,
      fix: "Did you mean \"timeout\"?"
    })
    for (const finding of [first!, second!]) {
      for (const field of ["file", "what", "why", "fix"] as const) assert.notStrictEqual(finding[field], "")
    }
  })

  it("ends with 1 where there are errors, and shows them as text and as JSON", async () => {
    const bad = world({ "home/.claude/settings.json": settings("Stop", [{ command: "exit 0", timout: 3 }]) })
    const { code, value } = await bad.json("doctor")
    assert.deepEqual([code, value.errors, value.warnings, value.hints, value.findings[0].rule], [
      1,
      1,
      0,
      0,
      "unknown-key"
    ])
    const { stdout } = await bad.hooks("doctor")
    assert.include(
      stdout,
      "~/.claude/settings.json\n  error  hooks.Stop[0].hooks[0] line 6  unknown-key\n    \"timout\" is not a key of Claude Code."
    )
    assert.include(stdout, "Looked at 1 file and 1 entry: 1 error.")
    const good = await world({ "home/.claude/settings.json": settings("Stop", [{ command: "exit 0" }]) }).hooks(
      "doctor"
    )
    assert.deepEqual([good.code, good.stdout], [0, "Looked at 1 file and 1 entry: no findings.\n"])
  })

  it("finds keys that are misspelt, unknown, or in the wrong place", () => {
    assert.deepEqual(entry({ command: "exit 0", comand: "x" }), ["error unknown-key"])
    assert.deepEqual(entry({ command: "exit 0", colour: "red" }), ["warning unknown-key"])
    assert.deepEqual(entry({ command: "exit 0", matcher: "Bash" }), ["error unknown-key"])
    assert.deepEqual(entry({ command: "exit 0" }, { group: { matchers: "Edit" } }), ["error unknown-key"])
    assert.deepEqual(entry({ command: "exit 0" }, { group: { timeout: 4 } }), ["error unknown-key"])
  })

  it("finds matchers that match more or less than they seem", () => {
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "*" }), ["hint matcher-everything"])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "Edit.*" }), ["warning matcher-loose"])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "^(Edit|Write)$" }), [])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "bash" }), ["error matcher-nothing"])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "mcp__memory" }), ["warning matcher-nothing"])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "mcp__memory__.*" }), [])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "[" }), ["error loading"])
    assert.deepEqual(entry({ command: "exit 0" }, { matcher: "(?!Bash)" }), ["warning loading"])
    assert.deepEqual(entry({ command: "exit 0" }, { event: "SessionStart", matcher: "start" }), [
      "warning matcher-nothing"
    ])
    assert.deepEqual(entry({ command: "exit 0" }, { event: "Stop" }), ["hint matcher-ignored"])
  })

  it("finds entries that never run", () => {
    assert.deepEqual(entry({ command: "exit 0", if: "Bash(git *)" }, { matcher: "Edit" }), ["error never-runs"])
    assert.deepEqual(entry({ command: "exit 0", if: "Edit(*.ts)" }, { matcher: "Write" }), [])
    assert.deepEqual(entry({ command: "exit 0", if: "Bash(git *)" }, { event: "UserPromptSubmit", matcher: "" }), [
      "error loading"
    ])
    assert.deepEqual(
      entry({ type: "http", url: "https://example.com" }, { event: "SessionStart", matcher: "startup" }),
      ["error loading"]
    )
  })

  it("finds entries that say once where it has no effect", () => {
    assert.deepEqual(entry({ command: "exit 0", once: true }), ["hint once-ignored"])
  })

  it("finds guards that block nothing", () => {
    assert.deepEqual(entry({ command: "exit 0", timeout: 1 }), ["warning guard-timeout"])
    assert.deepEqual(entry({ command: "exit 0", async: true }), ["warning guard-async"])
    assert.deepEqual(entry({ command: "exit 0", async: true }, { event: "PostToolUse" }), [])
    assert.deepEqual(entry({ command: "exit 0 || true" }), ["warning guard-open"])
    assert.deepEqual(entry({ command: "exit 0", timeout: 30_000 }), ["warning timeout-unit"])
    assert.deepEqual(script("#!/bin/bash\ngrep -q push && { echo refused >&2; exit 1; }\nexit 0\n"), ["error exit-one"])
    assert.deepEqual(script("#!/usr/bin/env python3\nimport sys\nsys.exit(1)\n"), ["warning exit-one"])
    assert.deepEqual(entry({ command: "cat | grep -q push && { echo denied; exit 1; }; exit 0" }), ["error exit-one"])
    assert.deepEqual(
      script(
        "#!/usr/bin/env python3\nimport sys\nsys.exit(1 if x else 2)\nprint('no', file=sys.stderr)\nsys.exit(2)\n"
      ),
      []
    )
    assert.deepEqual(script("#!/usr/bin/env node\nprocess.exit(1)\n", { event: "PostToolUse" }), [])
  })

  it("finds programs whose own exit code 2 would block", () => {
    const programs = "grep egrep fgrep rg diff cmp jq ls make sort tsc eslint prettier ruff mypy pytest shellcheck tar"
    for (const name of programs.split(" ")) assert.include(entry({ command: `${name} x` }), "warning exit-two", name)
    assert.deepEqual(entry({ command: "cat | grep -v push" }), ["warning exit-two"])
    assert.deepEqual(entry({ command: "cat | grep -v push; exit 0" }), [])
    assert.deepEqual(entry({ command: "diff a b" }, { event: "Notification", matcher: "" }), [])
    assert.deepEqual(script("#!/bin/bash\nset -e\ncat > /dev/null\nx=$(grep -c foo bar)\nexit 0\n"), [
      "warning exit-two"
    ])
    assert.deepEqual(script("#!/bin/bash\nset -euo pipefail\ngrep foo bar | head\nexit 0\n"), ["warning exit-two"])
    assert.deepEqual(script("#!/bin/bash\nset -e\nif grep -q foo bar; then echo no >&2; exit 2; fi\nexit 0\n"), [])
    assert.deepEqual(script("#!/bin/bash\n# set -e would end with 2\ncat > /dev/null\ndiff a b\n"), [
      "warning exit-two"
    ])
  })

  it("finds scripts that cannot run", () => {
    assert.deepEqual(entry({ command: "/nowhere/at/all.sh" }), ["error script-missing"])
    assert.deepEqual(entry({ command: "bash /nowhere/at/all.sh" }), ["error script-missing"])
    assert.deepEqual(entry({ command: "no-such-program --x" }), ["error program-missing"])
    assert.deepEqual(entry({ command: "no-such-program", args: ["x"] }), ["error program-missing"])
    assert.deepEqual(entry({ command: "X=1 cat && true" }), [])
    assert.deepEqual(script("#!/opt/no/such/shell\n"), ["error program-missing"])
    assert.deepEqual(script("#!/usr/bin/env no-such-language\n"), ["error program-missing"])
    assert.deepEqual(script("exit 0\n"), ["warning script-shebang"])
    assert.deepEqual(script("exit 0\n", { by: "bash " }), [])
    assert.deepEqual(script("#!/bin/bash\r\nexit 0\r\n"), ["error script-lines"])
    assert.deepEqual(script("#!/bin/sh\n[[ -f x ]] && echo no >&2 && exit 2\nexit 0\n"), ["error shell-syntax"])
    assert.deepEqual(script("#!/bin/bash\n[[ -f x ]] && echo no >&2 && exit 2\nexit 0\n", { by: "sh " }), [
      "error shell-syntax"
    ])
    assert.deepEqual(script("#!/bin/bash\nx=$(cat | jq -r .a)\nexit 0\n", { path: "/nowhere" }), [
      "error program-missing"
    ])
    const made = world({ "home/hook": "exit 0\n" })
    made.write("home/.claude/settings.json", settings("Stop", [{ command: join(made.home, "hook") }]))
    assert.deepEqual(rulesOf(of(made)), ["error script-mode", "warning script-shebang"])
  })

  it("finds paths that depend on where the session is", () => {
    const made = world({
      "project/guard.sh": fine,
      "project/.claude/settings.json": settings(
        "PreToolUse",
        [{ command: "./guard.sh" }, { command: "$CLAUDE_PROJECT_DIR/guard.sh" }],
        "Bash"
      )
    })
    assert.deepEqual(rulesOf(of(made)), ["warning path-relative", "hint path-unquoted", "warning untrusted"])
    assert.deepEqual(entry({ command: "cat", args: ["$HOME/x"] }), ["error args-variable"])
    assert.deepEqual(entry({ command: "cat", args: ["${CLAUDE_PROJECT_DIR}/x"] }), [])
  })

  it("finds variables that nobody sets", () => {
    const at = (command: string) => entry({ command }, { event: "PostToolUse" })
    assert.deepEqual(at("echo \"$CLAUDE_FILE_PATHS\""), ["warning variable-unknown"])
    assert.deepEqual(at("echo ${FILE}"), ["warning variable-unknown"])
    assert.deepEqual(
      at(
        "f=$(jq -r .tool_input.file_path); echo \"$f\" '$AS_IT_STANDS' \\$NEITHER ${CI:-no} $HOME $tool_input_file_path"
      ),
      []
    )
    assert.deepEqual(at("for x in a b; do echo $x; done; while read -r y; do echo $y; done"), [])
  })

  it("finds requests that are never sent, or lack a value", () => {
    const http = (more: object, file = "home") =>
      rulesOf(
        of(world({ [`${file}/.claude/settings.json`]: settings("PreToolUse", [{ type: "http", ...more }], "Bash") }))
      )
    assert.deepEqual(http({ url: "http://example.com/x" }), ["error url-plain"])
    assert.deepEqual(http({ url: "https://example.com/x" }), [])
    assert.deepEqual(http({ url: "http://localhost:9000/x" }), [])
    assert.deepEqual(http({ url: "http://localhost:9000/x" }, "project"), ["error url-local", "warning untrusted"])
    assert.deepEqual(http({ url: "https://example.com", headers: { authorization: "Bearer $TOKEN" } }), [
      "warning header-empty"
    ])
    assert.deepEqual(http({ url: "nonsense" }), ["error url"])
  })

  // rows: C-57
  it("finds prompts that do not say what to decide", () => {
    const prompt = (text: string, type = "prompt", event = "PreToolUse") =>
      entry({ type, prompt: text }, { event, matcher: event === "Stop" ? "" : "Bash" })
    assert.deepEqual(prompt("Is this ok?"), ["hint prompt-vague", "hint prompt-event"])
    assert.deepEqual(prompt("Look at the call and tell whether it is a reasonable thing: $ARGUMENTS"), [
      "hint prompt-vague"
    ])
    assert.deepEqual(
      prompt(
        "Refuse when the command changes files outside of src, or sends anything over the network. Else allow. $ARGUMENTS"
      ),
      []
    )
    assert.deepEqual(prompt("check it", "agent", "Stop"), ["hint prompt-vague", "hint prompt-event"])
    assert.include(
      prompt(
        "Refuse when the command changes files outside of src, else allow. $ARGUMENTS",
        "prompt",
        "PermissionRequest"
      ),
      "warning never-decides"
    )
  })

  it("finds answers that are ignored", () => {
    assert.deepEqual(script("#!/bin/bash\nexit 2\n"), ["hint exit-silent"])
    assert.deepEqual(script("#!/bin/bash\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\"}}'\n"), [
      "error answer-event"
    ])
    assert.deepEqual(script("#!/bin/bash\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\"}}'\n"), [])
    const codex = (text: string) => {
      const made = world({ "home/hook": text })
      made.write("home/.codex/hooks.json", settings("PreToolUse", [{ command: join(made.home, "hook") }], "Bash"))
      return rulesOf(of(made))
    }
    assert.deepEqual(codex("#!/bin/bash\nexit 2\n"), ["error exit-silent"])
    assert.deepEqual(
      codex(
        "#!/usr/bin/env python3\nprint('{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"}}')\n"
      ),
      ["error answer-unsupported"]
    )
    assert.deepEqual(
      rulesOf(
        of(
          world({
            "home/.kodelet/hooks/guard":
              "#!/bin/bash\n[ $1 = hook ] && echo before_tool_call && exit 0\necho denied; exit 2\n"
          })
        )
      ),
      ["error exit-ignored"]
    )
  })

  it("finds stop hooks that never let the agent stop", () => {
    assert.deepEqual(script("#!/bin/bash\necho more >&2\nexit 2\n", { event: "Stop" }), ["error stop-loop"])
    assert.deepEqual(script("#!/bin/bash\nnpm test || { echo more >&2; exit 2; }\n", { event: "Stop" }), [
      "warning stop-loop"
    ])
    assert.deepEqual(
      entry({ command: "echo '{\"decision\":\"block\",\"reason\":\"more\"}'" }, { event: "Stop", matcher: "" }),
      [
        "error stop-loop"
      ]
    )
    assert.deepEqual(
      script("#!/bin/bash\ngrep -q '\"stop_hook_active\":true' && exit 0\necho more >&2\nexit 2\n", { event: "Stop" }),
      []
    )
  })

  it("finds untrusted projects, disabled files, and duplicate entries", () => {
    const project = settings("Stop", [{ command: "exit 0" }])
    assert.deepEqual(rulesOf(of(world({ "project/.claude/settings.json": project }))), ["warning untrusted"])
    assert.deepEqual(rulesOf(of(world({ "home/.claude/settings.json": { ...project, disableAllHooks: true } }))), [
      "warning silenced"
    ])
    assert.deepEqual(
      rulesOf(of(world({ "home/.claude/settings.json": project, "project/.claude/settings.json": project }))),
      [
        "hint twice",
        "warning untrusted"
      ]
    )
    assert.isTrue(hasErrors(of(world({ "managed/managed-settings.json": { hooks: { Stopp: [] } } }))))
  })

  it("knows the units and keys of other systems", () => {
    const found = rulesOf(of(world({
      "home/.gemini/settings.json": {
        hooks: { BeforeTool: [{ hooks: [{ type: "command", command: "exit 0", timeout: 5 }] }] }
      },
      "home/.copilot/hooks/a.json": { version: 1, hooks: { preToolUse: [{ bash: "exit 0", timeoutSecs: 3 }] } },
      "home/.kodelet/hooks/guard": "#!/opt/no/such/shell\n"
    })))
    assert.deepEqual([...found].sort(), [
      "error program-missing",
      "error unknown-key",
      "warning guard-timeout",
      "warning several-systems",
      "warning timeout-unit"
    ])
  })

  it("says that a project has several systems, which one is used, and how to use the others", () => {
    const group = (command: string) => ({ hooks: [{ type: "command", command }] })
    const one = world({
      "project/.claude/settings.json": settings("PreToolUse", [{ command: "exit 2" }]),
      "project/.codex/hooks.json": { hooks: { PreToolUse: [group("exit 0"), group("date")] } }
    })
    const [several] = of(one).filter(({ rule }) => rule === "several-systems")
    assert.strictEqual(several!.file, one.cwd)
    assert.match(
      several!.what,
      /only codex is loaded, because it has the most entries \(2\); claude \(1\) is not loaded/
    )
    assert.match(several!.fix, /--source here, and the option sources: \["claude", "codex"\]/)
    const { cwd, home, managed } = one
    const asked = look({
      cwd,
      home,
      managed,
      dialects: ["claude", "codex"],
      files: [],
      plugins: [],
      off: false,
      systems: []
    })
    assert.notInclude(rulesOf(findings(asked, "")), "warning several-systems")
  })

  it("says that rules of settings which allow are not loaded, and list counts the others", async () => {
    const one = world({
      "project/.claude/settings.json": { permissions: { allow: ["Bash", "Read"], deny: ["Write"] } }
    })
    const [allow] = of(one)
    assert.deepInclude(allow, { level: "hint", rule: "permissions-allow", key: "permissions.allow" })
    assert.match(allow!.what, /2 rules that allow calls are not loaded/)
    assert.include((await one.hooks("list")).stdout, "permissions: 1 deny, 0 ask")
  })

  it("says that a script of two systems runs once, except where it can refuse", async () => {
    const at = (event: string) => settings(event, [{ type: "command", command: "true" }])
    const [ofClaude, ofGemini] = ["home/.claude/settings.json", "home/.gemini/settings.json"]
    const sources = ["--source", "claude", "--source", "gemini"]
    const atEnd = world({ [ofClaude]: at("SessionEnd"), [ofGemini]: at("SessionEnd") })
    const { stdout } = await atEnd.hooks("doctor", ...sources)
    assert.match(stdout, /The same script is in ~\/\.claude\/settings\.json, for Claude Code/)
    const { value } = await atEnd.json("test", "SessionEnd", ...sources)
    assert.match(value.runs[1].why, /the same script runs for Claude Code/)
    const guards = world({ [ofClaude]: at("PreToolUse"), [ofGemini]: at("BeforeTool") })
    assert.notInclude((await guards.hooks("doctor", ...sources)).stdout, "The same script")
  })
})
