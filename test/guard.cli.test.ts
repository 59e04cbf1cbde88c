/** `belay guard` inside agents that are programs, against small endpoints on loopback. */
import { assert, describe, it } from "vitest"
import { provePrograms } from "../proof/programs.ts"

describe("belay guard in real programs", () => {
  it("denies, changes, adds context, asks about the mail of a poisoned file, and guards sub-agents", async () => {
    const proved = await provePrograms()
    assert.deepStrictEqual(
      proved.map(({ program }) => program),
      ["Claude Code", "Codex", "Gemini CLI", "opencode"]
    )
    for (const { paths, program, stderr } of proved) {
      const failed = Object.entries(paths).flatMap(([path, holds]) => holds ? [] : [path])
      assert.deepStrictEqual(failed, [], `${program}: ${stderr}`)
    }
  }, 300_000)
})
