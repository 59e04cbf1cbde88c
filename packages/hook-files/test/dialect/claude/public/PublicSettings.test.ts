/** Settings as people publish them: which entries run for which tools, and what several of them say together. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, type Line } from "../../../../../../test/support/agent.ts"
import { alive, folder, until, write } from "../../../support/processes.ts"
import { type Call, command, decide, work } from "../../../support/publicAgent.ts"
import { start } from "../../../support/publicFiles.ts"
import { answer } from "../support.ts"

const quiet = Effect.succeed(answer())

/** One call, that is known again. */
const numbered = ([name, args]: Call, index: number): Line => ({ toolCalls: [{ id: `call-${index}`, name, args }] })

/** Says who ran, and for what. */
const mark = (name: string) => command(`jq -r '"${name} " + .tool_name' >> "$CLAUDE_PROJECT_DIR/log"`)

const lines = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []

describe("matchers", () => {
  const table: ReadonlyArray<readonly [matcher: string | undefined, hits: string]> = [
    ["Bash", "Bash run_command"],
    ["bash", ""],
    ["^Bash$", "Bash run_command"],
    ["Edit|Write", "Edit Write write_file edit_file"],
    ["Edit, Write", "Edit Write write_file edit_file"],
    ["Edit|MultiEdit|Write", "Edit Write write_file edit_file MultiEdit"],
    ["Write(*)", ""],
    ["Notebook.*", "NotebookEdit notebook_edit"],
    ["Edit.*", "Edit edit_file MultiEdit NotebookEdit notebook_edit"],
    [".*Edit$", "Edit edit_file MultiEdit NotebookEdit notebook_edit"],
    ["mcp__.*", "mcp__github__create_issue mcp__memory__create_entities mcp__db__query"],
    ["mcp__memory__.*", "mcp__memory__create_entities"],
    ["mcp__memory", ""],
    ["mcp__.*__(create|delete).*", "mcp__github__create_issue mcp__memory__create_entities"],
    ["mcp__github__create_issue", "mcp__github__create_issue"],
    ["Task", "Task Agent"],
    ["Agent", "Task Agent"],
    ["Read|Glob|Grep", "Read read_file readFile Glob Grep"],
    ["WebFetch|WebSearch", "WebFetch webfetch WebSearch"],
    ["TodoWrite", "TodoWrite"],
    ["(Bash|Task)", "Bash run_command BashOutput Task Agent"],
    ["[", ""]
  ]
  const tools =
    "Bash run_command Edit edit_file Write write_file MultiEdit NotebookEdit Read read_file Glob Grep WebFetch WebSearch Task Agent TodoWrite BashOutput mcp__github__create_issue mcp__memory__create_entities mcp__db__query readFile webfetch notebook_edit"
      .split(" ")
  const everything = [undefined, "", "*", ".*"]

  // rows: C-10
  it("take the tools that Claude Code's take, by these and by other names", async () => {
    // One entry that stands for all: each matcher has a message of its own.
    const all = [...table.map(([matcher]) => matcher), ...everything]
    const names = new Map(all.map((matcher, index) => [`m${index}`, matcher]))
    const groups = all.map((matcher, index) => ({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [command(`: m${index}`)]
    }))
    const started: Array<readonly [string, string]> = []
    const { found } = await work({
      settings: { hooks: { PreToolUse: groups } },
      lines: tools.map((tool) => calls([tool, {}])),
      options: {
        run: (request) => {
          const { tool_use_id: _id, tool_name } = JSON.parse(request.input)
          started.push([request.command.slice(2), tool_name])
          return quiet
        }
      },
      policy: { check: () => ({ type: "allow", grant: { sandbox: "none" } }) }
    })
    assert.deepEqual(found.map(({ key }) => key), ["hooks.PreToolUse[6].matcher", "hooks.PreToolUse[21].matcher"])
    const told = new Map([
      ["run_command", "Bash"],
      ["edit_file", "Edit"],
      ["write_file", "Write"],
      ["read_file", "Read"],
      ["readFile", "Read"],
      ["webfetch", "WebFetch"],
      ["notebook_edit", "NotebookEdit"]
    ])
    for (const [index, matcher] of names) {
      const hits = table.find(([one]) => one === matcher)?.[1].split(" ").filter((one) => one !== "") ?? tools
      const found = started.filter(([name]) => name === index).map(([, tool]) => tool).sort()
      assert.deepEqual(found, hits.map((tool) => told.get(tool) ?? tool).sort(), String(matcher))
    }
  })
})

