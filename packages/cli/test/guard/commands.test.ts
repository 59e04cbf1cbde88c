import { all } from "@belay/hook-files/Wires"
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { run, runHere } from "../belay.ts"
import { call, program, projectWith } from "./support/guarded.ts"

const quoted = [process.execPath, program].map((word) => JSON.stringify(word)).join(" ")

describe("belay guard init", () => {
  it.each(all.map(({ system }) => [system] as const))(
    "writes a config that runs in %s, and trusts it",
    async (system) => {
      const { cwd, home, send } = projectWith()
      const place = ["--cwd", cwd, "--home", home]
      const { code, stdout } = await runHere(["guard", "init", "--system", system, "--outward", "deny", ...place])
      assert.strictEqual(code, 0, stdout)
      const event =
        Object.entries(all.find((one) => one.system === system)!.events).find(([, { call: shape, means }]) =>
          means === "toolCall" && (shape === undefined || shape.name === "Bash") &&
          (system !== "cursor" || shape !== undefined)
        )![0]
      const refused = await send(system, event, call("1", "Bash", { command: "git push origin main" }))
      assert.include(refused.stdout + refused.stderr, "git push")
      assert.match(refused.stdout + refused.stderr, /den|reject|not allowed/i)
      const allowed = await send(system, event, call("2", "Bash", { command: "ls" }))
      assert.deepStrictEqual([allowed.stdout, allowed.stderr], ["{}", ""])
    }
  )

  it("leaves out the hooks that nobody wants, and does not write over a config", async () => {
    const { cwd, home } = projectWith()
    const place = ["--cwd", cwd, "--home", home]
    const flags = ["--system", "codex", "--outward", "allow", "--values", "allow", "--calls", "0"]
    assert.strictEqual((await runHere(["guard", "init", ...flags, ...place])).code, 0)
    const text = readFileSync(join(cwd, "belay.guard.ts"), "utf8")
    for (const name of ["DataFlow", "PermissionRules", "ToolCallLimit"]) assert.notInclude(text, name)
    const again = await runHere(["guard", "init", ...flags, ...place])
    assert.strictEqual(again.code, 2)
    assert.include(again.stderr, "is there already")
  })
})

describe("belay guard trust", () => {
  it("shows the config and its imports, and trusts exactly them after a yes", async () => {
    const { cwd, home, send } = projectWith()
    writeFileSync(join(cwd, "rules.ts"), "export const rules = []")
    writeFileSync(join(cwd, "belay.guard.ts"), `import { rules } from "./rules.ts"\nexport default rules`)
    const place = ["--cwd", cwd, "--home", home]
    const shown = await runHere(["guard", "trust", ...place])
    assert.strictEqual(shown.code, 1)
    assert.include(shown.stdout, "export const rules = []")
    assert.strictEqual((await send("claude", "Stop")).stderr.includes("nobody has trusted"), true)
    assert.strictEqual((await runHere(["guard", "trust", "--yes", ...place])).code, 0)
    assert.strictEqual((await send("claude", "PreToolUse", call("1", "Bash", {}))).stdout, "{}")
    assert.include((await runHere(["guard", "trust", ...place])).stdout, "is trusted already")
    // The decision about hook files of the project is another one.
    await runHere(["hooks", "untrust", cwd, ...place])
    assert.strictEqual((await send("claude", "PreToolUse", call("2", "Bash", {}))).code, 2)
  })

  it("asks again when a file appears that the config imports if it is there", async () => {
    const { cwd, home, send } = projectWith()
    const config = "export default await import(\"./local.mjs\").then((one) => one.default, () => [])"
    writeFileSync(join(cwd, "belay.guard.ts"), config)
    assert.strictEqual((await runHere(["guard", "trust", "--yes", "--cwd", cwd, "--home", home])).code, 0)
    assert.strictEqual((await send("claude", "PreToolUse", call("1", "Bash", {}))).stdout, "{}")
    writeFileSync(join(cwd, "local.mjs"), "export default []")
    assert.include((await send("claude", "PreToolUse", call("2", "Bash", {}))).stderr, "nobody has trusted")
  })
})

