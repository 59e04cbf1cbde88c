import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { run, runHere, settings, world } from "./belay.ts"

describe("the time limit of an entry that sets none", () => {
  it("is that of its event and its kind", async () => {
    const files = (event: string, more: object) => ({
      "home/.claude/settings.json": { hooks: { [event]: [{ hooks: [more] }] } }
    })
    const command = { type: "command", command: "true" }
    const limits: ReadonlyArray<readonly [event: string, entry: object, seconds: number]> = [
      ["PreToolUse", command, 600],
      ["PreToolUse", { type: "prompt", prompt: "ok?" }, 30],
      ["PreToolUse", { type: "agent", prompt: "ok?" }, 60],
      ["UserPromptSubmit", command, 30],
      ["MessageDisplay", command, 10],
      ["SessionEnd", command, 1.5],
      ["SessionEnd", { ...command, timeout: 7 }, 7]
    ]
    for (const [event, entry, seconds] of limits) {
      const { value } = await world(files(event, entry)).json("list")
      assert.include(JSON.stringify(value), `"timeoutSeconds":${seconds}`, event)
    }
  })
})

describe("belay hooks list", () => {
  it("shows files, entries, what each entry can do, and what does not run", async () => {
    const { hooks, json } = world({
      "home/.claude/settings.json": settings("Stop", [{ command: "exit 0", timeout: 7, async: true }]),
      "project/.claude/settings.json": settings(
        "PreToolUse",
        [{ command: "./guard.sh", if: "Bash(git push *)" }],
        "Bash"
      ),
      "project/.codex/config.toml":
        "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"true\"\n",
      "project/.gemini/settings.json": { hooks: { BeforeTool: [{ hooks: [{ type: "command", command: "true" }] }] } },
      "project/.github/hooks/a.json": { version: 1, hooks: { preToolUse: [{ bash: "true" }] } },
      "project/.kodelet/hooks/guard": "#!/bin/bash\n",
      "project/.kodelet/hooks/old.disable": "#!/bin/bash\n",
      "project/hooks.json": { version: 1, hooks: { SessionStart: [{ command: "true" }] } }
    })
    const { code, stdout } = await hooks("list")
    assert.strictEqual(code, 0)
    for (
      const part of [
        "~/.claude/settings.json  claude, user\n  Stop  may keep the agent going\n    command  exit 0\n             7 s, async: decides nothing",
        ".claude/settings.json  claude, project  not trusted: does not run\n  PreToolUse  Bash  may refuse the call",
        "if Bash(git push *), 600 s",
        ".codex/config.toml  codex, project",
        ".gemini/settings.json  gemini, project",
        ".github/hooks/a.json  copilot, project",
        ".kodelet/hooks/guard  kodelet, project  another system is used: runs only with --source kodelet\n  asked for its type when it first runs",
        ".kodelet/hooks/old.disable  kodelet  switched off by its name",
        "hooks.json  basecoat, project",
        "7 files, 7 entries, 6 files do not run.",
        "belay hooks trust"
      ]
    ) assert.include(stdout, part)
    assert.match(stdout, /several\s+systems\s+have\s+hooks\s+here:\s+only\s+claude\s+is\s+loaded/)
    const { value } = await json("list", "--source", "claude", "--source", "codex")
    assert.deepEqual(
      value.files.map((file: { readonly dialect: string; readonly status: string }) => [file.dialect, file.status]),
      [
        ["claude", "runs"],
        ["claude", "untrusted"],
        ["codex", "untrusted"]
      ]
    )
    assert.deepInclude(value.files[1].entries[0], {
      event: "PreToolUse",
      key: "hooks.PreToolUse[0].hooks[0]",
      matcher: "Bash",
      if: "Bash(git push *)",
      type: "command",
      command: "./guard.sh",
      timeoutSeconds: 600,
      async: false,
      once: false
    })
  })

  it("shows disabled entries and what disables them", async () => {
    const { hooks } = world({
      "home/.claude/settings.json": { ...settings("Stop", [{ command: "true" }]), disableAllHooks: true },
      "managed/managed-settings.json": settings("Stop", [{ command: "false" }])
    })
    const { stdout } = await hooks("list", "--source", "claude")
    assert.include(stdout, "~/.claude/settings.json  claude, user  disabled: does not run  silences hooks")
    assert.match(stdout, /managed-settings\.json {2}claude, managed\n/)
  })

  it("makes texts of a project harmless for a terminal", async () => {
    const { hooks, json } = world({
      "project/.claude/settings.json": settings("Stop", [{ command: "echo \u001b[2J\u202e\u0007\r\nrm x" }])
    })
    assert.strictEqual((await json("list")).value.files[0].entries[0].command, "echo \u001b[2J\u202e\u0007\r\nrm x")
    assert.notMatch((await hooks("list", "--json")).stdout, /\u202E/)
    const { stdout } = await hooks("list")
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    assert.notMatch(stdout, /[\u0000-\u0009\u000B-\u001F\u007F\u202E]/)
    assert.include(stdout, "echo \\x1b[2J\\u{202e}\\x07\\r\\nrm x")
  })

  // rows: D-30
  it("loads nothing with --no-hooks", async () => {
    const { hooks, json } = world({ "project/.claude/settings.json": settings("Stop", [{ command: "true" }]) })
    assert.include((await hooks("list", "--no-hooks")).stdout, "Hooks are off")
    assert.deepInclude((await json("list", "--no-hooks")).value, {
      hooks: "off",
      files: [],
      untrusted: [],
      warnings: []
    })
    const { code, value } = await json("test", "Stop", "--no-hooks")
    assert.deepEqual([code, value.runs], [0, []])
  })

  it("says in one line what is wrong with managed settings", async () => {
    const { hooks } = world({ "managed/managed-settings.json": { hooks: { Stopp: [] } } })
    const { code, stderr, stdout } = await hooks("list")
    assert.deepEqual([code, stderr], [1, ""])
    assert.match(stdout, /Nothing runs: .*must\s+be\s+valid/)
    const tried = await hooks("test", "Stop")
    assert.strictEqual(tried.code, 1)
    assert.match(tried.stderr, /^belay: .*must be valid.*\n$/)
  })

  it("reads a single file with --file", async () => {
    const { json, root, write } = world()
    write("other/mine.json", settings("Stop", [{ command: "true" }]))
    const { value } = await json("list", "--source", "codex", "--file", join(root, "other/mine.json"))
    assert.deepEqual(
      value.files.map(({ dialect, path }: { readonly dialect: string; readonly path: string }) => [dialect, path]),
      [[
        "codex",
        join(root, "other/mine.json")
      ]]
    )
    assert.match((await json("list", "--file", join(root, "nothing.json"))).value.warnings[0].reason, /does not exist/)
  })
})

