/** Repositories that have hook files of several systems. */
import * as HookConfig from "@belay/hook-files/HookConfig"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { place } from "./support/places.ts"
import { write } from "./support/processes.ts"

type Hooks = ReadonlyArray<readonly [command: string, matcher?: string, more?: object]>

const groups = (...hooks: Hooks) =>
  hooks.map(([command, matcher, more = {}]) => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [{ type: "command", command, ...more }]
  }))

const claude = (root: string, ...hooks: Hooks) =>
  write(join(root, ".claude/settings.json"), JSON.stringify({ hooks: { PreToolUse: groups(...hooks) } }))
const codex = (root: string, ...hooks: Hooks) =>
  write(join(root, ".codex/hooks.json"), JSON.stringify({ hooks: { PreToolUse: groups(...hooks) } }))
const gemini = (root: string, ...hooks: Hooks) =>
  write(join(root, ".gemini/settings.json"), JSON.stringify({ hooks: { BeforeTool: groups(...hooks) } }))

describe("a repository with hook files of several systems", () => {
  it.live("loads the system with the most entries, and one line names the others and the option", () =>
    Effect.gen(function*() {
      const { canary, cwd, fire, load } = place()
      claude(cwd, [`touch ${canary}; exit 2`])
      codex(cwd, ["exit 0"], ["true"])
      load().untrusted[0]!.trust()
      const loaded = load()
      assert.deepEqual(loaded.hooks.map(({ name }) => name), ["codex"])
      assert.deepEqual(loaded.leftOut.map(({ dialect }) => dialect), ["claude"])
      assert.deepEqual(loaded.warnings.map(HookConfig.show), [
        `${cwd}: several systems have hooks here: only codex is loaded, because it has the most entries (2); claude (1) is not loaded; to load several, set the option sources: ["claude", "codex"]`
      ])
      assert.strictEqual((yield* fire(loaded)).action._tag, "Continue")
      assert.isFalse(existsSync(canary))
    }))

  it("loads the systems that the option names, without a warning", () => {
    const { cwd, load } = place()
    claude(cwd, ["exit 2"])
    codex(cwd, ["exit 0"], ["true"])
    const sources = ["claude", "codex"]
    load({ sources }).untrusted[0]!.trust()
    const loaded = load({ sources })
    assert.deepEqual(loaded.hooks.map(({ name }) => name), ["claude", "codex"])
    assert.deepEqual(loaded.warnings, [])
    assert.deepEqual(load({ sources: ["claude"] }).hooks.map(({ name }) => name), ["claude"])
  })

  it("cannot turn off hooks of the user, however many entries it has", () => {
    const { cwd, home, load } = place()
    claude(home, ["exit 2"])
    codex(cwd, ["exit 0"], ["true"], ["date"])
    const loaded = load()
    assert.deepEqual(loaded.hooks.map(({ name }) => name), ["claude"])
    assert.deepEqual(loaded.warnings, [])
    assert.deepEqual(loaded.untrusted[0]!.commands.map(({ command }) => command), ["exit 0", "true", "date"])
  })

  it("is warned about nothing in the files that are left out", () => {
    const { cwd, load } = place()
    claude(cwd, ["exit 2"])
    write(join(cwd, ".gemini/settings.json"), JSON.stringify({ hooks: { BeforeTol: [], BeforeTool: [3] } }))
    assert.lengthOf(load().warnings, 2)
    claude(cwd, ["exit 2"], ["exit 0"])
    gemini(cwd, ["true", "("])
    assert.deepEqual(load().warnings.map(({ file }) => file), [cwd])
  })

  it.live("stays trusted when a file of a left out system changes", () =>
    Effect.gen(function*() {
      const { cwd, fire, load } = place()
      claude(cwd, ["echo no >&2; exit 2"], ["true"])
      codex(cwd, ["exit 0"])
      load().untrusted[0]!.trust()
      const loaded = load()
      codex(cwd, ["exit 1"])
      assert.deepInclude((yield* fire(loaded)).action, { _tag: "Reject", reason: "no" })
      assert.deepEqual(load().untrusted, [])
    }))
})

