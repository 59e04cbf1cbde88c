/** Hooks of Codex: read as strictly as Codex reads them, in agents that run. */
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as Codex from "@belay/hook-files/Codex"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"

const command = (line: string, more: object = {}) => ({ hooks: [{ type: "command", command: line, ...more }] })

const specific = (fields: object, event = "PreToolUse") =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })

/** What becomes of `ls` when a hook before it says something. */
const decide = async (...lines: ReadonlyArray<string>) => {
  const root = folder()
  const [cwd, home] = [join(root, "p"), join(root, "home")]
  write(join(cwd, "README"), "")
  write(join(home, ".codex/hooks.json"), JSON.stringify({ hooks: { PreToolUse: lines.map((line) => command(line)) } }))
  const { ran, tools } = recording()
  const warnings: Array<string> = []
  await using agent = createAgent({
    provider: scripted([calls(["bash", { command: "ls" }])]).provider,
    tools,
    cwd,
    hookSources: [HookFiles.source({ home, sources: ["codex"] })]
  })
  agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
  const result = await agent.run("go")
  return {
    ran,
    status: result.status,
    said: result.messages.filter(({ role }) => role === "tool").map(text)[0],
    warnings: warnings.join("\n")
  }
}

const echo = (json: string) => `cat > /dev/null; echo '${json}'`