describe("belay", () => {
  it("ends with 2 and one line for wrong usage", async () => {
    const { hooks } = world()
    for (
      const args of [
        ["lst"],
        ["list", "--sauce", "x"],
        ["list", "--source", "vscode"],
        ["test"],
        ["test", "Foo"],
        ["test", "PreTolUse"],
        ["test", "PreToolUse"],
        [
          "test",
          "Stop",
          "--payload",
          "{"
        ],
        ["test", "Stop", "--payload", "[]"],
        ["test", "Stop", "--timeout", "-1"],
        ["trust", "nowhere/at/all"],
        ["explain", "Foo"]
      ]
    ) {
      const { code, stderr, stdout } = await hooks(...args)
      assert.deepEqual([args, code, stdout], [args, 2, ""])
      assert.match(stderr, /^belay: [^\n]+\n$/)
    }
  })

  it("says that a folder does not exist, for every command", async () => {
    const { home, root } = world()
    const cwd = join(root, "nowhere")
    for (const args of [["list"], ["doctor", "--json"], ["test", "Stop"], ["trust"]]) {
      const { code, stderr, stdout } = await runHere(["hooks", ...args, "--cwd", cwd, "--home", home])
      assert.deepEqual([args, code, stdout, stderr], [args, 2, "", `belay: --cwd: there is no folder ${cwd}\n`])
    }
  })

  it("prints help and ends with 0, also without a command", async () => {
    const { hooks } = world()
    const asked = await hooks("--help")
    assert.strictEqual(asked.code, 0)
    for (const command of ["list", "doctor", "test", "trust", "untrust", "explain"]) {
      assert.match(asked.stdout, new RegExp(`^  ${command} `, "m"))
    }
    assert.strictEqual((await hooks()).code, 0)
  })

  it("starts from the sources with the file that npm links", async () => {
    const bin = fileURLToPath(new URL("../bin/belay.mjs", import.meta.url))
    const { home } = world()
    const { code, stdout } = await run(bin, ["hooks", "list", "--home", home, "--cwd", home], "", { HOME: home })
    assert.deepEqual([code, stdout.includes("No files with hooks.")], [0, true])
    assert.strictEqual((await run(bin, ["hooks", "nothing"], "", { HOME: home })).code, 2)
    const payload = JSON.stringify({ tool_name: "Bash", tool_input: { command: "ls" } })
    const trial = await run(
      bin,
      ["hooks", "test", "PreToolUse", "--payload", "-", "--home", home, "--cwd", home],
      payload,
      {
        HOME: home
      }
    )
    assert.deepEqual([trial.code, trial.stderr], [0, ""])
    assert.isTrue(existsSync(bin))
  })
})