describe("the same script in several systems", () => {
  const sources = ["claude", "codex", "gemini"]
  const runsOf = (...files: ReadonlyArray<(cwd: string) => void>) =>
    Effect.gen(function*() {
      const { cwd, fire, load, root } = place()
      write(join(cwd, "guard.sh"), "echo x >> ../log\n")
      for (const file of files) file(cwd)
      load({ sources }).untrusted[0]!.trust()
      const loaded = load({ sources })
      yield* fire(loaded)
      const log = join(root, "log")
      return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0
    })

  it.live("runs once at an event, however the files write its path", () =>
    Effect.gen(function*() {
      const runs = yield* runsOf(
        (cwd) => claude(cwd, [`bash "$CLAUDE_PROJECT_DIR"/guard.sh`]),
        (cwd) => codex(cwd, ["bash ./guard.sh", "*"])
      )
      assert.strictEqual(runs, 1)
    }))

  it.live("runs for each system whose matcher the first one does not cover", () =>
    Effect.gen(function*() {
      const first = (cwd: string) => claude(cwd, ["bash guard.sh", "Write"])
      assert.strictEqual(yield* runsOf(first, (cwd) => codex(cwd, ["bash guard.sh", "Bash"])), 1)
      const bash = (cwd: string) => claude(cwd, ["bash guard.sh", "Bash|Write"])
      assert.strictEqual(yield* runsOf(bash, (cwd) => codex(cwd, ["bash guard.sh", "Write|Bash"])), 1)
      assert.strictEqual(yield* runsOf(bash, (cwd) => codex(cwd, ["bash guard.sh", "Ba.*"])), 2)
    }))

  const weaker: ReadonlyArray<readonly [what: string, more: object]> = [
    ["runs in the background", { async: true }],
    ["has a condition", { if: "Bash(ls *)" }],
    ["has less time", { timeout: 5 }]
  ]
  for (const [what, more] of weaker) {
    it(`keeps the second one if the first one ${what}`, () => {
      const { cwd, load } = place()
      claude(cwd, ["bash guard.sh", "Bash", more])
      codex(cwd, ["bash guard.sh", "Bash"])
      load({ sources }).untrusted[0]!.trust()
      assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), ["claude", "codex"])
    })
  }

  const refusals: ReadonlyArray<readonly [what: string, script: string, first: string, second: string]> = [
    ["exit code 1, which refuses in Copilot only", "exit 1", "claude", "copilot"],
    ["a failure of an entry that must not fail", "exit 1", "claude", "cursor"],
    ["the JSON of Cursor", `echo '{"permission":"deny"}'`, "claude", "cursor"],
    ["the JSON of Gemini CLI", `echo '{"decision":"deny","reason":"no"}'`, "factory", "gemini"],
    ["exit code 2 without a reason, which Codex ignores", "exit 2", "codex", "claude"],
    ["a tool's name in the input", `grep -q Execute && exit 2; exit 0`, "claude", "factory"]
  ]
  const files: Record<string, (cwd: string) => void> = {
    claude: (cwd) => claude(cwd, ["bash guard.sh"]),
    codex: (cwd) => codex(cwd, ["bash guard.sh"]),
    gemini: (cwd) => gemini(cwd, ["bash guard.sh"]),
    factory: (cwd) =>
      write(join(cwd, ".factory/hooks.json"), JSON.stringify({ PreToolUse: groups(["bash guard.sh"]) })),
    cursor: (cwd) => {
      const hooks = { preToolUse: [{ command: "bash guard.sh", failClosed: true }] }
      write(join(cwd, ".cursor/hooks.json"), JSON.stringify({ version: 1, hooks }))
    },
    copilot: (cwd) => {
      const hooks = { preToolUse: [{ type: "command", bash: "bash guard.sh" }] }
      write(join(cwd, ".github/hooks/guard.json"), JSON.stringify({ version: 1, hooks }))
    }
  }
  for (const [what, script, first, second] of refusals) {
    it.live(`refuses by ${what}, for ${second} after ${first}`, () =>
      Effect.gen(function*() {
        const { cwd, fire, load } = place()
        write(join(cwd, "guard.sh"), `${script}\n`)
        for (const system of [first, second]) files[system]!(cwd)
        const sources = [first, second]
        load({ sources }).untrusted[0]!.trust()
        assert.strictEqual((yield* fire(load({ sources }))).action._tag, "Reject")
      }))
  }

  const onlyInCursor: ReadonlyArray<readonly [what: string, claude: string, cursor: string]> = [
    ["a sub-agent", "SubagentStart", "subagentStart"],
    ["the end of a turn", "Stop", "stop"],
    ["the end of a sub-agent", "SubagentStop", "subagentStop"]
  ]
  for (const [what, event, another] of onlyInCursor) {
    it(`runs for both where only the second system may read that it refuses ${what}`, () => {
      const { cwd, load } = place()
      write(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks: { [event]: groups(["./x.sh"]) } }))
      const hooks = { [another]: [{ command: "./x.sh" }] }
      write(join(cwd, ".cursor/hooks.json"), JSON.stringify({ version: 1, hooks }))
      write(join(cwd, ".codex/hooks.json"), JSON.stringify({ hooks: { [event]: groups(["./x.sh"]) } }))
      const sources = ["claude", "codex", "cursor"]
      load({ sources }).untrusted[0]!.trust()
      const names = load({ sources }).hooks.map(({ name }) => name)
      assert.deepEqual(names.filter((name) => name !== "codex"), ["claude", "cursor"])
      assert.strictEqual(names.includes("codex"), event === "SubagentStart")
    })
  }

  it("runs once where nothing can be refused", () => {
    const { cwd, load } = place()
    write(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks: { SessionEnd: groups(["./done.sh"]) } }))
    write(join(cwd, ".gemini/settings.json"), JSON.stringify({ hooks: { SessionEnd: groups(["bash -c ./done.sh"]) } }))
    write(join(cwd, ".factory/hooks.json"), JSON.stringify({ SessionEnd: groups([`"$FACTORY_PROJECT_DIR"/done.sh`]) }))
    const sources = ["claude", "gemini", "factory"]
    load({ sources }).untrusted[0]!.trust()
    assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), ["claude", "gemini"])
  })

  it("leaves the user's entry, not the one of the project", () => {
    const { cwd, home, load } = place()
    codex(cwd, ["date"])
    claude(home, ["date"])
    const sources = ["codex", "claude"]
    load({ sources }).untrusted[0]!.trust()
    assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), ["claude"])
  })
})
