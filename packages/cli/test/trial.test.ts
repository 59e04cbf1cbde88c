import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { isGone, until } from "../../../test/support/processes.ts"
import { named } from "../src/internal/guides.ts"
import { isBlocked } from "../src/internal/trial/decide.ts"
import type { Facts } from "../src/internal/trial/occasions.ts"
import * as Trial from "../src/internal/trial/trial.ts"
import { answering, settings, world } from "./belay.ts"

const pushes =
  "#!/usr/bin/env python3\nimport json, sys\ncommand = json.load(sys.stdin)['tool_input']['command']\nif 'push' in command:\n    print('ask before you push', file=sys.stderr)\n    sys.exit(2)\n"
const before = (more: object) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...more } })
const input = (command: string) => ["--input", JSON.stringify({ command })]

describe("belay hooks test, for Claude Code", () => {
  const tilde = (script: string, more: object = {}) => {
    const made = world({ "home/hook": script })
    made.write(
      "home/.claude/settings.json",
      settings("PreToolUse", [{ command: join(made.home, "hook"), ...more }], "Bash")
    )
    return made
  }

  it("shows that a call is rejected, by which entry, and why", async () => {
    const { hooks, json } = tilde(pushes)
    const { code, value } = await json("test", "PreToolUse", "--tool", "Bash", ...input("git push"))
    assert.strictEqual(code, 1)
    assert.deepInclude(value, {
      event: "PreToolUse",
      point: "preToolCall",
      decision: "deny",
      reason: "ask before you push"
    })
    assert.deepInclude(value.runs[0], {
      key: "hooks.PreToolUse[0].hooks[0]",
      matched: true,
      outcome: "blocking",
      exitCode: 2,
      stdout: "",
      stderr: "ask before you push\n"
    })
    assert.isNumber(value.runs[0].durationMs)
    const fine = await json("test", "pre_tool_use", "--tool", "Bash", ...input("git status"))
    assert.deepEqual([fine.code, fine.value.decision], [0, "allow"])
    const told = await hooks("test", "BeforeTool", "--tool", "Bash", ...input("git push"))
    assert.strictEqual(told.code, 1)
    assert.match(told.stdout, /PreToolUse|BeforeTool/)
    assert.include(told.stdout, "stderr  ask before you push")
  })

  it("shows new input, questions and stops", async () => {
    const changed = tilde(answering(before({ permissionDecision: "allow", updatedInput: { command: "ls -l" } })))
    const { code, value } = await changed.json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([code, value.decision, value.updatedInput], [0, "allow", { command: "ls -l" }])
    const asked = await tilde(answering(before({ permissionDecision: "ask", permissionDecisionReason: "sure?" })))
      .json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([asked.code, asked.value.decision, asked.value.reason], [0, "ask", "sure?"])
    const stopped = await tilde(answering({ continue: false, stopReason: "enough", systemMessage: "seen" }))
      .json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([stopped.code, stopped.value.decision, stopped.value.reason, stopped.value.messages], [
      1,
      "stop",
      "enough",
      ["seen"]
    ])
  })

  it("has a transcript of the flags while it runs", async () => {
    const { home, json, write } = world()
    write(
      "home/hook",
      "#!/bin/bash\nt=$(jq -r .transcript_path); echo \"$t\" >&2; jq -r '.message.content | tostring' \"$t\" >&2; exit 2\n"
    )
    write("home/.claude/settings.json", settings("Stop", [{ command: join(home, "hook") }]))
    const given = ["--prompt", "make it blue", "--tool", "Bash", ...input("ls -l"), "--output", "two files"]
    const payload = ["--payload", "{\"last_assistant_message\":\"it is blue\"}"]
    const { value } = await json("test", "Stop", ...given, ...payload)
    const [path, ...lines] = value.runs[0].stderr.trim().split("\n")
    assert.deepEqual(lines, [
      "make it blue",
      "[{\"type\":\"tool_use\",\"id\":\"call-1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls -l\"}}]",
      "[{\"type\":\"tool_result\",\"tool_use_id\":\"call-1\",\"content\":\"two files\",\"is_error\":false}]",
      "[{\"type\":\"text\",\"text\":\"it is blue\"}]"
    ])
    assert.isFalse(existsSync(path))
    // As an agent writes it: whoever counts answers tells them by their ids.
    write(
      "home/hook",
      "#!/bin/bash\njq -sc '[.[].message | select(.role == \"assistant\")] | [(unique_by(.id) | length), map(.stop_reason)]' \"$(jq -r .transcript_path)\" >&2; exit 2\n"
    )
    const counted = await json("test", "Stop", ...given)
    assert.deepEqual(JSON.parse(counted.value.runs[0].stderr), [2, ["tool_use", "end_turn"]])
    write("home/hook", "#!/bin/bash\ncat \"$(jq -r .transcript_path)\" >&2; exit 2\n")
    const said = await json("test", "Stop", "--output", "all done")
    assert.include(said.value.runs[0].stderr, "all done")
  })

  it("reads text before JSON as text, as an agent does", async () => {
    const { home, json, write } = world()
    write(
      "home/hook",
      "#!/bin/bash\necho \"$(jq -r .transcript_path)\"\necho '{\"decision\":\"block\",\"reason\":\"more\"}'\n"
    )
    write("home/.claude/settings.json", settings("Stop", [{ command: join(home, "hook") }]))
    const { code, value } = await json("test", "Stop")
    assert.deepEqual([code, value.decision], [0, "continue"])
  })

  it("passes every field of the payload to the script, and the event in the format of its system", async () => {
    const { home, json, write } = world({ "home/hook": "#!/bin/bash\ncat >&2\n" })
    const hook = { type: "command", command: join(home, "hook") }
    write("home/.claude/settings.json", settings("PreToolUse", [hook]))
    write("home/.gemini/settings.json", {
      hooks: { BeforeTool: [{ hooks: [{ ...hook, command: `${hook.command} gemini` }] }] }
    })
    write("home/.copilot/hooks/a.json", { version: 1, hooks: { preToolUse: [{ bash: `${hook.command} copilot` }] } })
    const given = {
      tool_name: "Bash",
      tool_input: { command: "ls" },
      permission_mode: "plan",
      transcript_path: "/mine",
      extra: { a: 1 }
    }
    const sources = ["claude", "gemini", "copilot"].flatMap((dialect) => ["--source", dialect])
    const { value } = await json("test", "PreToolUse", "--payload", JSON.stringify(given), ...sources)
    const told = value.runs.map(({ stderr }: { readonly stderr: string }) => JSON.parse(stderr))
    assert.lengthOf(told, 3)
    for (const one of told) {
      assert.deepInclude(one, { permission_mode: "plan", transcript_path: "/mine", extra: { a: 1 } })
    }
    assert.sameMembers(
      told.map((one: { readonly tool_name?: string; readonly toolName?: string }) => one.tool_name ?? one.toolName),
      [
        "Bash",
        "run_shell_command",
        "bash"
      ]
    )
  })

  it("says why an entry did not run", async () => {
    const { json } = tilde(pushes, { if: "Bash(git push *)" })
    const why = async (...args: ReadonlyArray<string>) => (await json("test", "PreToolUse", ...args)).value.runs[0].why
    assert.match(await why("--tool", "Read", "--input", "{}"), /its matcher "Bash" does not match Read/)
    assert.match(await why("--tool", "Bash", ...input("ls")), /its if "Bash\(git push \*\)" does not hold/)
  })

  it("shows the complete output of an entry", async () => {
    const { json } = tilde("#!/bin/bash\nhead -c 5000 /dev/zero | tr '\\0' x\n")
    const { value } = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.strictEqual(value.runs[0].stdout.length, 5000)
  })

  it("kills an entry after --timeout", async () => {
    const { json } = tilde("#!/bin/bash\nexec sleep 60\n")
    const { code, value } = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"), "--timeout", "0.3")
    assert.deepEqual([code, value.decision, value.runs[0].outcome], [0, "allow", "cancelled"])
    assert.match(value.warnings[0], /took too long/)
  })

  it("leaves nothing behind when it is killed", async () => {
    const { cwd, home, managed, root, write } = tilde("")
    write("home/hook", `#!/bin/bash\necho $$ > ${root}/pid\nsleep 60\n`)
    const bin = fileURLToPath(new URL("../bin/belay.mjs", import.meta.url))
    const args = [
      "hooks",
      "test",
      "PreToolUse",
      "--tool",
      "Bash",
      ...input("ls"),
      "--cwd",
      cwd,
      "--home",
      home,
      "--managed",
      managed
    ]
    const temporary = join(root, "tmp")
    mkdirSync(temporary)
    const child = spawn(bin, args, { env: { ...process.env, HOME: home, TMPDIR: temporary } })
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
    await until(() => existsSync(join(root, "pid")) && readFileSync(join(root, "pid"), "utf8") !== "")
    const pid = Number(readFileSync(join(root, "pid"), "utf8"))
    child.kill("SIGTERM")
    assert.strictEqual(await ended, 143)
    assert.deepEqual(readdirSync(temporary).filter((name) => name.startsWith("belay-test-")), [])
    await until(() => isGone(pid))
  })

  it("waits for background entries", async () => {
    const { json } = tilde("#!/bin/bash\necho late\n", { async: true })
    const { value } = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([value.decision, value.runs[0].stdout], ["allow", "late\n"])
  })

  it("reads input from a file and from standard input", async () => {
    const { root, withInput, write } = tilde(pushes)
    write("input.json", { command: "git push" })
    const args = ["test", "PreToolUse", "--tool", "Bash", "--input"]
    assert.strictEqual((await withInput("", ...args, `@${join(root, "input.json")}`)).code, 1)
    assert.strictEqual((await withInput("{\"command\":\"git push\"}", ...args, "-")).code, 1)
    assert.strictEqual(
      (await withInput(
        "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}",
        "test",
        "PreToolUse",
        "--payload",
        "-"
      )).code,
      1
    )
    const missing = await withInput("", ...args, "@nowhere.json")
    assert.deepEqual([missing.code, missing.stderr], [2, "belay: --input: nowhere.json cannot be read\n"])
  })

  it("tries all other events", async () => {
    const at = async (event: string, script: string, more: Partial<Facts> = {}) => {
      const { cwd, home, managed, write } = world({ "home/hook": script })
      write("home/.claude/settings.json", settings(event, [{ command: join(home, "hook") }]))
      const where = {
        cwd,
        home,
        managed,
        dialects: ["claude" as const],
        files: [],
        plugins: [],
        off: false,
        systems: []
      }
      const facts: Facts = { event, occasion: named(event)[0]!.occasion, input: {}, payload: {}, ...more }
      const trial = await Effect.runPromise(Trial.run({ where, facts }))
      const [code, context, { matched }] = [isBlocked(trial) ? 1 : 0, trial.context[0], trial.runs[0]!]
      return [code, trial.decision, trial.reason ?? context ?? trial.output, matched]
    }
    const two = "#!/bin/bash\necho no >&2; exit 2\n"
    assert.deepEqual(await at("UserPromptSubmit", two, { prompt: "hi" }), [1, "block", "no", true])
    assert.deepEqual(await at("SessionStart", "#!/bin/bash\necho hello\n"), [0, "continue", "hello", true])
    assert.deepEqual(await at("SessionEnd", "#!/bin/bash\nexit 0\n"), [0, "continue", undefined, true])
    assert.deepEqual(await at("Stop", two), [1, "block", "no", true])
    assert.deepEqual(await at("SubagentStop", two), [1, "block", "no", true])
    assert.deepEqual(
      await at(
        "SubagentStart",
        answering({ hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext: "c" } })
      ),
      [0, "continue", "c", true]
    )
    assert.deepEqual(await at("PreCompact", two), [1, "block", "no", true])
    assert.deepEqual(await at("PostCompact", two), [0, "continue", undefined, true])
    assert.deepEqual(await at("PostToolUse", two, { tool: "Bash", output: "out" }), [1, "block", "no", true])
    assert.deepEqual(await at("PostToolUseFailure", two, { tool: "Bash", error: "broke" }), [0, "continue", "no", true])
    assert.deepEqual(await at("PostToolBatch", two), [1, "stop", "no", true])
    assert.deepEqual(await at("StopFailure", "#!/bin/bash\nexit 0\n"), [0, "continue", undefined, true])
    assert.deepEqual(await at("FileChanged", "#!/bin/bash\nexit 0\n", { payload: { file_path: "/x" } }), [
      0,
      "continue",
      undefined,
      true
    ])
    assert.deepEqual(await at("TaskCreated", two), [1, "block", "no", true])
    assert.deepEqual(
      await at(
        "PermissionRequest",
        answering({
          hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "deny", message: "never" } }
        }),
        { tool: "Bash" }
      ),
      [1, "deny", "never", true]
    )
    assert.deepEqual(
      await at(
        "PermissionRequest",
        answering({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } }),
        { tool: "Bash" }
      ),
      [0, "allow", undefined, true]
    )
    assert.deepEqual(
      await at(
        "PermissionDenied",
        answering({ hookSpecificOutput: { hookEventName: "PermissionDenied", retry: true } }),
        { tool: "Bash" }
      ),
      [0, "continue", "The call of Bash that was denied may be tried again.", true]
    )
  })
})

