import * as Edit from "@belay/tools/Edit"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folderWith, newFolder, useTool, useTools } from "./support/useTool.ts"

describe("Edit", () => {
  const edit = async (content: string, args: object, options?: Edit.Options) => {
    const root = folderWith({ "a.txt": content })
    const used = await useTool(root, Edit.make(options), { file_path: "a.txt", ...args })
    return { ...used, after: readFileSync(join(root, "a.txt"), "utf8") }
  }

  it("replaces a text that occurs once", async () => {
    const { after, text } = await edit("one two", { old_string: "two", new_string: "$& three" })
    assert.deepEqual([after, text], ["one $& three", "replaced 1 occurrence in a.txt"])
  })

  it("refuses a text that occurs several times, unless all are to be replaced", async () => {
    const change = { old_string: "a", new_string: "b" }
    const refused = await edit("a a", change)
    assert.isTrue(refused.isError)
    assert.include(refused.text, "contains old_string 2 times")
    assert.strictEqual(refused.after, "a a")
    assert.strictEqual((await edit("a a", { ...change, replace_all: true })).after, "b b")
  })

  it("says when the text is missing, empty or unchanged", async () => {
    assert.match((await edit("a", { old_string: "x", new_string: "b" })).text, /does not contain old_string/)
    assert.match((await edit("a", { old_string: "", new_string: "b" })).text, /use Write/)
    assert.match((await edit("a", { old_string: "a", new_string: "a" })).text, /are the same/)
  })

  it("keeps Windows line ends and a byte order mark", async () => {
    const { after } = await edit("\uFEFFa\r\nb\r\nc\r\n", { old_string: "a\nb\n", new_string: "x\ny\n" })
    assert.strictEqual(after, "\uFEFFx\r\ny\r\nc\r\n")
    const mixed = await edit("a\r\nb\r\n", { old_string: "a\nb", new_string: "x\r\ny\nz" })
    assert.strictEqual(mixed.after, "x\r\ny\r\nz\r\n")
  })

  it("does not change a file that is not UTF-8", async () => {
    const root = newFolder()
    const bytes = Buffer.from([0x61, 0xff, 0x62])
    writeFileSync(join(root, "a.txt"), bytes)
    const { text } = await useTool(root, Edit.make(), { file_path: "a.txt", old_string: "a", new_string: "b" })
    assert.include(text, "is not a text in UTF-8")
    assert.isTrue(readFileSync(join(root, "a.txt")).equals(bytes))
  })

  it("refuses a change that makes the file too large, before it is made", async () => {
    const args = { old_string: "a", new_string: "x".repeat(10_000), replace_all: true }
    const { after, text } = await edit("a".repeat(100_000), args)
    assert.include(text, "would have more than 10000000 bytes")
    assert.strictEqual(after, "a".repeat(100_000))
    const wide = { old_string: "a", new_string: "\u00fc", replace_all: true }
    assert.include((await edit("a".repeat(6), wide, { maxBytes: 11 })).text, "would have more than 11 bytes")
    assert.strictEqual((await edit("a".repeat(6), wide, { maxBytes: 12 })).after, "\u00fc".repeat(6))
  })

  it("loses no change when a model makes several at once", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`)
    const root = folderWith({ "a.txt": names.join("") })
    const changes = names.map((name) =>
      ["Edit", { file_path: "a.txt", old_string: name, new_string: `${name}!` }] as const
    )
    const results = await useTools(root, [Edit.make()], changes)
    assert.isTrue(results.every(({ isError }) => !isError))
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), names.map((name) => `${name}!`).join(""))
  })
})
