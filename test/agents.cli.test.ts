/** The guard inside agents that are programs, against a small endpoint on loopback. Their packages are large. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { columnsFrom, others, paths, runCell } from "../proof/run.ts"

const execute = promisify(execFile)

describe("the guard in the real Claude Agent SDK", () => {
  it("denies, changes, asks and withholds in parallel calls, and the model reads what hooks inject", async () => {
    const folder = await mkdtemp(join(tmpdir(), "belay-claude-"))
    try {
      const args = ["--conditions=@belay/source", "test/cli/claude-agent.ts", folder]
      const { stdout } = await execute(process.execPath, args, { timeout: 50_000 })
      const { answer, asked, context, read } = JSON.parse(stdout)
      assert.strictEqual(answer, "done")
      assert.deepStrictEqual(asked, ["Bash {\"command\":\"echo asked\"}: really?"])
      assert.sameMembers(read, ["PreToolUse:Bash hook error: no leaks", "two", "asked", "[pin]"])
      assert.isTrue(context)
      assert.isFalse(existsSync(join(folder, "leaked.txt")))
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })
})

describe("the paths of the proof in the Claude Agent SDK", () => {
  const [claude] = others.filter(({ folder }) => folder === "cli")
  it.each(paths.map((path) => [path.name, path] as const))("%s", async (_name, path) => {
    const [column] = await columnsFrom(claude!)
    const [cell, note] = await runCell(path, column!)
    assert.notStrictEqual(cell, "does not hold", note)
  })
})

describe("the types of the Claude Agent SDK and of opencode", () => {
  it("accept what the guard makes", async () => {
    await execute(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", "test/cli"])
  })
})
