import { named } from "@belay/hook-files/Wires"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { payloadOf } from "../../src/internal/guard/sample.ts"
import { run, runHere } from "../belay.ts"
import { call, type Ended, program, projectWith, runWith } from "./support/guarded.ts"

const allowing = `export default { hooks: [] }`
const push = call("1", "Bash", { command: "git push" })

const assertRefused = ({ code, stderr, stdout }: Omit<Ended, "signal">, reason: RegExp): void => {
  assert.strictEqual(code, 2)
  assert.match(stderr, reason)
  assert.strictEqual(stdout, "")
}

describe("a payload that is none", () => {
  const { cwd, send, text } = projectWith(allowing)

  it.each(
    [
      ["", /the payload is not JSON/],
      ["{\"hook_event_name\":", /the payload is not JSON/],
      ["[1]", /expected a JSON object/],
      ["null", /expected a JSON object/],
      ["{}", /not one of Claude Code: it has no hook_event_name/],
      [
        "{\"hook_event_name\":\"preToolUse\",\"session_id\":\"s\"}",
        /sent the event "preToolUse", which this guard does not know/
      ],
      ["{\"hook_event_name\":\"constructor\",\"session_id\":\"s\"}", /sent the event "constructor"/],
      ["{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}", /has no session id/],
      ["{\"hook_event_name\":\"PreToolUse\",\"session_id\":7,\"tool_name\":\"Bash\"}", /has no session id/],
      ["{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\"}", /names no tool/],
      [
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"__proto__\",\"tool_name\":\"Bash\"}",
        /"__proto__" is not allowed/
      ]
    ] as const
  )("is refused with a reason: %s", async (input, reason) => assertRefused(await text("claude", input), reason))

  it("is refused if it is 50 MB long, and so is a session id of 1 MB", async () => {
    const long = JSON.stringify({
      ...payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd, ...push }),
      more: "x".repeat(50_000_000)
    })
    assertRefused(await text("claude", long), /the payload has 50\d+ bytes: at most 16777216 are read/)
    assertRefused(
      await send("claude", "PreToolUse", { ...push, session: "x".repeat(1_000_000) }),
      /has 1000000 characters/
    )
  })

  it("keeps odd ids of sessions, calls and agents apart", async () => {
    const odd = { session: "../../etc/passwd \u0000", agent: { id: "a/b", name: "x" }, ...call("a/b/../c", "Bash", {}) }
    assert.strictEqual((await send("claude", "PreToolUse", odd)).stdout, "{}")
    assert.strictEqual((await send("claude", "PostToolUse", odd)).stdout, "{}")
  })

  it("is refused for a system that does not exist", async () => {
    assertRefused(await text("nobody", "{}"), /--system is not one of the systems: "nobody"/)
  })
})