describe("belay hooks test, for other systems", () => {
  it("tries hooks of Codex", async () => {
    const { home, json, write } = world({ "home/hook": pushes })
    write("home/.codex/hooks.json", settings("PreToolUse", [{ command: join(home, "hook") }], "Bash"))
    const denied = await json("test", "PreToolUse", "--tool", "Bash", ...input("git push"))
    assert.deepEqual([denied.code, denied.value.decision, denied.value.reason], [1, "deny", "ask before you push"])
    write("home/hook", answering(before({ permissionDecision: "allow", updatedInput: { command: "ls -l" } })))
    const changed = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([changed.code, changed.value.updatedInput], [0, { command: "ls -l" }])
    write("home/hook", answering(before({ permissionDecision: "ask", permissionDecisionReason: "?" })))
    const asked = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([asked.code, asked.value.decision], [0, "allow"])
    assert.match(asked.value.warnings[0], /is not supported/)
  })

  it("tries hooks of Copilot, Gemini and Kodelet by any name of the event", async () => {
    const { json, write } = world()
    write("home/.copilot/hooks/a.json", { version: 1, hooks: { preToolUse: [{ bash: "exit 3" }] } })
    write("home/.gemini/settings.json", {
      hooks: {
        BeforeTool: [{ matcher: "run_shell_command", hooks: [{ type: "command", command: "echo no >&2; exit 2" }] }]
      }
    })
    write(
      "home/.kodelet/hooks/guard",
      "#!/bin/bash\ncase $1 in hook) echo before_tool_call ;; run) echo '{\"blocked\":true,\"reason\":\"not here\"}' ;; esac\n"
    )
    for (
      const [source, event, reason] of [["copilot", "preToolUse", /hook errored/], ["gemini", "BeforeTool", /^no$/], [
        "kodelet",
        "before_tool_call",
        /^not here$/
      ]] as const
    ) {
      const { code, value } = await json("test", event, "--source", source, "--tool", "Bash", ...input("ls"))
      assert.deepEqual([source, code, value.decision], [source, 1, "deny"])
      assert.match(value.reason, reason)
      assert.isTrue(value.runs[0].matched)
    }
  })
})

