import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { place, settings } from "./support/places.ts"
import { write } from "./support/processes.ts"

describe("HookFiles", () => {
  it.live("runs the user's hooks, and lists those of a project without running them", () =>
    Effect.gen(function*() {
      const { canary, cwd, fire, home, load, project, started } = place()
      write(join(home, ".claude/settings.json"), settings("exit 0"))
      project(settings(`touch ${canary}`))
      write(join(cwd, ".claude/settings.local.json"), settings(`touch ${canary}; exit 2`))
      const loaded = load()
      assert.deepEqual(loaded.warnings, [])
      assert.deepEqual(loaded.untrusted.map(({ commands }) => commands.map(({ command, event }) => [event, command])), [
        [
          ["PreToolUse", `touch ${canary}`],
          ["PreToolUse", `touch ${canary}; exit 2`]
        ]
      ])
      assert.strictEqual((yield* fire(loaded)).action._tag, "Continue")
      assert.deepEqual(started, ["exit 0"])
      assert.isFalse(existsSync(canary))
    }))

  it.live("runs a project's hooks once a person trusts them, from then on", () =>
    Effect.gen(function*() {
      const { fire, load, project, trust } = place()
      project(settings("echo no >&2; exit 2"))
      const first = load()
      assert.deepEqual(first.hooks, [])
      first.untrusted[0]!.trust()
      assert.strictEqual(statSync(trust).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(trust, readdirSync(trust)[0]!)).mode & 0o777, 0o600)
      const second = load()
      assert.deepEqual(second.untrusted, [])
      assert.deepInclude((yield* fire(second)).action, { _tag: "Reject", reason: "no" })
    }))

  it("takes back what was decided, and says whether there was anything", () => {
    const { cwd, load, project, trust } = place()
    project(settings("exit 0"))
    const store = Trust.folder(trust)
    assert.isFalse(store.remove(cwd))
    load().untrusted[0]!.trust()
    assert.deepEqual(load().untrusted, [])
    assert.isTrue(store.remove(cwd))
    assert.lengthOf(load().untrusted, 1)
    assert.isFalse(store.remove(cwd))
  })

  it("lists the scripts that a decision is about, there or not", () => {
    const { cwd, load, project } = place()
    project(settings("sh ./guard.sh; ./gone.sh"))
    write(join(cwd, "guard.sh"), "exit 0")
    chmodSync(join(cwd, "guard.sh"), 0o700)
    write(join(cwd, ".claude/hooks/lib.sh"), "")
    const all = Trust.scripts(cwd, load().sources)
    const [lib, gone, guard] = all.filter(({ path }) => path.endsWith(".sh"))
    assert.match(lib!.state, /^\d+ [0-9a-f]{64}$/)
    assert.deepEqual(gone, { path: join(cwd, "gone.sh"), state: "absent" })
    assert.match(guard!.state, /^700 [0-9a-f]{64}$/)
  })

  it("says which files are silenced", () => {
    const { cwd, home, load, project } = place()
    project(settings("exit 0", { disableAllHooks: true }))
    write(join(home, ".claude/settings.json"), settings("exit 0"))
    assert.deepEqual(load().silenced.map(({ path }) => path), [join(cwd, ".claude/settings.json")])
    write(join(home, ".claude/settings.json"), settings("exit 0", { disableAllHooks: true }))
    assert.lengthOf(load().silenced, 2)
  })

  const changes: ReadonlyArray<readonly [what: string, change: (cwd: string) => void]> = [
    ["the settings", (cwd) => write(join(cwd, ".claude/settings.json"), settings("sh hooks/guard.sh # ", { a: 1 }))],
    ["a script that a command names", (cwd) => write(join(cwd, "hooks/guard.sh"), "exit 1")],
    [
      "a script that a command names by the project's variable",
      (cwd) => write(join(cwd, "tools/my check.py"), "changed")
    ],
    ["an execute bit", (cwd) => chmodSync(join(cwd, "hooks/guard.sh"), 0o777)],
    ["what a link leads to", (cwd) => {
      rmSync(join(cwd, "hooks/link.sh"))
      symlinkSync("/bin/sh", join(cwd, "hooks/link.sh"))
    }],
    [
      "something in .claude/hooks that no command names",
      (cwd) => write(join(cwd, ".claude/hooks/lib/helper.sh"), "changed")
    ],
    ["a new file in .claude/hooks", (cwd) => write(join(cwd, ".claude/hooks/new.sh"), "")],
    ["a script that was not there before", (cwd) => write(join(cwd, "hooks/later.sh"), "")]
  ]
  for (const [what, change] of changes) {
    it.live(`asks again after a change of ${what}, and stops running what was loaded before`, () =>
      Effect.gen(function*() {
        const { cwd, fire, load, project, started } = place()
        const command =
          `sh hooks/guard.sh; "$CLAUDE_PROJECT_DIR/tools/my check.py"; sh hooks/link.sh; sh ./hooks/later.sh; exit 0`
        project(settings(command))
        write(join(cwd, "hooks/guard.sh"), "exit 0")
        write(join(cwd, "tools/my check.py"), "#!/bin/sh\n")
        write(join(cwd, ".claude/hooks/lib/helper.sh"), "")
        symlinkSync("guard.sh", join(cwd, "hooks/link.sh"))
        load().untrusted[0]!.trust()
        const loaded = load()
        assert.deepEqual(loaded.untrusted, [])
        yield* fire(loaded)
        assert.lengthOf(started, 1)
        change(cwd)
        const { notices, warnings } = yield* fire(loaded)
        assert.lengthOf(started, 1)
        assert.match(
          notices.join(),
          /^Hooks of .*settings\.json do not run: hooks of this project changed since they were trusted \(.+\): review them, and run `belay/
        )
        assert.deepEqual((yield* fire(loaded)).notices, [])
        assert.match(warnings[0]!, /was not run: hooks of this project changed since they were trusted/)
        assert.lengthOf(load().untrusted, 1)
      }))
  }

  it.live("goes on when a log changes that a command writes to, but not when what it runs does", () =>
    Effect.gen(function*() {
      const log = `cat >> ./all.log 2>"./my errors.log"; echo x | tee -a tee.log >/dev/null`
      const mark =
        `[ ! -f "$CLAUDE_PROJECT_DIR/.claude/dirty" ] && touch .claude/dirty || rm -f .claude/dirty; mkdir -p .claude/backups`
      for (
        const [command, times] of [[log, 2], [mark, 2], [`sh ./made.sh; echo "exit 0 #$$" > ./made.sh`, 1]] as const
      ) {
        const { cwd, fire, load, project, started } = place()
        project(settings(command))
        write(join(cwd, "made.sh"), "exit 0")
        load().untrusted[0]!.trust()
        const loaded = load()
        yield* fire(loaded)
        yield* fire(loaded)
        assert.lengthOf(started, times, command)
        assert.lengthOf(load().untrusted, 2 - times, command)
      }
    }))

  const read: ReadonlyArray<readonly [command: string, changes: string, goesOn: boolean]> = [
    ["cat TODO.md; wc -l < ./notes/n.txt; jq -r .name package.json", "TODO.md", true],
    ["jq -r .name ./package.json | grep -q app && echo yes", "package.json", true],
    ["git diff --stat ./src/a.txt", "src/a.txt", true],
    ["cat ./steps.txt | sh", "steps.txt", false],
    ["$(cat ./steps.txt)", "steps.txt", false],
    ["eval \"$(cat ./steps.txt)\"", "steps.txt", false],
    [". ./steps.txt", "steps.txt", false],
    ["python3 ./steps.txt", "steps.txt", false],
    ["cat ./guard.py", "guard.py", true],
    ["./steps.txt", "steps.txt", false]
  ]
  for (const [command, changes, goesOn] of read) {
    it(`${goesOn ? "goes on" : "asks again"} when ${changes} changes and the command is ${command}`, () => {
      const { cwd, load, project } = place()
      project(settings(command))
      write(join(cwd, changes), "true")
      load().untrusted[0]!.trust()
      write(join(cwd, changes), "false")
      assert.lengthOf(load().untrusted, goesOn ? 0 : 1)
    })
  }

  it.live("goes on when a script imports a module of its folder, and writes a log there", () =>
    Effect.gen(function*() {
      const { cwd, fire, load, project, started } = place()
      project(settings("python3 .claude/hooks/guard.py"))
      write(
        join(cwd, ".claude/hooks/guard.py"),
        "import helper\nopen('.claude/hooks/guard.log', 'a').write(helper.line)\n"
      )
      write(join(cwd, ".claude/hooks/helper.py"), "line = 'checked\\n'\n")
      load().untrusted[0]!.trust()
      const loaded = load()
      assert.deepEqual((yield* fire(loaded)).warnings, [])
      assert.deepEqual((yield* fire(loaded)).warnings, [])
      assert.lengthOf(started, 2)
      assert.deepEqual(load().untrusted, [])
    }))

  it("does not take what was swapped while a person decided", () => {
    const { cwd, load, project } = place()
    project(settings("sh a.sh"))
    write(join(cwd, "a.sh"), "exit 0")
    const { untrusted } = load()
    write(join(cwd, "a.sh"), "evil")
    untrusted[0]!.trust()
    assert.lengthOf(load().untrusted, 1)
  })

  it("takes a decision for one project only, and none from the project itself", () => {
    const one = place()
    one.project(settings("true"))
    one.load().untrusted[0]!.trust()
    const other = place()
    other.project(settings("true"))
    assert.lengthOf(other.load({ trust: one.trust }).untrusted, 1)
    assert.throws(() => other.load({ trust: join(other.cwd, ".claude/trust") }), /outside of the project/)
    symlinkSync(other.cwd, join(other.home, "link"))
    assert.throws(() => other.load({ trust: join(other.home, "link/trust") }), /outside of the project/)
    // A copy of the other's decision says which project it is about.
    const decisionIn = (folder: string) => join(folder, readdirSync(folder).find((name) => !name.includes(".files."))!)
    const file = decisionIn(one.trust)
    const { fingerprint, project } = other.load().untrusted[0]!
    other.load().untrusted[0]!.trust()
    writeFileSync(decisionIn(other.trust), readFileSync(file))
    assert.lengthOf(other.load().untrusted, 1)
    writeFileSync(decisionIn(other.trust), JSON.stringify({ project, fingerprint }))
    assert.deepEqual(other.load().untrusted, [])
    writeFileSync(decisionIn(other.trust), "{")
    assert.lengthOf(other.load().untrusted, 1)
  })

  it("reads only regular files that are not too large", () => {
    const { cwd, home, load } = place()
    mkdirSync(join(cwd, ".claude"))
    execFileSync("sh", ["-c", "mkfifo .claude/settings.json"], { cwd })
    mkdirSync(join(cwd, ".claude/settings.local.json"))
    write(join(home, ".claude/settings.json"), " ".repeat(1_048_577))
    const { hooks, untrusted, warnings } = load({ sources: ["claude", { dialect: "claude", file: "nowhere.json" }] })
    assert.deepEqual([hooks, untrusted], [[], []])
    assert.deepEqual(warnings.map(({ reason }) => reason.replace(/ \(.*/, "")), [
      "cannot be read: is larger than 1048576 bytes",
      "cannot be read: is no regular file",
      "cannot be read: is no regular file",
      "does not exist"
    ])
  })

  it.live("lets the project neither disable the user's hooks nor stand in their place", () =>
    Effect.gen(function*() {
      const { cwd, fire, home, load, project, root } = place()
      write(join(home, ".claude/settings.json"), settings("echo user >&2; exit 2"))
      project(settings("exit 0", { disableAllHooks: true, env: { PATH: "/evil" } }))
      const loaded = load()
      assert.deepEqual(loaded.untrusted, [])
      assert.deepInclude((yield* fire(loaded)).action, { _tag: "Reject", reason: "user" })
      write(join(home, ".claude/settings.json"), settings("exit 2", { disableAllHooks: true }))
      project(settings("exit 0"))
      assert.deepEqual(load().hooks, [])
      write(join(cwd, "more.json"), settings("exit 2"))
      assert.lengthOf(load({ sources: [{ dialect: "claude", file: "more.json" }] }).untrusted, 1)
      write(join(root, "more.json"), settings("exit 2"))
      assert.lengthOf(load({ sources: [{ dialect: "claude", file: join(root, "more.json") }] }).hooks, 1)
    }))

  it("asks for trust in a project that is the home folder, and trusts nothing with a folder inside of it", () => {
    const { home, load, root } = place()
    const atHome = () => load({ cwd: home, trust: join(root, "decisions") })
    write(join(home, ".claude/settings.json"), settings("exit 0"))
    write(join(home, ".claude/settings.local.json"), settings("exit 0 "))
    const before = atHome()
    assert.deepEqual(before.hooks, [])
    assert.deepEqual(before.untrusted.map(({ commands }) => commands.length), [2])
    before.untrusted[0]!.trust()
    assert.deepEqual(atHome().untrusted, [])
    assert.lengthOf(atHome().hooks, 1)
    write(join(home, ".claude/settings.json"), settings("exit 2"))
    assert.lengthOf(atHome().untrusted, 1)
    // The project could have written the default folder of decisions.
    const byDefault = load({ cwd: home, trust: join(home, ".belay/trust") })
    assert.deepEqual(byDefault.hooks, [])
    assert.throws(() => byDefault.untrusted[0]!.trust(), /hook-files\.trust: expected a folder outside of the project/)
  })

  it.live("runs a handler that several files name once", () =>
    Effect.gen(function*() {
      const { cwd, fire, home, load, project, started } = place()
      write(join(home, ".claude/settings.json"), settings("exit 0"))
      project(settings("exit 0"))
      write(join(cwd, ".claude/settings.local.json"), settings("exit 0 "))
      load().untrusted[0]!.trust()
      yield* fire(load())
      assert.deepEqual(started, ["exit 0", "exit 0 "])
    }))

  it("says what is wrong in which file, and loads the rest", () => {
    const { home, load } = place()
    const path = write(
      join(home, ".claude/settings.json"),
      JSON.stringify({
        hooks: {
          PreToolUs: [],
          PreToolUse: [{
            hooks: [{ type: "shout", url: "http://localhost:1" }, { type: "command", command: "exit 0" }]
          }]
        }
      })
    )
    const { hooks, warnings } = load()
    assert.lengthOf(hooks, 1)
    assert.deepEqual(warnings.map(HookConfig.show), [
      `${path}: hooks.PreToolUs: unknown event; did you mean PreToolUse?`,
      `${path}: hooks.PreToolUse[0].hooks[0].type: expected one of command, http, mcp_tool, prompt, agent`
    ])
  })
})
