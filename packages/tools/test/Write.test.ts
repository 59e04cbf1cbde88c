import * as Write from "@belay/tools/Write"
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { folderWith, useTool, useTools } from "./support/useTool.ts"

describe("Write", () => {
  it("creates files and their folders, and replaces files whole", async () => {
    const root = folderWith({ "run.sh": "a long old text" })
    chmodSync(join(root, "run.sh"), 0o755)
    const [created, replaced] = await useTools(root, [Write.make()], [
      ["Write", { file_path: "new/deep/a.txt", content: "hello" }],
      ["Write", { file_path: "run.sh", content: "new" }]
    ])
    assert.deepEqual(created, { isError: false, text: "created new/deep/a.txt: 5 characters" })
    assert.deepEqual(replaced, { isError: false, text: "replaced run.sh: 3 characters" })
    assert.strictEqual(readFileSync(join(root, "run.sh"), "utf8"), "new")
    assert.strictEqual(statSync(join(root, "run.sh")).mode & 0o777, 0o755)
    assert.deepEqual(readdirSync(root).sort(), ["new", "run.sh"])
  })

  it("writes through a link that stays inside, and leaves the link", async () => {
    const root = folderWith({ "a.txt": "old" })
    symlinkSync("a.txt", join(root, "b.txt"))
    await useTool(root, Write.make(), { file_path: "b.txt", content: "new" })
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "new")
    assert.isTrue(existsSync(join(root, "b.txt")))
  })

  it("refuses folders and large contents", async () => {
    const root = folderWith({ "sub/a.txt": "" })
    assert.match((await useTool(root, Write.make(), { file_path: "sub", content: "" })).text, /sub is not a file/)
    const { text } = await useTool(root, Write.make({ maxCharacters: 3 }), { file_path: "x", content: "four" })
    assert.include(text, "has 4 characters, at most 3")
    assert.isFalse(existsSync(join(root, "x")))
  })
})
