/** `belay hooks` says what is there and what to do next, and the doctor says nothing thirty times. */
import { assert, describe, it } from "vitest"
import { settings, world } from "./belay.ts"

interface Step {
  readonly command: string
}

const commandsOf = ({ next }: { readonly next: ReadonlyArray<Step> }) => next.map(({ command }) => command)

describe("belay hooks", () => {
  it("begins with an example where there are no hooks", async () => {
    const { hooks, json } = world()
    const { value } = await json()
    assert.deepEqual([value.entries, commandsOf(value)], [0, [
      "belay hooks explain",
      "belay hooks explain PreToolUse"
    ]])
    assert.include((await hooks()).stdout, "No files with hooks.")
  })

  it("asks for a decision, then for corrections, then for a trial", async () => {
    const { hooks, json } = world({
      "home/.codex/hooks.json": settings("Stop", [{ command: "true" }]),
      "project/.claude/settings.json": settings("PreToolUse", [{ command: "./none.sh" }])
    })
    const source = ["--source", "claude"]
    assert.deepInclude((await json(...source)).value, { systems: ["Claude Code"], files: 1, entries: 1, running: 0 })
    assert.deepEqual(commandsOf((await json(...source)).value), [
      "belay hooks trust",
      "belay hooks doctor",
      "belay hooks list"
    ])
    await hooks("trust", "--yes")
    const { stdout } = await hooks(...source)
    assert.include(stdout, "1 entry in 1 file for Claude Code; all run.")
    assert.include(stdout, "belay hooks test PreToolUse  runs the hooks of this event once")
    assert.notInclude(stdout, "belay hooks trust")
  })

  it("says that nothing is loaded with --no-hooks", async () => {
    const { hooks } = world({ "home/.claude/settings.json": settings("Stop", [{ command: "true" }]) })
    assert.include((await hooks("--no-hooks")).stdout, "Hooks are off (--no-hooks): nothing is loaded.")
  })
})

describe("the doctor", () => {
  const missing = Array.from({ length: 30 }, () => ({ command: "/no/such/script.sh" }))

  it("shows the same finding of one file once, with its places", async () => {
    const { hooks, json } = world({ "home/.claude/settings.json": settings("Stop", missing) })
    const { stdout } = await hooks("doctor")
    assert.lengthOf(stdout.match(/script-missing/g) ?? [], 1)
    assert.match(stdout, /hooks\.Stop\[0\]\.hooks\[3\](?: line \d+)? and 26 more {2}script-missing/)
    const { value } = await json("doctor")
    assert.isAtLeast(value.errors, 30)
  })

  it("shows a few of the findings that differ in a name only", async () => {
    const entries = Array.from({ length: 30 }, (_, at) => ({ command: `/no/such/script${at}.sh` }))
    const { hooks } = world({ "home/.claude/settings.json": settings("Stop", entries) })
    const { stdout } = await hooks("doctor")
    assert.lengthOf(stdout.match(/script-missing/g) ?? [], 3)
    assert.include(stdout, "and 27 more findings like this: see --json")
  })

  it("shows a finding of several files once", async () => {
    const files = Object.fromEntries(
      Array.from(
        { length: 5 },
        (_, at) => [`home/.claude/skills/skill${at}/SKILL.md`, `---\nname: s${at}\nhooks:\n  Stopp: []\n---\n`] as const
      )
    )
    const { hooks, json } = world(files)
    const { value } = await json("doctor")
    const { stdout } = await hooks("doctor")
    assert.lengthOf(value.findings, 5)
    assert.match(stdout, /In several files\n.*SKILL\.md, .* and 1 more {2}loading/)
  })
})
