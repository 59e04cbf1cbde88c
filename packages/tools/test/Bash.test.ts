/** The tool for commands, with real processes. */
import { createAgent } from "@belay/core/createAgent"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import * as Scripted from "@belay/testing/Scripted"
import * as Bash from "@belay/tools/Bash"
import * as Toolset from "@belay/tools/Toolset"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isGone, until } from "../../../test/support/processes.ts"
import { newFolder, useTool, useTools } from "./support/useTool.ts"

const bash = async (command: string, options?: Bash.Options, args: object = {}, cwd = newFolder()) => {
  const { isError, text } = await useTool(cwd, Bash.make(options), { command, ...args })
  const shown: {
    readonly stdout?: string
    readonly stderr?: string
    readonly exitCode?: number
    readonly note?: string
  } = isError ? {} : JSON.parse(text)
  return { isError, text, ...shown }
}

describe("Bash", () => {
  it("runs a command in the working folder, and returns its output and its exit code", async () => {
    const cwd = newFolder()
    const used = await bash("pwd; echo problem >&2; exit 3", {}, {}, cwd)
    assert.deepInclude(used, { exitCode: 3, stdout: `${cwd}\n`, stderr: "problem\n", isError: false })
  })

  it("does not show the keys of the program to commands", async () => {
    process.env["BELAY_TEST_KEY"] = "secret"
    assert.deepInclude(await bash("echo [$BELAY_TEST_KEY]"), { stdout: "[]\n" })
    assert.deepInclude(await bash("echo [$BELAY_TEST_KEY]", { passEnv: ["BELAY_TEST_KEY"] }), { stdout: "[secret]\n" })
    assert.deepInclude(await bash("echo [$OWN]", { env: { OWN: "mine" } }), { stdout: "[mine]\n" })
    delete process.env["BELAY_TEST_KEY"]
  })

  it("does not wait for input", async () => {
    assert.deepInclude(await bash("cat; echo end"), { stdout: "end\n" })
  })

  it("ends the processes that a command leaves in the background", async () => {
    const { stdout } = await bash("sleep 1000 & echo $!")
    await until(() => isGone(Number(stdout)))
  })

  it("ends all processes of a command that takes too long, and shows what it wrote", async () => {
    const cwd = newFolder()
    const { isError, text } = await bash("echo begun; sleep 1000 & echo $! > pid; wait", {}, { timeout: 2_000 }, cwd)
    assert.isTrue(isError)
    assert.strictEqual(text, "the command was ended after 2000 ms; before, it wrote:\nbegun\n")
    await until(() => isGone(Number(readFileSync(join(cwd, "pid"), "utf8"))))
  })

  it("lets the model choose a time only up to the largest one", async () => {
    const { text } = await bash("sleep 1000", { timeoutMs: 100, maxTimeoutMs: 200 }, { timeout: 1e9 })
    assert.strictEqual(text, "the command was ended after 200 ms; it wrote nothing")
    // The largest time is a limit of the model, not of the program.
    const own = await bash("sleep 1000", { timeoutMs: 200, maxTimeoutMs: 100 })
    assert.strictEqual(own.text, "the command was ended after 200 ms; it wrote nothing")
  })

  it("ends all processes when the turn is cancelled", async () => {
    const cwd = newFolder()
    const provider = Scripted.make([
      Scripted.toolCalls({ name: "Bash", args: { command: "sleep 1000 & echo $! > pid; wait" } }),
      "done"
    ])
    const controller = new AbortController()
    await using agent = createAgent({ provider, tools: [Bash.make()], cwd, log: false })
    const run = agent.run("go", { signal: controller.signal }).then(() => "ended", () => "cancelled")
    const file = join(cwd, "pid")
    await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"))
    const pid = Number(readFileSync(file, "utf8"))
    assert.isFalse(isGone(pid))
    controller.abort()
    await run
    await until(() => isGone(pid))
  })

  it("shows only the beginning of a long output, and says so", async () => {
    const used = await bash("head -c 5000 /dev/zero | tr '\\0' x", { maxOutput: 100 }) as {
      stdout?: string
      note?: string
    }
    assert.strictEqual(used.stdout, "x".repeat(100))
    assert.match(used.note!, /^Only the first 100 bytes are shown/)
  })

  it("runs commands where the program says", async () => {
    const used = await bash("echo hello", {
      run: ({ command }) =>
        Effect.succeed({
          exitCode: 0,
          stdout: `in a box: ${command}`,
          stderr: "",
          timedOut: false,
          overflowed: false,
          durationMs: 0
        })
    })
    assert.deepInclude(used, { stdout: "in a box: echo hello" })
  })

  it("names an option that does not exist", () => {
    assert.throws(() => Bash.make({ timeout: 5 } as never), /timeout.*timeoutMs/s)
    assert.throws(() => Bash.make({ timeoutMs: 0 }), /timeoutMs/)
  })
})

describe("the tools with rules and hooks for Claude Code", () => {
  it("need no mapping for rules about commands", async () => {
    const rules = PermissionRules.make({
      deny: ["Bash(git push *)", "write(**/*.lock)"],
      allow: ["Bash(echo *)"],
      permissionMode: "dontAsk"
    })
    const results = await useTools(newFolder(), [Bash.make()], [
      ["Bash", { command: "echo fine" }],
      ["Bash", { command: "git push --force" }],
      ["Bash", { command: "echo x > a.lock" }],
      ["Bash", { command: "touch x" }]
    ], [rules])
    assert.deepEqual(results.map(({ isError }) => isError), [false, true, true, true])
  })

  it("give scripts the input that they expect", async () => {
    const cwd = newFolder()
    mkdirSync(join(cwd, ".claude"))
    const hook = { type: "command", command: `cat >> ${join(cwd, "log.jsonl")}; echo >> ${join(cwd, "log.jsonl")}` }
    const hooks = [{ matcher: "Read|Write|Edit|Bash|Glob|Grep", hooks: [hook] }]
    writeFileSync(
      join(cwd, ".claude/settings.json"),
      JSON.stringify({ hooks: { PreToolUse: hooks, PostToolUse: hooks } })
    )
    const files = { cwd, home: newFolder() }
    for (const { trust } of HookFiles.load(files).untrusted) trust()
    const steps = [
      ["Write", { file_path: "a.txt", content: "hello" }],
      ["Edit", { file_path: "a.txt", old_string: "hello", new_string: "bye" }],
      ["Read", { file_path: "a.txt" }],
      ["Bash", { command: "echo out" }],
      ["Grep", { pattern: "bye", path: ".", glob: "*.txt" }]
    ] as const
    const tools = [...Toolset.files(), Bash.make()]
    for (const step of steps) await useTools(cwd, tools, [step], HookFiles.load(files).hooks)
    const log = readFileSync(join(cwd, "log.jsonl"), "utf8").trim().split(/\n+/).map((line) => JSON.parse(line))
    const before = log.filter(({ hook_event_name }) => hook_event_name === "PreToolUse")
    const after = log.filter(({ hook_event_name }) => hook_event_name === "PostToolUse")
    assert.deepEqual(before.map(({ tool_name }) => tool_name), steps.map(([name]) => name))
    assert.strictEqual(before[0].tool_input.file_path, join(cwd, "a.txt"))
    assert.strictEqual(after[2].tool_response.file.content, "bye")
    assert.strictEqual(after[3].tool_response.stdout, "out\n")
    assert.strictEqual(after[4].tool_response.content, "a.txt:1:bye")
  })
})