describe("belay hooks test, with a matcher for another tool", () => {
  it("shows the name of the tool in that system", async () => {
    const { home, json, write } = world({ "home/hook": "#!/bin/bash\nexit 0\n" })
    const hook = { type: "command", command: join(home, "hook") }
    write("home/.gemini/settings.json", { hooks: { BeforeTool: [{ matcher: "Bash", hooks: [hook] }] } })
    write("home/.copilot/hooks/a.json", {
      version: 1,
      hooks: { preToolUse: [{ matcher: "shell", bash: hook.command }] }
    })
    const sources = ["--source", "gemini", "--source", "copilot"]
    const { value } = await json("test", "BeforeTool", "--tool", "Bash", ...input("ls"), ...sources)
    assert.deepEqual(value.runs.map(({ why }: { readonly why: string }) => why).sort(), [
      "its matcher \"Bash\" does not match run_shell_command, as Gemini CLI calls Bash",
      "its matcher \"shell\" does not match bash, as GitHub Copilot calls Bash"
    ])
  })
})

describe("belay hooks test, in an untrusted project", () => {
  it("runs nothing and says so; --trust-once runs the entries for this call", async () => {
    const { cwd, hooks, json } = world({
      "project/.claude/settings.json": settings("SessionStart", [{ command: "touch ran; echo hello" }])
    })
    const first = await json("test", "SessionStart")
    assert.deepEqual([first.code, first.value.decision, first.value.untrusted, first.value.context], [
      3,
      "continue",
      1,
      []
    ])
    assert.match(first.value.runs[0].why, /belay hooks trust, or --trust-once/)
    assert.include(first.value.warnings[0], cwd)
    const told = await hooks("test", "SessionStart")
    assert.strictEqual(told.code, 3)
    assert.include(
      told.stdout.split("\n")[0],
      "continue, but 1 entry of the project did not run because nobody has trusted it"
    )
    const once = await json("test", "SessionStart", "--trust-once")
    assert.deepEqual([once.code, once.value.untrusted, once.value.context], [0, 0, ["hello"]])
    assert.isFalse((await json("test", "SessionStart")).value.runs[0].matched)
  })

  it("ends with the decision of other entries, and counts only entries that would have run", async () => {
    const { home, json, write } = world({
      "project/.claude/settings.json": settings("PreToolUse", [{ command: "touch ran" }], "Bash"),
      "home/hook": pushes
    })
    write("home/.claude/settings.json", settings("PreToolUse", [{ command: join(home, "hook") }], "Bash"))
    const denied = await json("test", "PreToolUse", "--tool", "Bash", ...input("git push"))
    assert.deepEqual([denied.code, denied.value.decision, denied.value.untrusted], [1, "deny", 1])
    const open = await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))
    assert.deepEqual([open.code, open.value.decision, open.value.untrusted], [3, "allow", 1])
    const other = await json("test", "PreToolUse", "--tool", "Read", "--input", "{}")
    assert.deepEqual([other.code, other.value.untrusted], [0, 0])
    write("home/hook", answering(before({ permissionDecision: "ask", permissionDecisionReason: "sure?" })))
    assert.strictEqual((await json("test", "PreToolUse", "--tool", "Bash", ...input("ls"))).code, 0)
  })
})