describe("belay guard trust for a list of ready hooks", () => {
  it("refuses a list that cannot be loaded, and reads one that begins with a byte order mark", async () => {
    const { cwd, home, send } = projectWith()
    const place = ["--cwd", cwd, "--home", home]
    const write = (text: string): void => writeFileSync(join(cwd, "belay.guard.json"), text)
    for (
      const [text, why] of [["[", "is not JSON"], ["[\"ProtectedPath\"]", "did you mean"], ["{}", "no list of hooks"]]
    ) {
      write(text!)
      const { code, stderr } = await runHere(["guard", "trust", "--yes", ...place])
      assert.strictEqual(code, 2)
      assert.include(stderr, why!)
    }
    write("\uFEFF[\"ProtectedPaths\"]")
    assert.strictEqual((await runHere(["guard", "trust", "--yes", ...place])).code, 0)
    assert.strictEqual((await send("claude", "PreToolUse", call("1", "Bash", { command: "ls" }))).stdout, "{}")
  })
})

describe("belay guard run --help", () => {
  it("shows the flags, and waits for no payload", async () => {
    const { stdout } = await run(process.execPath, [
      resolve(import.meta.dirname, "../../bin/belay.mjs"),
      ..."guard run --help".split(" ")
    ])
    assert.include(stdout, "--system")
  })
})

describe("belay guard log", () => {
  it("reads the file that was moved too, and shows the sessions that are asked for", async () => {
    const { cwd, home, send } = projectWith(
      `export default { hooks: [{ name: "no", preToolCall: () => ({ _tag: "Reject", reason: "no" }) }] }`
    )
    const push = call("1", "Bash", { command: "git push" })
    const log = join(home, ".belay", "guard", "log.jsonl")
    await send("claude", "PreToolUse", { ...push, session: "s1" })
    renameSync(log, `${log}.1`)
    await send("claude", "PreToolUse", { ...push, session: "s10" })
    await send("claude", "PreToolUse", { ...push, session: "s1", agent: { id: "a", name: "x" } })
    await send("claude", "PreToolUse", { session: "s1" })
    const sessions = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
      const { stdout } = await runHere(["guard", "log", "--json", "--cwd", cwd, "--home", home, ...args])
      return JSON.parse(stdout).map(({ session }: { readonly session: string }) => session)
    }
    assert.deepStrictEqual(await sessions(), ["claude.s1", "claude.s10", "claude.s1.a", "claude"])
    assert.deepStrictEqual(await sessions("--session", "claude.s1"), ["claude.s1", "claude.s1.a"])
    assert.lengthOf(await sessions("--session", "claude"), 4)
    assert.deepStrictEqual(await sessions("--session", "cla"), [])
    assert.deepStrictEqual(await sessions("--last", "1"), ["claude"])
    // A recording of another host has answers of people without a name.
    const answer = { type: "decided", callId: "7", decision: "approve", sessionId: "claude.s1", time: 1 }
    appendFileSync(log, `${JSON.stringify({ type: "event", event: answer })}\n`)
    const { stdout } = await runHere(["guard", "log", "--json", "--cwd", cwd, "--home", home])
    assert.deepInclude(JSON.parse(stdout)[0], { what: "7", decision: "approve", by: "person" })
    for (const last of ["0", "-1"]) {
      const { code, stderr } = await runHere(["guard", "log", "--last", last, "--cwd", cwd, "--home", home])
      assert.deepEqual([code, stderr.includes("--last")], [2, true], stderr)
    }
  })

  it("is what belay backtest tries hooks on, also those that import packages of the command", async () => {
    const { claude, cwd, home } = projectWith("export default []")
    await claude("UserPromptSubmit", { prompt: "go" })
    await claude("PreToolUse", call("1", "Bash", { command: "git push" }))
    const hook = `import { defineHook, HookAction } from "@belay/core"
      import { DataFlow, PermissionRules } from "@belay/hooks"
      export default { hooks: [
        DataFlow.coding({ sinks: { Agent: "local" } }),
        PermissionRules.make({ otherwise: "allow", deny: ["Bash(git push*)"] }),
        defineHook({ name: "mine", preToolCall: () => HookAction.reject("no") })
      ] }`
    const file = join(cwd, "rules.ts")
    writeFileSync(file, hook)
    const log = join(home, ".belay", "guard", "log.jsonl")
    const { stderr, stdout } = await run(process.execPath, [
      "--conditions=@belay/source",
      resolve(import.meta.dirname, "../../src/bin/belay.ts"),
      "backtest",
      log,
      "--hook",
      file
    ])
    assert.match(stdout, /stricter .*Bash: Reject/, stderr)
    assert.notInclude(stdout, "the agent has no such tool")
  })

  it("shows what was decided and where the guard failed, and belay backtest reads its file", async () => {
    const { claude, cwd, home, text } = projectWith(`import { PermissionRules } from "@belay/hooks"
      export default { hooks: [PermissionRules.make({ otherwise: "allow", deny: ["Bash(git push*)"], ask: ["Bash(npm *)"] })] }`)
    await claude("UserPromptSubmit", { prompt: "publish it" })
    await claude("PreToolUse", call("1", "Bash", { command: "git push" }))
    await claude("PreToolUse", call("2", "Bash", { command: "npm publish" }))
    await claude("PreToolUse", call("3", "Bash", { command: "ls" }))
    await text("claude", "no json")
    const place = ["--cwd", cwd, "--home", home]
    const { stdout } = await runHere(["guard", "log", "--json", ...place])
    const lines = JSON.parse(stdout) as ReadonlyArray<{ readonly [field: string]: string }>
    assert.deepStrictEqual(lines.map(({ decision, what }) => `${decision} ${what}`), [
      "denied Bash",
      "asked Bash",
      "failed "
    ])
    assert.include((await runHere(["guard", "log", "--all", ...place])).stdout, "allowed")
    assert.include((await runHere(["guard", "log", "--session", "codex", ...place])).stdout, "Nothing was decided yet")
    writeFileSync(
      join(cwd, "stricter.ts"),
      `export default { name: "stricter", preToolCall: () => ({ _tag: "Reject", reason: "no" }) }`
    )
    const log = join(home, ".belay", "guard", "log.jsonl")
    const backtest = await runHere(["backtest", log, "--hook", join(cwd, "stricter.ts")])
    assert.include(backtest.stdout, "1 session")
    assert.match(backtest.stdout, /stricter .*preToolCall Bash: Reject stricter no/)
  })
})