describe("conditions", () => {
  const table: ReadonlyArray<readonly [rule: string, call: Call, runs: boolean]> = [
    ["Bash(git push*)", ["Bash", { command: "git push" }], true],
    ["Bash(git push*)", ["Bash", { command: "git pushx" }], true],
    ["Bash(git push*)", ["run_command", { cmd: "npm t && git push" }], true],
    ["Bash(git push *)", ["Bash", { command: "git push" }], true],
    ["Bash(git push *)", ["Bash", { command: "git pushx" }], false],
    ["Bash(git push *)", ["Bash", { command: "echo $(date)" }], true],
    ["Bash(git push *)", ["Bash", { command: "echo $X" }], true],
    ["Bash(rm *)", ["Bash", { command: "echo $(rm -rf /)" }], true],
    ["Bash(rm *)", ["Bash", { command: "echo $(date)" }], false],
    ["Bash(rm *)", ["Bash", { command: "timeout 5 rm x" }], true],
    ["Bash(git *)", ["Bash", { command: "FOO=bar git push" }], true],
    ["Bash(npm run test:*)", ["Bash", { command: "npm run test" }], true],
    ["Bash(npm run test:*)", ["Bash", { command: "npm run test --watch" }], true],
    ["Bash(npm run test:*)", ["Bash", { command: "npm run test:unit" }], false],
    ["Bash(npm run build)", ["Bash", { command: "npm run build --x" }], false],
    ["Bash(* --version)", ["Bash", { command: "node --version" }], true],
    ["Bash(git * main)", ["Bash", { command: "git push origin main" }], true],
    ["Bash(git:* push)", ["Bash", { command: "git push" }], false],
    ["Bash", ["Bash", { command: "ls" }], true],
    ["Bash(*)", ["Bash", { command: "ls" }], true],
    ["Bash(git *)", ["Write", { file_path: "git x", content: "" }], false],
    ["Write(src/**/*.ts)", ["Write", { file_path: "src/a.ts", content: "" }], true],
    ["Write(src/**/*.ts)", ["write_file", { path: "src/x/y.ts", content: "" }], true],
    ["Write(src/**/*.ts)", ["Write", { file_path: "lib/src/a.ts", content: "" }], false],
    ["Write(src/**/*.ts)", ["Write", { file_path: "src/a.js", content: "" }], false],
    ["Write(src/**/*.ts)", ["Write", { file_path: "/q/src/a.ts", content: "" }], false],
    ["Edit(*.ts)", ["Edit", { file_path: "x/y/a.ts", old_string: "", new_string: "" }], true],
    ["Edit(*.ts)", ["MultiEdit", { file_path: "a.ts", edits: [] }], true],
    ["Edit(**/src/**)", ["Edit", { file_path: "v/src/a", old_string: "", new_string: "" }], true],
    ["Edit(src/**)", ["Edit", { file_path: "v/src/a", old_string: "", new_string: "" }], false],
    ["Read(~/.zshrc)", ["Read", { file_path: "~/.zshrc" }], true],
    ["Read(//etc/**)", ["Read", { file_path: "/etc/passwd" }], true],
    ["Write(.env*)", ["Write", { file_path: ".env.local", content: "" }], true],
    ["WebFetch(domain:*.example.com)", ["WebFetch", { url: "https://a.b.example.com/x" }], true],
    ["WebFetch(domain:*.example.com)", ["WebFetch", { url: "https://example.com/x" }], false],
    ["mcp__github", ["mcp__github__create_issue", {}], true],
    ["mcp__github__*", ["mcp__github__create_issue", {}], true],
    ["mcp__github__create_issue", ["mcp__github__create_issue", {}], true],
    ["mcp__git", ["mcp__github__create_issue", {}], false],
    ["Agent(Explore)", ["Task", { subagent_type: "Explore", prompt: "x" }], true],
    ["Agent(model:opus)", ["Agent", { subagent_type: "Plan", model: "opus" }], true],
    ["Bash(run_in_background:true)", ["Bash", { command: "sleep 1", run_in_background: true }], true],
    ["Bash(rm *) || Bash(mv *)", ["Bash", { command: "rm x" }], false],
    ["process.exit(1)", ["Bash", { command: "rm x" }], false]
  ]

  // rows: C-11, C-12, C-13
  it("run what the table of the protocol says", async () => {
    const rules = [...new Set(table.map(([rule]) => rule))]
    const started = new Set<string>()
    await work({
      settings: { hooks: { PreToolUse: [{ hooks: rules.map((rule, index) => command(`: ${index}`, { if: rule })) }] } },
      lines: table.map(([, call], index) => numbered(call, index)),
      options: {
        run: (request) => {
          started.add(`${rules[Number(request.command.slice(2))]} ${JSON.parse(request.input).tool_use_id}`)
          return quiet
        }
      }
    })
    for (const [index, [rule, [name, args], runs]] of table.entries()) {
      assert.strictEqual(started.has(`${rule} call-${index}`), runs, `${rule} at ${name} ${JSON.stringify(args)}`)
    }
  })
})

