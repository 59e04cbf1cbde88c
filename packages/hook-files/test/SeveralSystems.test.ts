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
        (cwd) => codex(cwd, ["bash ./guard.sh", "*"]),
        (cwd) => gemini(cwd, [`bash "\${GEMINI_PROJECT_DIR}/guard.sh"`, "run_shell_command"])
      )
      assert.strictEqual(runs, 1)
    }))

  it.live("runs for each system whose matcher the first one does not cover", () =>
    Effect.gen(function*() {
      const first = (cwd: string) => claude(cwd, ["bash guard.sh", "Write"])
      assert.strictEqual(yield* runsOf(first, (cwd) => gemini(cwd, ["bash guard.sh", "run_shell_command"])), 1)
      const bash = (cwd: string) => claude(cwd, ["bash guard.sh", "Bash|Write"])
      assert.strictEqual(
        yield* runsOf(bash, (cwd) => gemini(cwd, ["bash guard.sh", "write_file|run_shell_command"])),
        1
      )
      assert.strictEqual(yield* runsOf(bash, (cwd) => gemini(cwd, ["bash guard.sh", "run_.*"])), 2)
    }))

  const weaker: ReadonlyArray<readonly [what: string, more: object]> = [
    ["runs in the background", { async: true }],
    ["has a condition", { if: "Bash(ls *)" }]
  ]
  for (const [what, more] of weaker) {
    it(`keeps the second one if the first one ${what}`, () => {
      const { cwd, load } = place()
      claude(cwd, ["bash guard.sh", "Bash", more])
      codex(cwd, ["bash guard.sh"])
      load({ sources }).untrusted[0]!.trust()
      assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), ["claude", "codex"])
    })
  }

  it("leaves the user's entry, not the one of the project", () => {
    const { cwd, home, load } = place()
    claude(cwd, ["date"])
    codex(home, ["date"])
    load({ sources }).untrusted[0]!.trust()
    assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), ["codex"])
  })
})
