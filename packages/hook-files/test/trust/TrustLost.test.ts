/**
 * A file of a trusted project changes while an agent runs: what could have stopped a tool is asked about, and trusting
 * again counts at once.
 */
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import type { Dialect } from "@belay/hook-files/Discovery"
import type * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chmodSync, existsSync, mkdirSync, utimesSync } from "node:fs"
import { dirname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { place, settings } from "../support/places.ts"
import { write } from "../support/processes.ts"

const put = (path: string, content: string | object, mode = 0o644): string => {
  mkdirSync(dirname(path), { recursive: true })
  write(path, typeof content === "string" ? content : JSON.stringify(content))
  chmodSync(path, mode)
  return path
}

const group = (command: string) => [{ hooks: [{ type: "command", command }] }]

/** A guard of every system: the same script, which blocks every call. */
const systems: { readonly [D in Dialect]: readonly [path: string, content: object | string, guard: string] } = {
  claude: [".claude/settings.json", { hooks: { PreToolUse: group("sh tools/guard.sh") } }, "echo no >&2; exit 2"],
  codex: [".codex/hooks.json", { hooks: { PreToolUse: group("sh tools/guard.sh") } }, "echo no >&2; exit 2"],
  copilot: [
    ".github/hooks/x.json",
    { version: 1, hooks: { preToolUse: [{ type: "command", bash: "sh tools/guard.sh" }] } },
    "echo no >&2; exit 2"
  ],
  gemini: [".gemini/settings.json", { hooks: { BeforeTool: group("sh tools/guard.sh") } }, "echo no >&2; exit 2"],
  cursor: [
    ".cursor/hooks.json",
    { version: 1, hooks: { beforeShellExecution: [{ command: "sh tools/guard.sh" }] } },
    "echo no >&2; exit 2"
  ],
  windsurf: [
    ".windsurf/hooks.json",
    { hooks: { pre_run_command: [{ command: "sh tools/guard.sh" }] } },
    "echo no >&2; exit 2"
  ],
  factory: [".factory/settings.json", { hooks: { PreToolUse: group("sh tools/guard.sh") } }, "echo no >&2; exit 2"],
  kodelet: [
    ".kodelet/hooks/guard",
    "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\ncat > /dev/null\n. tools/guard.sh\n",
    `echo '{"blocked":true,"reason":"no"}'`
  ],
  basecoat: [
    "hooks.json",
    { version: 1, hooks: { PreToolUse: [{ command: "sh tools/guard.sh", priority: 1 }] } },
    `echo '{"action":"block","reason":"no"}'`
  ]
}

const open = (loaded: HookFiles.Loaded, cwd: string, config: object = {}, turns = 3) => {
  const { ran, tools } = recording()
  const { provider } = scripted(
    Array.from({ length: turns }, () => [calls(["bash", { command: "ls" }]), { text: "done" }]).flat()
  )
  const notices: Array<string> = []
  const agent = createAgent({ provider, tools, hooks: loaded.hooks, cwd, ...config })
  agent.on((event) => void (event.type === "notice" && notices.push(event.message)))
  return { agent, notices, ran }
}

const changed = (file: string) =>
  `hooks of this project changed since they were trusted (${file}): review them, and run \`belay hooks trust\``

describe("a guard whose file changed", () => {
  for (const [dialect, [path, content, guard]] of Object.entries(systems)) {
    it(
      `of ${dialect} asks a person, says which file, and guards again when it is trusted again`,
      async () => {
        const { cwd, load } = place()
        put(join(cwd, path), content, 0o755)
        // A library beside the executables is theirs.
        const file = dialect === "kodelet" ? ".kodelet/hooks/lib.sh" : "tools/guard.sh"
        put(join(cwd, file), "")
        put(join(cwd, "tools/guard.sh"), guard)
        load().untrusted[0]!.trust()
        const { agent, notices, ran } = open(load(), cwd)
        await using _ = agent
        await using session = await agent.session()
        const first = await session.run("go")
        assert.deepEqual(first.messages.filter(({ role }) => role === "tool").map(text), ["no"])
        put(join(cwd, file), file === "tools/guard.sh" ? "true" : ": changed")
        const second = await session.run("go")
        assert.strictEqual(second.status, "suspended")
        assert.deepEqual(session.pending.map(({ reason }) => reason), [changed(file)])
        assert.lengthOf(notices.filter((notice) => notice.includes(`(${file})`)), 1)
        await session.resume({ [session.pending[0]!.callId]: { type: "approve" } })
        assert.deepEqual(ran, ["ls"])
        put(join(cwd, "tools/guard.sh"), guard.replace("no", "never"))
        load().untrusted[0]!.trust()
        // Files are looked at once a tick.
        await setImmediate()
        const third = await session.run("go")
        assert.deepEqual(third.messages.filter(({ role }) => role === "tool").map(text).at(-1), "never")
        assert.deepEqual(ran, ["ls"])
        assert.lengthOf(notices, 1)
      }
    )
  }

  it("is asked about with `onBroken: \"block\"` no more than before: it blocks", async () => {
    const { cwd, load, project } = place()
    project(settings("sh tools/guard.sh"))
    put(join(cwd, "tools/guard.sh"), "true")
    load().untrusted[0]!.trust()
    const { agent, ran } = open(load({ onBroken: "block" }), cwd)
    await using _ = agent
    put(join(cwd, "tools/guard.sh"), "false")
    const { messages, status } = await agent.run("go")
    assert.strictEqual(status, "completed")
    assert.match(
      messages.filter(({ role }) => role === "tool").map(text).join(),
      /a hook broke: it was not run: hooks of this project changed/
    )
    assert.deepEqual(ran, [])
  })

  for (
    const [event, path, loose] of [
      [
        "PermissionRequest",
        ".claude/settings.json",
        settings(
          `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`,
          {},
          "PermissionRequest"
        )
      ],
      [
        "permissionRequest",
        ".github/hooks/x.json",
        JSON.stringify({ version: 1, hooks: { permissionRequest: [{ bash: `echo '{"behavior":"allow"}'` }] } })
      ]
    ] as const
  ) {
    it(`at ${event} is not replaced by what another allows`, async () => {
      const { cwd, home, load } = place()
      const [user, own] = event === "PermissionRequest"
        ? [".claude/settings.json", settings("sh tools/guard.sh", {}, event)]
        : [".copilot/hooks/x.json", JSON.stringify({ version: 1, hooks: { [event]: [{ bash: "sh tools/guard.sh" }] } })]
      put(join(home, user), loose)
      put(join(cwd, path), own)
      put(join(cwd, "tools/guard.sh"), "true")
      load().untrusted[0]!.trust()
      const policy: RuntimePolicy = { check: () => ({ type: "ask", reason: "policy", grant: { sandbox: "none" } }) }
      const { agent, ran } = open(load({ projectAllows: true }), cwd, { policy })
      await using _ = agent
      await agent.run("go")
      assert.deepEqual(ran, ["ls"])
      put(join(cwd, "tools/guard.sh"), "false")
      assert.strictEqual((await agent.run("go")).status, "suspended")
      assert.deepEqual(ran, ["ls"])
    })
  }

  it("is left out at other events with a warning, and the user is notified once", async () => {
    const { cwd, load, project, started } = place()
    project(
      JSON.stringify({
        hooks: {
          UserPromptSubmit: group("sh tools/x.sh"),
          PostToolUse: group("sh tools/x.sh"),
          Stop: group("sh tools/x.sh")
        }
      })
    )
    put(join(cwd, "tools/x.sh"), "true")
    load().untrusted[0]!.trust()
    const { agent, notices, ran } = open(load(), cwd)
    const warnings: Array<string> = []
    agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
    await using _ = agent
    await using session = await agent.session()
    put(join(cwd, "tools/x.sh"), "false")
    for (const prompt of ["one", "two"]) assert.strictEqual((await session.run(prompt)).status, "completed")
    assert.deepEqual([started, ran], [[], ["ls", "ls"]])
    assert.lengthOf(warnings.filter((warning) => warning.includes("was not run: hooks of this project changed")), 6)
    assert.lengthOf(notices, 1)
    assert.include(notices[0], changed("tools/x.sh"))
  })

  it("says names of files without what a terminal would obey", async () => {
    const { cwd, load, project } = place()
    project(settings("true"))
    put(join(cwd, ".claude/hooks/a.sh"), "")
    load().untrusted[0]!.trust()
    const { agent } = open(load(), cwd)
    await using _ = agent
    await using session = await agent.session()
    put(join(cwd, ".claude/hooks/\u001B[2J\u202Ehs.sh"), "")
    await session.run("go")
    assert.deepEqual(session.pending.map(({ reason }) => reason), [changed(".claude/hooks/?[2J?hs.sh")])
  })
})

describe("trusting again", () => {
  it.live("does not cover what only the old entries ran", () =>
    Effect.gen(function*() {
      const { canary, cwd, fire, load, project, started } = place()
      project(settings("sh old/x.sh"))
      put(join(cwd, "old/x.sh"), "true")
      load().untrusted[0]!.trust()
      const loaded = load()
      project(settings("sh new/x.sh"))
      put(join(cwd, "new/x.sh"), "true")
      load().untrusted[0]!.trust()
      // As it was loaded, and as it was trusted then.
      yield* fire(loaded)
      assert.deepEqual(started, ["sh old/x.sh"])
      put(join(cwd, "old/x.sh"), `touch ${canary}`)
      assert.deepEqual(load().untrusted, [])
      assert.strictEqual((yield* fire(loaded)).action._tag, "Ask")
      assert.lengthOf(started, 1)
      assert.isFalse(existsSync(canary))
    }))

  it.live("counts for what was there before a change that was undone", () =>
    Effect.gen(function*() {
      const { cwd, fire, load, project, started } = place()
      project(settings("sh tools/x.sh"))
      const script = put(join(cwd, "tools/x.sh"), "true")
      load().untrusted[0]!.trust()
      const loaded = load()
      put(script, "false")
      yield* fire(loaded)
      put(script, "true")
      yield* fire(loaded)
      assert.lengthOf(started, 1)
    }))

  it.live("is not fooled by times that were set back", () =>
    Effect.gen(function*() {
      const { cwd, fire, load, project, started } = place()
      project(settings("sh tools/x.sh"))
      const script = put(join(cwd, "tools/x.sh"), "true  ")
      const past = new Date(Date.now() - 100_000)
      utimesSync(script, past, past)
      load().untrusted[0]!.trust()
      const loaded = load()
      yield* fire(loaded)
      put(script, "false ")
      utimesSync(script, past, past)
      yield* fire(loaded)
      assert.lengthOf(started, 1)
    }))

  it.live("is not needed when scripts write what they keep, or somebody works on the project", () =>
    Effect.gen(function*() {
      const { cwd, fire, load, project, started } = place()
      project(settings("python3 .claude/hooks/guard.py"))
      put(join(cwd, ".claude/hooks/guard.py"), "")
      load().untrusted[0]!.trust()
      const loaded = load({ sources: ["claude"] })
      const files = [
        ".claude/hooks/counter.txt",
        ".claude/hooks/.last_run",
        ".claude/hooks/sessions/abc.json",
        ".claude/hooks/__pycache__/guard.cpython-312.pyc",
        ".claude/hooks/tmp/a.sh",
        ".claude/hooks/node_modules/.cache/x.js",
        ".claude/agents/notes.txt",
        ".claude/skills/x/SKILL.md",
        ".github/hooks/x.json",
        "hooks/useAuth.ts",
        "src/hooks/useAuth.ts",
        "package.json",
        "guard.py"
      ]
      yield* fire(loaded)
      for (const file of files) put(join(cwd, file), "{}")
      // A warning would name the file.
      assert.deepEqual((yield* fire(loaded)).warnings.filter((warning) => warning.includes("changed")), [])
      assert.lengthOf(started, 2)
    }))
})
