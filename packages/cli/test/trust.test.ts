import { createHash } from "node:crypto"
import { readdirSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { settings, world } from "./belay.ts"

const script = "#!/bin/bash\necho hello\n"
const made = () =>
  world({
    "project/.claude/settings.json": settings("SessionStart", [{
      command: "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/hello.sh"
    }]),
    "project/.claude/hooks/hello.sh": script
  })

describe("belay hooks trust", () => {
  it("shows what would run, decides nothing without a yes, and asks again after a change", async () => {
    const { cwd, home, hooks, json, write } = made()
    const asked = await hooks("trust")
    assert.strictEqual(asked.code, 1)
    assert.include(asked.stdout, ".claude/hooks/hello.sh")
    assert.include(asked.stdout, `${createHash("sha256").update(script).digest("hex")}  755`)
    assert.include(asked.stdout, "Not trusted: there is no terminal to ask on.")
    const context = async () => (await json("test", "SessionStart")).value.context
    assert.deepEqual(await context(), [])

    const yes = await hooks("trust", cwd, "--yes")
    assert.strictEqual(yes.code, 0)
    assert.lengthOf(readdirSync(join(home, ".belay", "trust")), 2, "the decision, and what it was about")
    assert.deepEqual(await context(), ["hello"])
    assert.match((await hooks("trust")).stdout, /is already trusted/)
    assert.match((await hooks("list")).stdout, /claude, project {2}trusted/)

    write("project/.claude/hooks/hello.sh", `${script}# more\n`)
    assert.deepEqual(await context(), [])
    assert.strictEqual((await hooks("trust")).code, 1)
  })

  it("shows of a script that is too large what counts in place of its SHA-256", async () => {
    const { cwd, hooks, json } = world({
      "project/.claude/settings.json": settings("SessionStart", [{
        command: "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/large.sh"
      }, { command: "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/here.sh" }]),
      "project/.claude/hooks/here.sh": script,
      "project/.claude/hooks/large.sh": script
    })
    // Only its size, time and inode count: it is too large to read.
    truncateSync(join(cwd, ".claude/hooks/large.sh"), 70_000_000)
    const { stdout } = await hooks("trust")
    const shown = stdout.slice(stdout.indexOf("Scripts, with their SHA-256"))
    assert.match(shown, /here\.sh\n {4}[0-9a-f]{64} {2}755\n/)
    assert.match(shown, /large\.sh\n {4}(?![0-9a-f]{64}).*\d+/)
    const { scripts } = (await json("trust")).value
    const found = scripts.find(({ path }: { readonly path: string }) => path.endsWith("large.sh"))
    assert.isString(found.problem)
    assert.notProperty(found, "sha256")
  })

  it("shows where an entry runs, and with which variables", async () => {
    const { hooks, json } = world({
      "project/.github/hooks/a.json": {
        version: 1,
        hooks: { preToolUse: [{ bash: "true", cwd: "tools", env: { MODE: "x\u001b[2J" } }] }
      },
      "project/.gemini/settings.json": {
        hooks: { BeforeTool: [{ hooks: [{ type: "command", command: "true", env: { A: "b" } }] }] }
      },
      "project/.kodelet/hooks/guard": "#!/bin/bash\n# Keeps main clean.\n[ $1 = hook ] && echo before_tool_call\n"
    })
    const { stdout } = await hooks("trust")
    for (
      const part of [
        "in tools\n",
        "with MODE=x\\x1b[2J\n",
        "with A=b\n",
        "names before_tool_call\n",
        "says \"Keeps main clean.\"\n"
      ]
    ) {
      assert.include(stdout, part)
    }
    const { entries } = (await json("trust")).value
    assert.deepInclude(entries.find(({ cwd }: { readonly cwd?: string }) => cwd !== undefined), {
      cwd: "tools",
      env: { MODE: "x\u001b[2J" }
    })
  })

  it("shows the arguments of an entry one by one", async () => {
    const { json } = world({
      "project/.claude/settings.json": settings("Stop", [{ command: "node", args: ["a b", "-x"] }, { command: "true" }])
    })
    const { entries } = (await json("trust")).value
    assert.deepEqual(entries.map(({ argv, command }: { readonly [field: string]: unknown }) => [command, argv]), [
      ["node \"a b\" -x", ["node", "a b", "-x"]],
      ["true", undefined]
    ])
  })

  it("removes a decision", async () => {
    const { cwd, hooks, json } = made()
    const yes = await json("trust", "--yes")
    assert.deepEqual([yes.code, yes.value.trusted, yes.value.entries.length], [0, true, 1])
    const gone = await json("untrust")
    assert.deepEqual([gone.code, gone.value], [0, { project: cwd, was: "trusted", trusted: false }])
    assert.deepEqual((await json("untrust")).value, { project: cwd, was: "not trusted", trusted: false })
    await json("trust", "--yes")
    assert.include((await hooks("untrust")).stdout, "is no longer trusted")
    assert.deepEqual((await json("test", "SessionStart")).value.context, [])
    const again = await hooks("untrust", cwd)
    assert.deepEqual([again.code, again.stdout], [0, `${cwd} was not trusted.\n`])
  })

  it("asks nothing if the project has no hooks", async () => {
    const { hooks } = world({ "home/.claude/settings.json": settings("Stop", [{ command: "true" }]) })
    const { code, stdout } = await hooks("trust")
    assert.strictEqual(code, 0)
    assert.match(stdout, /has no hooks of its own/)
  })
})
