import * as Grep from "@belay/tools/Grep"
import { assert, describe, it } from "@effect/vitest"
import { folderWith, useTool } from "./support/useTool.ts"

describe("Grep", () => {
  const root = folderWith({
    "a.ts": "const key = 1\nconst Other = 2\r\nkey()\n",
    "sub/b.md": "the key\n",
    "long.txt": `key ${"x".repeat(2_000)}`,
    "a.bin": "key\0",
    "node_modules/x.ts": "key"
  })
  const grep = async (args: object, options?: Grep.Options) =>
    (await useTool(root, Grep.make(options), { path: ".", ...args })).text.split("\n")

  it("shows lines, files or counts", async () => {
    assert.deepEqual(await grep({ pattern: "key", glob: "*.ts" }), ["a.ts:1:const key = 1", "a.ts:3:key()"])
    assert.deepEqual(await grep({ pattern: "key", output_mode: "files_with_matches" }), [
      "a.ts",
      "long.txt",
      "sub/b.md"
    ])
    assert.deepEqual(await grep({ pattern: "key", output_mode: "count", glob: "*.ts" }), ["a.ts:2"])
    assert.deepEqual(await grep({ pattern: "OTHER = 2$", "-i": true }), ["a.ts:2:const Other = 2"])
    assert.deepEqual(await grep({ pattern: "key", path: "sub/b.md" }), ["sub/b.md:1:the key"])
    assert.deepEqual(await grep({ pattern: "nowhere" }), ["[nothing matches]"])
  })

  it("cuts long lines and long answers, and says so", async () => {
    const [line] = await grep({ pattern: "key", path: "long.txt" })
    assert.isBelow(line!.length, 600)
    assert.isTrue(line!.endsWith("…"))
    const shown = await grep({ pattern: "const|key", head_limit: 2 })
    assert.deepEqual(shown.slice(2), ["[there are more than 2 lines: use a narrower pattern, path or glob]"])
    assert.lengthOf(await grep({ pattern: "const|key", head_limit: 100 }, { maxLines: 1 }), 2)
  })

  it("answers a pattern that is not valid with what is wrong", async () => {
    const { isError, text } = await useTool(root, Grep.make(), { path: ".", pattern: "(?=a)" })
    assert.isTrue(isError)
    assert.match(text, /lookaround/i)
  })

  it("takes linear time for patterns that others hang on", async () => {
    const slow = folderWith({ "a.txt": `${"a".repeat(5_000)}!` })
    assert.strictEqual((await useTool(slow, Grep.make(), { path: ".", pattern: "^(a+)+$" })).text, "[nothing matches]")
  })
})
