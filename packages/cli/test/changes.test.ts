/** What changed in a project since it was trusted is named, and shown. */
import { chmodSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { difference } from "../src/internal/difference.ts"
import { settings, world } from "./belay.ts"

const guard = (line: string) => `#!/bin/bash\n# one\n# two\n# three\n${line}\n# four\n`

const trusted = async () => {
  const made = world({
    "project/.claude/settings.json": settings("PreToolUse", [{ command: ".claude/hooks/guard.sh" }], "Bash"),
    "project/.claude/hooks/guard.sh": guard("exit 2"),
    "project/.claude/hooks/lib.sh": "true\n"
  })
  assert.notProperty((await made.json("list")).value.untrusted[0], "changes")
  assert.strictEqual((await made.hooks("trust", "--yes")).code, 0)
  return made
}

describe("a project that changed since it was trusted", () => {
  it("is shown file by file, with the lines that changed", async () => {
    const { cwd: project, hooks, json, write } = await trusted()
    write("project/.claude/hooks/guard.sh", guard("exit 0"))
    write("project/.claude/hooks/more.sh", "true\n")
    chmodSync(join(project, ".claude/hooks/more.sh"), 0o755)
    rmSync(join(project, ".claude/hooks/lib.sh"))
    write("project/.claude/settings.json", settings("PreToolUse", [{ command: ".claude/hooks/guard.sh" }], "Write"))
    const { value } = await json("list")
    const [settingsPath, ...scripts] = ["settings.json", "hooks/guard.sh", "hooks/lib.sh", "hooks/more.sh"].map((
      name
    ) => join(project, ".claude", name))
    assert.deepEqual(value.untrusted[0].changes, [
      { path: scripts[0], kind: "changed" },
      { path: scripts[1], kind: "removed" },
      { path: scripts[2], kind: "new" },
      { path: settingsPath, kind: "changed" }
    ])
    const list = await hooks("list")
    assert.match(list.stdout, /Changed since it was trusted:\n {2}changed {2}\.claude\/hooks\/guard\.sh\n/)
    const { stdout } = await hooks("trust")
    assert.include(stdout, "    - exit 2\n    + exit 0\n")
    assert.match(stdout, /- +"matcher": "Bash"[\s\S]*\+ +"matcher": "Write"/)
    const shown = (await json("trust")).value.changes
    assert.deepEqual(shown[0].difference, ["…", "  # two", "  # three", "- exit 2", "+ exit 0", "  # four"])
    await hooks("trust", "--yes")
    assert.deepEqual((await json("list")).value.untrusted, [])
  })

  it("names execute bits, and says nothing when the files are as they were", async () => {
    const { cwd: project, json, write } = await trusted()
    chmodSync(join(project, ".claude/hooks/lib.sh"), 0o755)
    assert.deepEqual(
      (await json("list")).value.untrusted[0].changes.map(({ kind }: { readonly kind: string }) => kind),
      [
        "mode"
      ]
    )
    chmodSync(join(project, ".claude/hooks/lib.sh"), 0o644)
    write("project/.claude/hooks/lib.sh", "true\n")
    assert.deepEqual((await json("list")).value.untrusted, [])
  })

  it("is forgotten with the decision", async () => {
    const { hooks, json } = await trusted()
    await hooks("untrust")
    assert.notProperty((await json("list")).value.untrusted[0], "changes")
  })
})

describe("a difference", () => {
  it("has the lines around a change, and is cut", () => {
    assert.deepEqual(difference("a\nb\nc\nd\ne", "a\nb\nc\nd\nx\ny"), ["…", "  c", "  d", "- e", "+ x", "+ y"])
    assert.deepEqual(difference("", "a\n"), ["+ a"])
    assert.deepEqual(difference("a\n", ""), ["- a"])
    assert.deepEqual(difference("a", "a"), [])
    const many = Array.from({ length: 900 }, (_, at) => `line ${at}`)
    assert.deepEqual(difference(many.join("\n"), many.map((line) => `${line}!`).join("\n"), 2), [
      "- line 0",
      "- line 1",
      "… 1798 more lines"
    ])
  })
})
