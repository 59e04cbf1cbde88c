/** Which file is named when trusted files have changed. */
import * as Discovery from "@belay/hook-files/Discovery"
import { assert, describe, it, vi } from "@effect/vitest"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Covered from "../../../src/trust/internal/covered.ts"
import * as Files from "../../../src/trust/internal/files.ts"
import * as Watch from "../../../src/trust/internal/watch.ts"
import { settings } from "../../support/places.ts"
import { folder, write } from "../../support/processes.ts"

/** A project that a person trusted as it is now. */
const project = (line: string, names: ReadonlyArray<string>) => {
  const root = folder()
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  mkdirSync(home)
  const put = (path: string, text = "1") => write(join(cwd, path), text)
  put(".claude/settings.json", settings(line))
  for (const name of names) put(name, name.endsWith(".json") ? "{}" : "1")
  const find = () =>
    Discovery.find({ cwd, home, managed: join(root, "no") }).sources.filter(({ ofProject }) => ofProject)
  const now = () => Covered.print(cwd, Covered.of(cwd, find(), home, Files.make()))
  const decided = new Set([now()])
  const [watched, sources] = [Files.make(), find()]
  const looks: Array<boolean> = []
  const files: Files.Files = {
    ...watched,
    isQuiet: (...args) => {
      const quiet = watched.isQuiet(...args)
      looks.push(quiet)
      return quiet
    }
  }
  const { changed, ready } = Watch.make({
    cwd,
    home,
    files,
    sources,
    trusted: Covered.of(cwd, sources, home, files),
    find,
    isTrusted: (print) => decided.has(print)
  })
  return { root, cwd, put, changed, ready, looks, trust: () => void decided.add(now()) }
}

describe("a trusted project", () => {
  it("is as it was", () => {
    const { changed, looks, ready } = project("tools/x.sh", ["tools/x.sh"])
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] })
    try {
      assert.deepEqual([changed(), changed(), changed()], [undefined, undefined, undefined])
      assert.deepEqual(looks, [true, true], "after the first check, only the data of the files is compared")
      assert.isUndefined(ready(), "so few files are looked at, and nothing has to be waited for")
    } finally {
      vi.useRealTimers()
    }
  })

  it("has a changed file, which is named until it is trusted", () => {
    const { changed, put, trust } = project("tools/x.sh", ["tools/x.sh"])
    put("tools/x.sh", "2")
    assert.deepEqual([changed(), changed()], ["tools/x.sh", "tools/x.sh"])
    trust()
    assert.isUndefined(changed())
    assert.isUndefined(changed())
    put("tools/x.sh", "3")
    assert.strictEqual(changed(), "tools/x.sh")
    put("tools/x.sh", "2")
    assert.isUndefined(changed())
  })

  it("has a new file and a changed one: that which a person saw is named", () => {
    const { changed, cwd, put } = project("tools/x.sh", ["tools/x.sh"])
    put("tools/a.sh")
    assert.strictEqual(changed(), "tools/a.sh")
    put("tools/x.sh", "2")
    assert.strictEqual(changed(), "tools/x.sh")
    rmSync(join(cwd, "tools/a.sh"))
    rmSync(join(cwd, "tools/x.sh"))
    assert.strictEqual(changed(), "tools/x.sh")
  })

  it("has several changed files: the first by name is named", () => {
    const { changed, put } = project("tools/x.sh; a.sh", ["tools/x.sh", "tools/b.sh", "tools/c.sh"])
    for (const name of ["c", "x", "b"]) put(`tools/${name}.sh`, "2")
    assert.strictEqual(changed(), "tools/b.sh")
  })

  it("has a file with a colon in its name, which is named too", () => {
    const { changed, put } = project("tools/x.sh", ["tools/x.sh"])
    put("tools/a:b.sh")
    assert.strictEqual(changed(), "tools/a:b.sh")
  })

  it("runs a file elsewhere, whose whole path is named", () => {
    const { changed, root } = project("../elsewhere/x.sh", [])
    const path = write(join(root, "elsewhere/x.sh"), "")
    assert.strictEqual(changed(), path)
  })

  it("has a file with a name for a terminal, which is shown without it, and not longer than 200 letters", () => {
    const { changed, put } = project("tools/x.sh", ["tools/x.sh"])
    const name = `tools/\u001B[2J${"a".repeat(220)}.sh`
    put(name)
    assert.strictEqual(changed(), name.replace("\u001B", "?").slice(0, 200))
  })

  it("has no module any more that was beside its script, which is named", () => {
    const { changed, cwd } = project("tools/x.sh", ["tools/x.sh", "tools/b.sh"])
    rmSync(join(cwd, "tools/b.sh"))
    assert.strictEqual(changed(), "tools/b.sh")
  })

  it("has changed settings and a changed script: the first by name is named", () => {
    const { changed, put } = project(".claude/hooks/x.sh", [".claude/hooks/x.sh"])
    put(".claude/hooks/x.sh", "2")
    put(".claude/settings.json", settings("true"))
    assert.strictEqual(changed(), ".claude/hooks/x.sh")
  })

  it("has other hooks than before, in a settings file that had some or none", () => {
    const { changed, put } = project("tools/x.sh", ["tools/x.sh", ".claude/settings.local.json"])
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] })
    try {
      assert.deepEqual([changed(), changed()], [undefined, undefined])
      put(".claude/settings.local.json", settings("true"))
      assert.deepEqual([changed(), changed()], [".claude/settings.local.json", ".claude/settings.local.json"])
      put(".claude/settings.local.json", "{}")
      assert.isUndefined(changed())
      put("tools/x.sh", "2")
      assert.strictEqual(changed(), "tools/x.sh")
      put("tools/x.sh")
      assert.isUndefined(changed())
      put(".claude/settings.json", settings("true"))
      assert.strictEqual(changed(), ".claude/settings.json")
    } finally {
      vi.useRealTimers()
    }
  })

  it("is not trusted because other settings are, if a script that they do not run changed with them", () => {
    const { changed, put, trust } = project("tools/x.sh", ["tools/x.sh", "other/y.sh"])
    put(".claude/settings.json", settings("other/y.sh"))
    put("tools/x.sh", "2")
    trust()
    assert.strictEqual(changed(), ".claude/settings.json")
  })

  it("is not trusted because other settings are", () => {
    const { changed, put, trust } = project("tools/x.sh", ["tools/x.sh", "other/y.sh"])
    put(".claude/settings.json", settings("other/y.sh"))
    trust()
    assert.isUndefined(changed())
    put("tools/x.sh", "2")
    assert.strictEqual(changed(), "tools/x.sh", "the new decision does not cover the script")
  })
})