describe("Codex", () => {
  const blocks: ReadonlyArray<readonly [what: string, line: string, reason: string]> = [
    ["exit code 2 with a reason", "echo 'no ls' >&2; exit 2", "no ls"],
    [
      "permissionDecision deny with a reason",
      echo(specific({ permissionDecision: "deny", permissionDecisionReason: "not here" })),
      "not here"
    ],
    ["decision block with a reason", echo(JSON.stringify({ decision: "block", reason: "old words" })), "old words"]
  ]
  for (const [what, line, reason] of blocks) {
    it(`blocks at ${what}`, async () => {
      const { ran, said } = await decide(line)
      assert.deepEqual([ran, said], [[], reason])
    })
  }

  const open: ReadonlyArray<readonly [what: string, line: string, warning: RegExp]> = [
    ["exit code 2 without a word", "exit 2", /gave no reason on standard error/],
    [
      "another exit code",
      `echo '${specific({ permissionDecision: "deny", permissionDecisionReason: "x" })}'; exit 1`,
      /ended with 1/
    ],
    ["deny without a reason", echo(specific({ permissionDecision: "deny" })), /deny needs a reason/],
    ["block without a reason", echo(JSON.stringify({ decision: "block", reason: " " })), /block needs a reason/],
    ["ask", echo(specific({ permissionDecision: "ask", permissionDecisionReason: "sure?" })), /"ask" is not supported/],
    ["approve", echo(JSON.stringify({ decision: "approve" })), /"approve" is not supported/],
    ["allow without a new input", echo(specific({ permissionDecision: "allow" })), /allow needs updatedInput/],
    [
      "a new input without allow",
      echo(specific({ updatedInput: { command: "x" } })),
      /updatedInput needs permissionDecision allow/
    ],
    ["continue: false", echo(JSON.stringify({ continue: false })), /continue: false is not supported/],
    ["suppressOutput", echo(JSON.stringify({ suppressOutput: true })), /suppressOutput is not supported/],
    ["an unknown key", echo(JSON.stringify({ decision: "block", reason: "x", extra: 1 })), /unknown key "extra"/],
    [
      "an unknown key inside",
      echo(specific({ permissionDecision: "deny", permissionDecisionReason: "x", extra: 1 })),
      /unknown key hookSpecificOutput\.extra/
    ],
    ["another event's answer", echo(specific({ additionalContext: "x" }, "Stop")), /hookEventName is not PreToolUse/],
    ["broken JSON", echo(`{"decision":`), /is not JSON/]
  ]
  for (const [what, line, warning] of open) {
    it(`goes on after ${what}, with a warning`, async () => {
      const { ran, warnings } = await decide(line)
      assert.deepEqual(ran, ["ls"])
      assert.match(warnings, warning)
    })
  }

  it("lets the tool run with a new input that comes with allow; of several the last in the file counts", async () => {
    const allow = (line: string) => specific({ permissionDecision: "allow", updatedInput: { command: line } })
    assert.deepEqual((await decide(echo(allow("ls -l")))).ran, ["ls -l"])
    assert.deepEqual((await decide(`sleep 0.3; echo '${allow("one")}'`, echo(allow("two")))).ran, ["two"])
  })

  it("runs entries with `if`, a timeout of 0 and no matcher for every call, and warns of `if`", () => {
    const entry = { type: "command", command: "exit 2", if: "Bash(git *)", timeout: 0 }
    const { handlers, warnings } = HookConfig.fromValue(
      { hooks: { PreToolUse: [{ matcher: null, hooks: [entry] }] } },
      "hooks.json",
      { flavor: "codex" }
    )
    assert.deepEqual(handlers.map(({ rule, timeout }) => [rule, timeout]), [[undefined, 1]])
    assert.match(warnings[0]!.reason, /Codex ignores it/)
  })

  it("joins reasons with an empty line, and runs what stands twice twice", async () => {
    const { said } = await decide("echo no >&2; exit 2", "echo no >&2; exit 2")
    assert.strictEqual(said, "no\n\nno")
  })

  it("tells what Codex tells, and runs lines with the folders that scripts look for", async () => {
    const root = folder()
    write(
      join(root, "home/.codex/hooks.json"),
      JSON.stringify({ hooks: { PreToolUse: [command(`cat > told.json; echo "$CLAUDE_PROJECT_DIR" > folder.txt`)] } })
    )
    write(join(root, "p/README"), "")
    await using agent = createAgent({
      provider: scripted([calls(["bash", { command: "ls" }])]).provider,
      tools: recording().tools,
      cwd: join(root, "p"),
      hookSources: [HookFiles.source({ home: join(root, "home"), sources: ["codex"] })]
    })
    await agent.run("go")
    const told = JSON.parse(readFileSync(join(root, "p/told.json"), "utf8"))
    assert.strictEqual(readFileSync(join(root, "p/folder.txt"), "utf8").trim(), join(root, "p"))
    assert.sameMembers(Object.keys(told), [
      "session_id",
      "turn_id",
      "transcript_path",
      "cwd",
      "hook_event_name",
      "model",
      "permission_mode",
      "tool_name",
      "tool_input",
      "tool_use_id"
    ])
    const cwd = join(root, "p")
    assert.deepInclude(told, {
      hook_event_name: "PreToolUse",
      model: "model-1",
      tool_name: "Bash",
      tool_input: { command: "ls" },
      cwd
    })
  })

  it(
    "says the model that answered last, and null for a transcript where none is written",
    async () => {
      const root = folder()
      const note = [command("cat >> told.jsonl")]
      write(join(root, "home/.codex/hooks.json"), JSON.stringify({ hooks: { UserPromptSubmit: note, Stop: note } }))
      write(join(root, "p/README"), "")
      await using agent = createAgent({
        provider: scripted([{ text: "one" }, { text: "two" }]).provider,
        cwd: join(root, "p"),
        hookSources: [HookFiles.source({ home: join(root, "home"), sources: ["codex"], transcripts: false })]
      })
      const session = await agent.session()
      await session.run("go")
      await session.run("go on")
      const told = readFileSync(join(root, "p/told.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
      assert.deepEqual(told.map(({ model }) => model), ["", "model-1", "model-1", "model-1"])
      assert.deepEqual(told.map((one) => one.transcript_path), [null, null, null, null])
    }
  )

  it("reads hooks.json and config.toml of the user and the project, and trusts the project's when somebody does", () => {
    const root = folder()
    const [cwd, home] = [join(root, "p"), join(root, "home")]
    write(
      join(home, ".codex/config.toml"),
      `model = "x"\n[features]\nhooks = true\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "./user.sh"\ntimeout = 5\n`
    )
    write(join(cwd, ".codex/hooks.json"), JSON.stringify({ hooks: { PreToolUse: [command("./project.sh")] } }))
    write(join(cwd, ".codex/config.toml"), "= broken")
    const { hooks, untrusted, warnings } = HookFiles.load({ cwd, home, sources: ["codex"] })
    assert.lengthOf(hooks, 1)
    assert.deepEqual(untrusted[0]!.commands.map((one) => one.command), ["./project.sh"])
    assert.match(warnings.map(HookConfig.show).join("\n"), /config\.toml: is not TOML/)
  })

  it("takes a patch for a write, and a write for a patch", async () => {
    const root = folder()
    const deny = (word: string) => command(`echo ${word} >&2; exit 2`)
    const hooks = { PreToolUse: [{ matcher: "apply_patch", ...deny("patch") }, { matcher: "Edit", ...deny("edit") }] }
    write(join(root, "home/.codex/hooks.json"), JSON.stringify({ hooks }))
    await using agent = createAgent({
      provider: scripted([calls(["write_file", { path: "x", content: "y" }])]).provider,
      tools: recording().tools,
      cwd: root,
      hookSources: [HookFiles.source({ cwd: join(root, "p"), home: join(root, "home"), sources: ["codex"] })]
    })
    const { messages } = await agent.run("go")
    assert.deepEqual(messages.filter(({ role }) => role === "tool").map(text), ["patch"])
  })

  it("takes names of few characters exactly, knows its own events only, and skips patterns that are none", () => {
    const hooks = {
      PreToolUse: [{ matcher: "Edit|Write", ...command("a") }, { matcher: "Ba-sh", ...command("b") }, {
        matcher: "[",
        ...command("c")
      }],
      StopFailure: [command("d")]
    }
    const { handlers, warnings } = Codex.decode(JSON.stringify({ hooks }), "hooks.json")
    assert.deepEqual(
      handlers.map(({ matcher }) => ["Edit", "MultiEdit", "xBa-shx", "["].map((name) => matcher.test(name))),
      [
        [true, false, false, false],
        [false, false, true, false],
        [false, false, false, false]
      ]
    )
    assert.deepEqual(warnings.map(({ key }) => key), ["hooks.PreToolUse[2].matcher", "hooks.StopFailure"])
  })
})
