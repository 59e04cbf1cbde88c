import * as Read from "@belay/tools/Read"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { folderWith, useTool } from "./support/useTool.ts"

describe("Read", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("")

  it("reads a file, and parts of it", async () => {
    const root = folderWith({ "a.txt": lines(10) })
    const read = (args: object) => useTool(root, Read.make({ maxLines: 6 }), { file_path: "a.txt", ...args })
    assert.strictEqual((await read({ offset: 9 })).text, "line 9\nline 10\n")
    assert.strictEqual(
      (await read({ offset: 2, limit: 2 })).text,
      "line 2\nline 3\n[there are more lines: read on with offset 4]"
    )
    assert.strictEqual((await read({})).text, `${lines(6)}[there are more lines: read on with offset 7]`)
    assert.strictEqual((await read({ offset: 5, limit: 6 })).text, lines(10).slice(lines(4).length))
    assert.strictEqual((await read({ offset: 30 })).text, "[the file has only 11 lines]")
  })

  it("reads 2,000 lines at a time, and no more than the limit of the program", async () => {
    const root = folderWith({ "a.txt": lines(2_001) })
    const { text } = await useTool(root, Read.make(), { file_path: "a.txt" })
    assert.strictEqual(text, `${lines(2_000)}[there are more lines: read on with offset 2001]`)
  })

  it("says how much of long lines is missing", async () => {
    const root = folderWith({ "a.txt": `short\n${"x".repeat(50)}\nend` })
    const read = (args: object) => useTool(root, Read.make({ maxCharacters: 20 }), { file_path: "a.txt", ...args })
    assert.strictEqual(
      (await read({})).text,
      `short\n${"x".repeat(14)}\n[cut after 20 characters, in line 2: read on with offset 2]`
    )
    assert.match(
      (await read({ offset: 2 })).text,
      /^x{20}\n\[cut after 20 characters, in line 2\. The line is too long/
    )
  })

  it.effect.prop(
    "gives the whole file when all of its parts are joined",
    [
      Schema.Array(Schema.Literals(["a", "ü", "\n", "long line", "\r\n", "😀"])),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
    ],
    ([parts, limit]) =>
      Effect.promise(async () => {
        const text = parts.join("")
        const root = folderWith({ "a.txt": text })
        let joined = ""
        for (let offset = 1;;) {
          const part = (await useTool(root, Read.make(), { file_path: "a.txt", offset, limit })).text
          const [, kept = part, next] = /^([^]*)\[there are more lines: read on with offset (\d+)\]$/.exec(part) ?? []
          joined += kept
          if (next === undefined) break
          offset = Number(next)
        }
        assert.strictEqual(joined, text === "" ? "[the file is empty]" : text)
      }),
    { arbitrary: { runs: 20 } }
  )

  it("refuses what is not a text file, without waiting for it", async () => {
    const root = folderWith({ "a.bin": "a\0b" })
    execFileSync("mkfifo", [join(root, "pipe")])
    const read = (file_path: string) => useTool(root, Read.make(), { file_path })
    assert.match((await read("a.bin")).text, /a\.bin is a binary file/)
    assert.match((await read("pipe")).text, /pipe is not a regular file/)
    assert.match((await read(".")).text, /is a folder: list it with Glob/)
    assert.deepEqual(await read("missing.txt"), { isError: true, text: "missing.txt does not exist" })
    assert.match((await read("a.bin/x")).text, /a part of its path is a file/)
  })
})