describe("several entries", () => {
  const say = (fields: object) => JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } })

  // rows: C-31
  it(
    "one that denies counts before those that allow and ask, and every reason is reported",
    async () => {
      const found = await decide({
        hooks: [
          command(`echo '${say({ permissionDecision: "allow" })}'`),
          command("sleep 0.1; echo 'first reason' >&2; exit 2"),
          command(`echo '${say({ permissionDecision: "ask", permissionDecisionReason: "sure?" })}'`),
          command(`echo '${say({ permissionDecision: "deny", permissionDecisionReason: "second reason" })}'`),
          command("echo broken >&2; exit 1"),
          command("true")
        ]
      })
      assert.deepInclude(found, { is: "blocked", reason: "first reason\nsecond reason" })
      assert.match(found.warnings.join(), /broken/)
    }
  )

  it("ask goes before allow, and shows the new input", async () => {
    const found = await decide({
      hooks: [
        command(`echo '${say({ permissionDecision: "allow", permissionDecisionReason: "fine" })}'`),
        command(
          `echo '${
            say({ permissionDecision: "ask", permissionDecisionReason: "sure?", updatedInput: { command: "ls -l" } })
          }'`
        )
      ]
    })
    assert.deepInclude(found, { is: "asked", reason: "sure?" })
  })

  it("continue: false counts before a block, and the contexts of all are added", async () => {
    const stopped = await decide({
      hooks: [command("echo no >&2; exit 2"), command(`echo '{"continue":false,"stopReason":"enough"}'`)]
    })
    assert.strictEqual(stopped.is, "stopped")
    assert.match("reason" in stopped ? stopped.reason : "", /enough/)
    const told = await decide({
      hooks: ["one", "two"].map((word) => command(`echo '${say({ additionalContext: `context ${word}` })}'`))
    })
    assert.strictEqual(told.is, "ran")
    assert.include(told.heard, "context one")
    assert.include(told.heard, "context two")
  })
})

describe("entries of all kinds", () => {
  it(
    "once, async, status, exec form, the same twice, unknown keys, and what is wrong beside what is right",
    async () => {
      const { cwd, found, ran, warnings } = await work({
        settings: {
          $schema: "https://json.schemastore.org/claude-code-settings.json",
          permissions: { allow: ["Bash(ls:*)"], deny: [] },
          env: { FOO: "bar" },
          model: "opus",
          statusLine: { type: "command", command: "touch never" },
          hooks: {
            PreToolUse: [
              {
                matcher: "Bash",
                hooks: [
                  mark("each"),
                  { ...mark("once"), once: true },
                  { ...mark("slow"), command: `sleep 0.3; ${mark("slow").command}`, async: true },
                  {
                    type: "command",
                    command: "${CLAUDE_PROJECT_DIR}/.claude/hooks/exec.sh",
                    args: ["--root", "${CLAUDE_PROJECT_DIR}", "$HOME", "a b"],
                    statusMessage: "Looking",
                    description: "unknown",
                    timeout: 20
                  },
                  { type: "comand", command: "touch never" },
                  { type: "command" },
                  { type: "command", command: "touch never", timeout: "10" }
                ]
              },
              { matcher: "Bash", hooks: [mark("each")] },
              { matcher: "Bash" }
            ],
            PreToolUsee: [{ hooks: [mark("never")] }]
          }
        },
        files: {
          ".claude/hooks/exec.sh":
            "#!/bin/sh\nprintf '%s|' \"$@\" >> \"$CLAUDE_PROJECT_DIR/args\"\necho >> \"$CLAUDE_PROJECT_DIR/args\"\n"
        },
        lines: [
          calls(["Bash", { command: "one" }]),
          calls(["run_command", { cmd: "two" }]),
          calls(["Read", { file_path: "x" }])
        ]
      })
      assert.lengthOf(ran, 3)
      assert.deepEqual(warnings, [])
      await until(() => lines(join(cwd, "log")).filter((line) => line === "slow Bash").length === 2)
      assert.deepEqual(lines(join(cwd, "log")).toSorted(), [
        "each Bash",
        "each Bash",
        "once Bash",
        "once Bash",
        "slow Bash",
        "slow Bash"
      ])
      assert.deepEqual(lines(join(cwd, "args")), Array.from({ length: 2 }, () => `--root|${cwd}|$HOME|a b|`))
      assert.isFalse(existsSync(join(cwd, "never")))
      assert.lengthOf(found, 5)
    }
  )

  it(
    "settings of the user, of the project and of the machine of one person add to each other",
    async () => {
      const of = (name: string) => JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [mark(name)] }] } })
      const { cwd } = await work({
        settings: { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [mark("project")] }] } },
        files: { ".claude/settings.local.json": of("local"), "~/.claude/settings.json": of("user") },
        lines: [calls(["Bash", { command: "one" }])]
      })
      assert.deepEqual(lines(join(cwd, "log")).toSorted(), ["local Bash", "project Bash", "user Bash"])
    }
  )

  it("a plugin reads where it is", async () => {
    const root = folder()
    write(join(root, "my plugin/.claude-plugin/plugin.json"), JSON.stringify({ name: "careful", version: "1.0.0" }))
    write(
      join(root, "my plugin/hooks/hooks.json"),
      JSON.stringify({
        description: "Careful",
        hooks: {
          PreToolUse: [{
            matcher: "Write|Edit",
            hooks: [
              command("python3 \"${CLAUDE_PLUGIN_ROOT}/hooks/check.py\"", { timeout: 10 }),
              command("${CLAUDE_PLUGIN_ROOT}/hooks/exec.sh", { args: [] })
            ]
          }]
        }
      })
    )
    write(
      join(root, "my plugin/hooks/check.py"),
      "import json, os, sys\nd = json.load(sys.stdin)\nprint(os.environ['CLAUDE_PLUGIN_ROOT'], file=sys.stderr)\nsys.exit(2)\n"
    )
    write(join(root, "my plugin/hooks/exec.sh"), "#!/usr/bin/env bash\necho \"exec\" >&2\nexit 2\n")
    const { said } = await work({
      settings: {},
      options: { sources: ["claude", { plugin: join(root, "my plugin") }] },
      lines: [calls(["write_file", { path: "x", content: "" }])]
    })
    assert.deepEqual(said, [`${join(root, "my plugin")}\nexec`])
  })
})

