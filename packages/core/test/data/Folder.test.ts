import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeFolder } from "../../src/data/Folder.ts"

describe("makeFolder", () => {
  it("makes all folders that are missing, with the mode, and leaves those that are there", () => {
    const home = mkdtempSync(join(tmpdir(), "belay-folder-"))
    try {
      makeFolder(join(home, "a"))
      makeFolder(join(home, "a/b/c"), 0o700)
      makeFolder(join(home, "a/b/c"), 0o755)
      const modeOf = (name: string) => statSync(join(home, name)).mode & 0o777
      assert.deepStrictEqual([modeOf("a/b"), modeOf("a/b/c")], [0o700, 0o700])
    } finally {
      rmSync(home, { recursive: true })
    }
  })

  it.runIf(process.platform === "linux")("fails at once where no folder can be made", () => {
    assert.throws(() => makeFolder("/proc/nope/x"), /ENOENT/)
  })
})