describe("a config that cannot be used", () => {
  it("is refused in a repository that nobody has trusted, with the command that trusts it", async () => {
    const { cwd, send } = projectWith()
    writeFileSync(join(cwd, "belay.guard.ts"), "process.exit(0)")
    assertRefused(
      await send("claude", "PreToolUse", push),
      /nobody has trusted .*belay\.guard\.ts as it is now: .*`belay guard trust /
    )
  })

  it("is refused after a change of a file that it imports", async () => {
    const { configure, cwd, send } = projectWith()
    writeFileSync(join(cwd, "rules.ts"), "export const hooks: Array<never> = []")
    configure(`import { hooks } from "./rules.ts"\nexport default { hooks }`)
    assert.strictEqual((await send("claude", "PreToolUse", push)).stdout, "{}")
    writeFileSync(join(cwd, "rules.ts"), "export const hooks: Array<never> = [] // changed")
    assertRefused(await send("claude", "PreToolUse", push), /nobody has trusted/)
  })

  it("runs as it was trusted, also if it changes while it is loaded", async () => {
    const { configure, cwd, send } = projectWith()
    writeFileSync(join(cwd, "rules.ts"), "export const hooks: Array<never> = []")
    configure(`
      import { writeFileSync } from "node:fs"
      writeFileSync(new URL("rules.ts", import.meta.url), "throw new Error('not trusted')")
      const { hooks } = await import("./rules.ts")
      export default { hooks }`)
    assert.strictEqual((await send("claude", "PreToolUse", push)).stdout, "{}")
  })

  it.each(
    [
      ["throws", `throw new Error("broken config")`, /belay\.guard\.ts cannot be loaded: broken config/],
      ["has a syntax error", `export default {`, /belay\.guard\.ts cannot be loaded/],
      ["exports nothing", `export const hooks = []`, /has no default export with hooks/],
      ["has no hooks", `export default { rules: [] }`, /has no hooks/],
      ["has a hook that is none", `export default { hooks: [{ preToolCal() {} }] }`, /a hook needs a name/],
      [
        "imports a file by a computed path",
        `await import("./" + "x.ts")\nexport default []`,
        /does not cover|Cannot find/
      ],
      ["imports what the guard has not", `import { createAgent } from "@belay/core"\nexport default []`, /createAgent/],
      [
        "has a tool whose schema must be converted",
        `export default { hooks: [], tools: [{ name: "mail", input: { type: "object", properties: {} } }] }`,
        /guard\.tools\.mail\.input: .*put a JSON Schema into inputSchema/
      ],
      [
        "has a hook that must hold where the system cannot enforce it",
        `export default { hooks: [{ name: "strict", kind: "policy", preLlmCall() {} }] }`,
        /claude cannot enforce strict at preLlmCall/
      ]
    ] as const
  )("is refused if it %s", async (_what, config, reason) => {
    const { cwd, send } = projectWith(config)
    writeFileSync(join(cwd, "x.ts"), "export {}")
    assertRefused(await send("claude", "PreToolUse", push), reason)
  })

  it("is refused before the limit of the system if it hangs, at its top, in a hook, or in a promise", async () => {
    const hanging = [
      `for (;;) {}`,
      `export default { hooks: [{ name: "loops", preToolCall() { for (;;) {} } }] }`,
      `export default { hooks: [{ name: "waits", preToolCall: () => new Promise(() => setInterval(() => {}, 1000)) }] }`,
      `await new Promise(() => setInterval(() => {}, 1000))\nexport default []`
    ]
    const ended = await Promise.all(hanging.map(async (config) => {
      const { send } = projectWith(config)
      return await send("claude", "PreToolUse", push, ["--limit", "2"])
    }))
    for (const one of ended) assertRefused(one, /took too long to decide/)
  })

  it("is refused by its entry if it blocks the process, after a pause or in another program", async () => {
    const hookOf = (body: string) => `export default { hooks: [{ name: "blocks", ${body} }] }`
    const blocking = [
      hookOf("preToolCall: async () => { await null; for (;;) {} }"),
      hookOf("preToolCall: async () => { await new Promise((done) => setTimeout(done, 10)); for (;;) {} }"),
      `import { execSync } from "node:child_process"\n${
        hookOf("preToolCall() { execSync('sleep 60', { stdio: 'ignore' }) }")
      }`,
      `await null\nfor (;;) {}\nexport default []`,
      `export default async () => { await null; for (;;) {} }`,
      `import * as Effect from "effect/Effect"\n${hookOf("preToolCall: () => Effect.sync(() => { for (;;) {} })")}`
    ]
    const ended = await Promise.all(blocking.map(async (config) => {
      const { cwd, home } = projectWith(config)
      // A config in the workspace finds its packages.
      symlinkSync(resolve(import.meta.dirname, "../../../../node_modules"), join(cwd, "node_modules"))
      const line = `"${process.execPath}" "${program}" guard run --system claude --limit 2 || exit 2`
      const payload = JSON.stringify(payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd, ...push }))
      const { code, stderr, stdout } = await run("sh", ["-c", line], payload, { HOME: home }, cwd)
      return { code, stderr, stdout, failures: readFileSync(join(home, ".belay", "guard", "failures.jsonl"), "utf8") }
    }))
    for (const { failures, ...one } of ended) {
      assertRefused(one, /took too long to decide/)
      assert.include(JSON.parse(failures.split("\n")[0]!), { session: "claude.s", event: "PreToolUse" })
    }
  })

  it("is a list of ready hooks in JSON too", async () => {
    const { configure, send } = projectWith()
    configure(
      JSON.stringify([{ hook: "PermissionRules", otherwise: "allow", deny: ["Bash(git push*)"] }]),
      "belay.guard.json"
    )
    assert.include((await send("claude", "PreToolUse", push)).stdout, "\"permissionDecision\":\"deny\"")
    configure("[\"ProtectedPath\"]", "belay.guard.json")
    assertRefused(
      await send("claude", "PreToolUse", push),
      /there is no ready hook "ProtectedPath"; did you mean "ProtectedPaths"/
    )
    configure(JSON.stringify([{ hook: "ToolCallLimit", perTurns: 1 }]), "belay.guard.json")
    assertRefused(await send("claude", "PreToolUse", push), /hooks\[0\].*perTurns/)
  })

  it("says with onFailure what a failure means, and never keeps an agent from stopping", async () => {
    const failing =
      `export default { onFailure: "allow", hooks: [{ name: "strict", kind: "policy", preLlmCall() {} }] }`
    const { code, stderr, stdout } = await projectWith(failing).send("claude", "PreToolUse", push)
    assert.deepStrictEqual([code, stdout], [0, "{}"])
    assert.match(stderr, /cannot enforce strict/)
    const stopped = await projectWith().send("claude", "Stop")
    assert.deepStrictEqual([stopped.code, stopped.stdout], [0, "{}"])
  })
})

describe("a store that cannot be used", () => {
  const fileOf = (home: string) => {
    const path = join(home, ".belay", "guard", "sessions.db")
    mkdirSync(dirname(path), { recursive: true })
    return path
  }

  it("refuses if the file is another program's, and does not change it", async () => {
    const { home, send } = projectWith(allowing)
    writeFileSync(fileOf(home), "this is not a database")
    assertRefused(
      await send("claude", "PreToolUse", push),
      /sessions of the guard cannot be opened: .*not a SQLite database/
    )
    assert.strictEqual(readFileSync(fileOf(home), "utf8"), "this is not a database")
  })

  it("refuses if the disk is full", async () => {
    const { cwd, home } = projectWith(allowing)
    const payload = JSON.stringify(payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd, ...push }))
    // A file that may not grow fails as one on a full disk does.
    const line = `trap '' XFSZ; ulimit -f 64; "${process.execPath}" "${program}" guard run --system claude`
    assertRefused(await run("sh", ["-c", line], payload, { HOME: home }, cwd), /the guard|sessions of the guard/)
  })

  it("refuses before the limit if another process has locked it, and decides again afterwards", async () => {
    const { home, send } = projectWith(allowing)
    await send("claude", "PreToolUse", push)
    const database = new DatabaseSync(fileOf(home))
    database.exec("BEGIN EXCLUSIVE")
    // A call that waits until then decides too late, and says so.
    const end = setTimeout(() => database.close(), 9_000)
    assertRefused(
      await send("claude", "PreToolUse", call("2", "Bash", { command: "ls" }), ["--limit", "4"]),
      /could not save .*another process held the database for too long/
    )
    clearTimeout(end)
    if (database.isOpen) database.close()
    assert.strictEqual((await send("claude", "PreToolUse", call("3", "Bash", { command: "ls" }))).stdout, "{}")
  })
})

describe("a command that is missing or dies", () => {
  it("refuses by the form of the entry, with a text on standard error", async () => {
    const missing = await run("sh", ["-c", "belay-is-not-here guard run || exit 2"])
    assertRefused(missing, /not found/)
    const killed = await run("sh", ["-c", `"${process.execPath}" -e "process.kill(process.pid, 'SIGKILL')" || exit 2`])
    assertRefused(killed, /[Kk]illed/)
  })
})

describe("a config that does more than to decide", () => {
  const policy = (body: string) =>
    `import { defineHook, HookAction } from "@belay/core"
export default { hooks: [defineHook({ name: "mine", ${body} })] }`

  it("answers with JSON alone, whatever it prints", async () => {
    const { send } = projectWith(
      `console.log("loading")\n${
        policy("preToolCall: () => (console.log('debug'), process.stdout.write('x'), HookAction.reject('no'))")
      }`
    )
    const { code, stderr, stdout } = await send("claude", "PreToolUse", push)
    assert.strictEqual(code, 0)
    assert.strictEqual(JSON.parse(stdout).hookSpecificOutput.permissionDecision, "deny")
    assert.include(stderr, "loading\ndebug\nx")
  })

  it.each([
    "process.exit(0)",
    policy("preToolCall: () => process.exit(0)"),
    policy("preToolCall: () => { process.exitCode = 0; process.exit() }")
  ])("refuses if the process is ended: %s", async (config) => {
    const { send } = projectWith(config)
    assertRefused(await send("claude", "PreToolUse", push), /the config or a hook has ended the process/)
  })

  it("lets the agent stop if the process is ended, because it would go on for ever", async () => {
    const { send } = projectWith("process.exit(3)")
    const { code, stderr, stdout } = await send("claude", "Stop", {})
    assert.deepEqual([code, stdout], [0, "{}"])
    assert.match(stderr, /the config or a hook has ended the process/)
  })

  it("is not the user's own because HOME is empty or relative", async () => {
    const { cwd } = projectWith(allowing)
    const text = JSON.stringify(payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd, ...push }))
    for (const home of ["", "."]) {
      const ended = await runWith(["--system", "claude"], text, { cwd, home, env: { NODE_COMPILE_CACHE: "" } })
      assertRefused(ended, /HOME has to be the absolute path of the home folder/)
      assert.deepEqual(readdirSync(cwd), ["belay.guard.ts"])
    }
  })

  it("is not the user's own in a home folder that is the project", async () => {
    const { home } = projectWith()
    writeFileSync(join(home, "belay.guard.ts"), allowing)
    const payload = JSON.stringify(payloadOf(named("claude")!, "PreToolUse", { session: "s", cwd: home, ...push }))
    const at = (cwd: string) => runWith(["--system", "claude"], payload, { cwd, home })
    const project = join(home, "project")
    mkdirSync(project)
    assert.strictEqual((await at(project)).stdout, "{}")
    for (const cwd of [home, dirname(home)]) {
      const given = cwd === home ? [] : ["--config", join(home, "belay.guard.ts")]
      const ended = await runWith(["--system", "claude", ...given], payload, { cwd, home })
      assertRefused(ended, /may have come with the project, because the project is your home folder/)
    }
    const { code, stderr } = await runHere(["guard", "trust", "--yes", "--cwd", home, "--home", home])
    assert.strictEqual(code, 2)
    assert.include(stderr, "lies in the project")
    assertRefused(await at(home), /may have come with the project/)
  })

  it("shows in the log that a hook has failed and the call went on", async () => {
    const { home, send } = projectWith(policy("preToolCall: () => { throw new Error('boom') }"))
    assert.strictEqual((await send("claude", "PreToolUse", push)).stdout, "{}")
    const failures = readFileSync(join(home, ".belay", "guard", "failures.jsonl"), "utf8")
    assert.match(failures, /hook mine failed, and the call went on without it: boom/)
  })
})
