import * as Glob from "@belay/tools/Glob"
import * as Grep from "@belay/tools/Grep"
import { assert, describe, it } from "@effect/vitest"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { folderWith, useTool } from "./support/useTool.ts"

describe("Glob", () => {
  const root = folderWith({
    "b.ts": "",
    "a.ts": "",
    ".env": "",
    "sub/c.ts": "",
    "sub/d.md": "",
    "node_modules/x/e.ts": "",
    ".git/config": ""
  })
  symlinkSync("/", join(root, "sub/everything"))
  const glob = async (args: object, options?: Glob.Options) =>
    (await useTool(root, Glob.make(options), { path: ".", ...args })).text.split("\n")

  it("lists files in order, and skips packages, Git and what links lead to", async () => {
    assert.deepEqual(await glob({ pattern: "**/*.ts" }), ["a.ts", "b.ts", "sub/c.ts"])
    assert.deepEqual(await glob({ pattern: "*" }), ["a.ts", "b.ts", "sub/"])
    assert.deepEqual(await glob({ pattern: "*", path: "sub" }), ["sub/c.ts", "sub/d.md", "sub/everything"])
    assert.deepEqual(await glob({ pattern: "**/*.ts", path: "node_modules" }), ["node_modules/x/e.ts"])
    assert.deepEqual(await glob({ pattern: "*.rs" }), ["[nothing matches]"])
  })

  it("says that there are more paths than it shows", async () => {
    const shown = await glob({ pattern: "**/*.ts" }, { maxPaths: 2 })
    assert.deepEqual(shown, ["a.ts", "b.ts", "[there are more than 2 paths: use a narrower glob]"])
  })

  it("says that a folder does not exist", async () => {
    assert.deepEqual(await glob({ pattern: "*", path: "nowhere" }), ["nowhere does not exist"])
    assert.strictEqual(
      (await useTool(root, Grep.make(), { path: "nowhere", pattern: "x" })).text,
      "nowhere does not exist"
    )
  })

  it("refuses globs that leave the folder", async () => {
    assert.match((await glob({ pattern: "../*" }))[0]!, /must be relative to path/)
    assert.match((await glob({ pattern: "/etc/*" }))[0]!, /must be relative to path/)
  })

  it("ends soon, whatever the glob is", async () => {
    const pattern = `${"**/".repeat(100)}${"*a".repeat(200)}${"{a,b}".repeat(20)}`
    assert.match((await glob({ pattern: pattern.slice(0, 1_000) }))[0]!, /is not valid|nothing matches/)
    assert.match((await glob({ pattern: "*".repeat(2_000) }))[0]!, /more than 1000 characters/)
  })
})