describe("settings beside hooks", () => {
  const on = (line: string) => [{ hooks: [{ type: "command", command: line }] }]

  it(
    "give commands of a project the variables of the user first, then those of the project",
    async () => {
      const show = "printf '%s %s %s' \"$HOOK_URL\" \"$COUNT\" \"$THEIRS\" > shown"
      const { agent, heard, read } = start("claude", {
        "~/.claude/settings.json": { env: { HOOK_URL: "https://hooks.example.com/a", COUNT: 3 } },
        ".claude/settings.json": {
          env: { THEIRS: "x", HOOK_URL: "https://evil.example.com" },
          hooks: { Stop: on(show) }
        }
      })
      await agent.run("go")
      assert.deepEqual(heard.warnings, [])
      assert.strictEqual(read("shown"), "https://hooks.example.com/a 3 x")
      const wrong = { env: { "a b": "x", "OK": {}, "N": null } }
      const expected = [/env\.a b: expected a name/, /env\.OK: expected/, /env\.N: expected/]
      start("claude", { "README": "", "~/.claude/settings.json": wrong }, [], { warnings: expected })
    }
  )

  it(
    "let commands that nobody waits for come to their end when the agent is closed, and no longer than they may",
    async () => {
      const late = {
        type: "command",
        command: "touch begun; until [ -f go ]; do sleep 0.01; done; echo kept > log",
        async: true
      }
      const word = `3609.${process.pid}`
      const never = { type: "command", command: `exec sleep ${word}`, async: true }
      const hooks = { Stop: [{ hooks: [late, never] }] }
      const { agent, cwd, read } = start("claude", { "README": "", "~/.claude/settings.json": { hooks } }, [], {
        options: { drainMs: 1_500 }
      })
      await agent.run("go")
      await until(() => existsSync(join(cwd, "begun")) && alive(word).length > 0)
      const closed = agent.close()
      write(join(cwd, "go"), "")
      await closed
      assert.deepEqual([read("log"), alive(word)], ["kept\n", []])
    }
  )

  it("of the host say how freely the agent may act, and how often Stop may refuse", async () => {
    const hooks = { Stop: on("jq -r .permission_mode >> modes; echo more >&2; exit 2") }
    const { agent, read, requests } = start("claude", { "README": "", "~/.claude/settings.json": { hooks } }, [], {
      options: { permissionMode: "plan", stopCap: 2 }
    })
    await agent.run("go")
    assert.strictEqual(read("modes"), "plan\nplan\nplan\n")
    assert.lengthOf(requests, 3)
  })
})