describe("belay guard doctor", () => {
  it.each(["claude", "windsurf"])(
    "plays a harmless payload through every wired event of %s, and lists what gets around the guard",
    async (system) => {
      const { cwd, home } = projectWith("export default { hooks: [{ name: \"all\", preToolCall: () => undefined }] }")
      const place = ["--cwd", cwd, "--home", home]
      await runHere(["guard", "install", system, "--yes", "--program", quoted, ...place])
      const { code, stdout } = await runHere(["guard", "doctor", system, "--json", ...place])
      const [report] = JSON.parse(stdout)
      const bad = report.findings.filter(({ level }: { readonly level: string }) => level === "error")
      assert.deepStrictEqual(bad, [])
      assert.strictEqual(code, 0)
      const { events } = all.find((one) => one.system === system)!
      for (const event of Object.keys(events)) assert.include(stdout, `${event}: answers`)
      assert.isAbove(report.holes.length, 0)
      assert.deepStrictEqual(report.coverage, ["preToolCall: enforced (all)"])
    },
    60_000
  )

  it("finds a missing config, missing events, and lines that let calls run", async () => {
    const { cwd, home } = projectWith()
    const place = ["--cwd", cwd, "--home", home]
    const none = await runHere(["guard", "doctor", ...place])
    assert.strictEqual(none.code, 1)
    assert.include(none.stdout, "No system is wired")
    mkdirSync(join(cwd, ".claude"))
    const hooks = { SessionEnd: [{ hooks: [{ type: "command", command: "nothing-here guard run --system claude" }] }] }
    writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify({ hooks }))
    const { code, stdout } = await runHere(["guard", "doctor", ...place])
    assert.strictEqual(code, 1)
    assert.match(stdout, /there is no belay\.guard\.ts/)
    assert.match(stdout, /does not call the guard at .*PreToolUse/)
    assert.match(stdout, /a missing command lets calls run at SessionEnd/)
    assert.match(stdout, /SessionEnd: ends with 127/)
    const levels = async () =>
      (JSON.parse((await runHere(["guard", "doctor", "claude", "--json", ...place])).stdout)[0]
        .findings as ReadonlyArray<
          { readonly level: string; readonly text: string }
        >).flatMap(({ level, text }) => /does not call the guard at|a missing command/.test(text) ? [level] : [])
    assert.deepStrictEqual(await levels(), ["error", "warning"])
    // Without the calls of tools, nothing is guarded. The rest is less.
    const guarded = { hooks: [{ type: "command", command: "nothing-here guard run --system claude || exit 2" }] }
    writeFileSync(join(cwd, ".claude", "settings.json"), JSON.stringify({ hooks: { PreToolUse: [guarded] } }))
    assert.deepStrictEqual(await levels(), ["warning"])
  })
})
