/** What is around the command: links, folders that are gone, broken files of the project, and a system that has ended. */
import { named } from "@belay/hook-files/Wires"
import { spawn } from "node:child_process"
import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { payloadOf } from "../../src/internal/guard/sample.ts"
import { run } from "../belay.ts"
import { call, type Ended, program, type Project, projectWith, runWith } from "./support/guarded.ts"

const rules = `import { defineHook, HookAction } from "@belay/core"
export const hooks = [defineHook({ name: "no-push", kind: "policy", tools: "Bash", preToolCall: ({ args }) =>
  String(Object(args).command).includes("git push") ? HookAction.reject("no push") : undefined })]`
const config = `import { hooks } from "./rules.ts"\nexport default { hooks }`

const payload = (cwd: string, command: string): string =>
  JSON.stringify(
    payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd, ...call(command, "Bash", { command }) })
  )

/** The guard decides by its hooks: it refuses one command, and lets another one run. */
const assertDecides = async ({ cwd, home }: Project, env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const send = (command: string): Promise<Ended> =>
    runWith(["--system", "claude", "--event", "PreToolUse"], payload(cwd, command), { cwd, home, env })
  const [push, list] = await Promise.all([send("git push"), send("ls")])
  assert.include(push.stdout, "\"permissionDecisionReason\":\"no push\"", push.stderr)
  assert.strictEqual(list.stdout, "{}", list.stderr)
}

describe("a config", () => {
  it("can be a symbolic link, and imports what is beside the file that it points to", async () => {
    const project = projectWith()
    const elsewhere = join(dirname(project.cwd), "elsewhere")
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, "rules.ts"), rules)
    writeFileSync(join(elsewhere, "shared.ts"), config)
    symlinkSync(join(elsewhere, "shared.ts"), join(project.cwd, "belay.guard.ts"))
    // It writes through the link.
    project.configure(config)
    await assertDecides(project)
    writeFileSync(join(elsewhere, "rules.ts"), `${rules}\n`)
    const { code, stderr } = await project.send("claude", "PreToolUse", call("1", "Bash", { command: "ls" }))
    assert.strictEqual(code, 2)
    assert.match(stderr, /nobody has trusted/)
  })

  it("is found where the system names the project by a symbolic link", async () => {
    const project = projectWith()
    writeFileSync(join(project.cwd, "rules.ts"), rules)
    project.configure(config)
    const link = join(dirname(project.cwd), "link")
    symlinkSync(project.cwd, link)
    await assertDecides(project, { CLAUDE_PROJECT_DIR: link })
  })

  it("runs while the package.json of the project has a merge conflict, so that the agent can solve it", async () => {
    const project = projectWith()
    writeFileSync(join(project.cwd, "package.json"), "<<<<<<< HEAD\n{ \"name\": \"a\" }")
    writeFileSync(join(project.cwd, "rules.ts"), rules)
    project.configure(config)
    await assertDecides(project)
  })
})

describe("the command", () => {
  it("refuses with a reason in a folder that is gone", async () => {
    const { cwd, home } = projectWith("export default []")
    const gone = join(cwd, "gone")
    mkdirSync(gone)
    const line = `cd "${gone}"; rmdir "${gone}"; "${process.execPath}" "${program}" guard run --system claude || exit 2`
    const { code, stderr } = await run("sh", ["-c", line], payload(cwd, "ls"), { HOME: home }, cwd)
    assert.strictEqual(code, 2)
    assert.strictEqual(stderr, "belay guard: the folder in which it was started does not exist any more")
    assert.throws(() => rmdirSync(gone))
  })

  it("refuses where the home folder takes no folders, as if its disk in the network were not there", async () => {
    const { cwd } = projectWith("export default []")
    const env = { NODE_COMPILE_CACHE: "" }
    const { code, stderr } = await runWith(["--system", "claude"], payload(cwd, "ls"), { cwd, home: "/proc", env })
    assert.strictEqual(code, 2)
    assert.include(stderr, "nobody has trusted")
  })

  it("decides, and says so on standard error, if its log cannot be written", async () => {
    const { cwd, home, ...project } = projectWith()
    writeFileSync(join(cwd, "rules.ts"), rules)
    project.configure(config)
    const log = join(home, ".belay", "guard", "log.jsonl")
    mkdirSync(log, { recursive: true })
    const { code, stderr, stdout } = await project.send("claude", "PreToolUse", call("1", "Bash", { command: "ls" }))
    assert.deepStrictEqual([code, stdout], [0, "{}"])
    assert.match(stderr, /^belay guard: \S+log\.jsonl cannot be written, so nothing is recorded: .+\n$/)
  })

  it("ends with code 2 if nobody reads its decision", async () => {
    const { configure, cwd, home } = projectWith()
    writeFileSync(join(cwd, "rules.ts"), rules)
    configure(config)
    const code = await new Promise((done) => {
      const child = spawn(process.execPath, [program, "guard", "run", "--system", "claude"], {
        cwd,
        env: { PATH: process.env["PATH"], HOME: home }
      })
      child.stdout.destroy()
      child.stdin.end(payload(cwd, "git push"))
      child.on("close", done)
    })
    assert.strictEqual(code, 2)
  })
})
