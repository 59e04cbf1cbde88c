/** Which folder a demonstration takes, while others run or have run. */
import * as Result from "effect/Result"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { takeFolder } from "../../src/internal/demo/folder.ts"

const marked = (root: string, process: number): string => {
  mkdirSync(root)
  writeFileSync(join(root, ".belay-demo"), `process ${process}\n`)
  return root
}

describe("the folder of a demonstration", () => {
  const newRoot = () => join(mkdtempSync(join(tmpdir(), "belay-demo-folder-")), "demo")

  it("is a new one, an empty one, or that of a demonstration that has ended", async () => {
    const ended = spawn(process.execPath, ["-e", ""])
    await once(ended, "exit")
    const empty = newRoot()
    mkdirSync(empty)
    for (const root of [newRoot(), join(newRoot(), "deep"), empty, marked(newRoot(), ended.pid!)]) {
      assert.strictEqual(Result.getOrThrow(takeFolder([root])), root)
      assert.match(readFileSync(join(root, ".belay-demo"), "utf8"), new RegExp(`^process ${process.pid}$`, "m"))
      assert.deepStrictEqual(readdirSync(root), [".belay-demo"])
    }
  })

  it("is the next one where another demonstration runs, or where other files are", () => {
    const [busy, foreign, free] = [marked(newRoot(), process.ppid), newRoot(), newRoot()]
    mkdirSync(foreign)
    writeFileSync(join(foreign, "mine.txt"), "precious")
    assert.strictEqual(Result.getOrThrow(takeFolder([busy, foreign, free])), free)
    assert.deepStrictEqual(readdirSync(foreign), ["mine.txt"])
    assert.include(readFileSync(join(busy, ".belay-demo"), "utf8"), `process ${process.ppid}`)
  })

  it("is named with the reason if there is none", () => {
    const root = marked(newRoot(), process.ppid)
    const { failure } = takeFolder([root]) as Result.Failure<string, Error>
    assert.strictEqual(failure.message, `another demonstration runs in ${root}: choose another with --folder`)
    const { failure: file } = takeFolder([join(root, ".belay-demo")]) as Result.Failure<string, Error>
    assert.include(file.message, "cannot be used: choose another with --folder")
  })
})
