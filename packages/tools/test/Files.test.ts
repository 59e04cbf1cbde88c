/** What the tools for files leave on the disk, and which links they do not follow. */
import * as Grep from "@belay/tools/Grep"
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { openFile } from "../src/internal/openFile.ts"
import { replaceFile } from "../src/internal/replaceFile.ts"
import { searchFiles } from "../src/internal/searchFiles.ts"
import { folderWith, useTool } from "./support/useTool.ts"

describe("a link", () => {
  it("that is put in place of a checked file is not followed when the file is opened", async () => {
    const root = folderWith({ "secret.txt": "secret", "a.txt": "fine" })
    symlinkSync("secret.txt", join(root, "link.txt"))
    const read = (name: string) => {
      const place = { path: join(root, name), shown: name } as never
      return Effect.runPromise(Effect.exit(Effect.scoped(openFile("Read", place))))
    }
    assert.strictEqual((await read("a.txt"))._tag, "Success")
    assert.strictEqual((await read("link.txt"))._tag, "Failure")
  })

  it("is not followed by a search", async () => {
    const root = folderWith({ "inside/a.txt": "key one", "secret.txt": "key two" })
    symlinkSync("../secret.txt", join(root, "inside/link.txt"))
    const { text } = await useTool(join(root, "inside"), Grep.make(), { path: ".", pattern: "key" })
    assert.strictEqual(text, "a.txt:1:key one")
  })

  it("is not followed by a search that was given the link as its file", async () => {
    const root = folderWith({ "secret.txt": "key two" })
    symlinkSync("secret.txt", join(root, "link.txt"))
    const found = await searchFiles({
      place: { path: join(root, "link.txt"), shown: "link.txt", isExcluded: () => false } as never,
      cwd: root,
      matches: (line) => line.includes("key"),
      isWanted: () => true,
      mode: "content",
      limit: 10,
      signal: new AbortController().signal,
      timeoutMs: 5_000
    })
    assert.strictEqual(found, "[nothing matches]")
  })
})

describe("a file that is replaced", () => {
  it("keeps its rights, also those that a new file would not get", () => {
    const root = folderWith({ "a.sh": "old" })
    for (const mode of [0o777, 0o640, 0o600, 0o755]) {
      chmodSync(join(root, "a.sh"), mode)
      replaceFile(join(root, "a.sh"), `new ${mode}`)
      assert.strictEqual(statSync(join(root, "a.sh")).mode & 0o777, mode)
    }
    assert.deepStrictEqual(readdirSync(root), ["a.sh"])
  })

  it("leaves nothing beside it when it cannot be replaced", () => {
    const root = folderWith({ "a.txt": "old" })
    mkdirSync(join(root, "folder"))
    // A file cannot take the place of a folder.
    assert.throws(() => replaceFile(join(root, "folder"), "new"))
    assert.deepStrictEqual(readdirSync(root).sort(), ["a.txt", "folder"])
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "old")
  })
})

describe("a search", () => {
  it("stops at the next file when it is aborted", async () => {
    const root = folderWith(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}.txt`, "key"])))
    const abort = new AbortController()
    let seen = 0
    const found = await searchFiles({
      place: { path: root, shown: ".", isExcluded: () => false } as never,
      cwd: root,
      matches: () => {
        if (++seen === 3) abort.abort()
        return true
      },
      isWanted: () => true,
      mode: "files_with_matches",
      limit: 100,
      signal: abort.signal,
      timeoutMs: 60_000
    })
    assert.lengthOf(found.split("\n"), 3)
  })
})
