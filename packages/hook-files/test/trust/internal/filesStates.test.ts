/** What is read of a file, and which part of it counts. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { sha256 } from "../../../src/internal/files.ts"
import * as Files from "../../../src/trust/internal/files.ts"
import { folder } from "../../support/processes.ts"

/** Checks files as if an hour had passed since they were written. */
const later = (run: () => void): void => {
  vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] })
  try {
    run()
  } finally {
    vi.useRealTimers()
  }
}

const written = (name: string, text: string): string => {
  const path = join(folder(), name)
  fs.writeFileSync(path, text)
  return path
}

describe("the state of a file", () => {
  it("is its mode and its hash", () => {
    const path = written("guard.sh", "exit 2")
    fs.chmodSync(path, 0o750)
    assert.strictEqual(Files.make().state(path), `750 ${sha256("exit 2")}`)
    assert.strictEqual(Files.stateOf(path), `750 ${sha256("exit 2")}`)
  })

  it("says that there is none, or why it cannot be read", () => {
    const home = folder()
    const path = written("large.sh", "")
    fs.truncateSync(path, 67_108_864)
    assert.match(Files.stateOf(path), /^644 /)
    fs.truncateSync(path, 67_108_865)
    assert.match(Files.stateOf(path), /^is larger than 67108864 bytes \(67108865 of /)
    assert.strictEqual(Files.stateOf(home), "is no regular file")
    assert.strictEqual(Files.stateOf(join(home, "none")), "absent")
    assert.strictEqual(Files.stateOf(`${path}/none`), "absent")
    assert.match(Files.stateOf("a\0b"), /null bytes/)
    assert.strictEqual(Files.make().state(join(home, "none")), "absent")
  })

  const inert: ReadonlyArray<readonly [file: string, before: string, after: string]> = [
    ["package.json", `{"name":"a","version":"1"}`, `{"version":"2","description":"x","name":"a"}`],
    [
      "package.json",
      `{"main":"a","scripts":{"b":"c"}}`,
      `{"scripts":{"b":"c"},"main":"a","devDependencies":{"x":"1"}}`
    ],
    ["pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'b'\ndependencies = ['x']\n[tool.ruff]\na = 1\n"],
    [
      "pyproject.toml",
      "[tool.poetry]\nversion = '1'\n",
      "[tool.poetry]\nversion = '2'\n[tool.poetry.dependencies]\nx = '1'\n"
    ],
    ["pyproject.toml", "[tool.poetry]\n", "[tool.poetry.dev-dependencies]\nx = '1'\n[tool.poetry.group.dev]\ny = '1'\n"]
  ]
  it.each(inert)("of %s does not change from %s to %s", (file, before, after) => {
    assert.strictEqual(Files.stateOf(written(file, before)), Files.stateOf(written(file, after)))
  })

  const relevant: ReadonlyArray<readonly [file: string, before: string, after: string]> = [
    ["package.json", `{"main":"a"}`, `{"main":"b"}`],
    ["package.json", `{"main":"a"}`, `{"module":"a"}`],
    ["package.json", "{ a", "{ b"],
    ["other.json", `{"version":"1"}`, `{"version":"2"}`],
    ["other.toml", "[project]\nname = 'a'\n", "[project]\nname = 'b'\n"],
    ["pyproject.toml", "a = ", "b = "],
    ["pyproject.toml", "", "[build-system]\nrequires = ['x']\n"],
    ["pyproject.toml", "", "[project.scripts]\na = 'b'\n"],
    ["pyproject.toml", "", "[project.gui-scripts]\na = 'b'\n"],
    ["pyproject.toml", "", "[project.entry-points.x]\na = 'b'\n"],
    ["pyproject.toml", "", "[tool.poetry.scripts]\na = 'b'\n"],
    ...["uv", "pdm", "hatch", "rye", "poe", "taskipy", "invoke"].map((tool) =>
      ["pyproject.toml", "", `[tool.${tool}]\na = 'b'\n`] as const
    )
  ]
  it.each(relevant)("of %s changes from %s to %s", (file, before, after) => {
    assert.notStrictEqual(Files.stateOf(written(file, before)), Files.stateOf(written(file, after)))
  })
})

describe("a file that is looked at", () => {
  it("is a file, a folder or something else, also behind a link", () => {
    const home = folder()
    const [file, link, lost] = [join(home, "file"), join(home, "link"), join(home, "lost")]
    fs.writeFileSync(file, "")
    fs.symlinkSync(home, link)
    fs.symlinkSync(join(home, "nowhere"), lost)
    const { list, real, see: seen } = Files.make()
    const see = (path: string): object | undefined => seen(path)
    assert.deepInclude(see(file), { type: "file", executable: false, link: false, shared: false })
    assert.deepInclude(see(link), { type: "folder", executable: false, link: true, shared: false })
    assert.deepInclude(see(home), { type: "folder", executable: false, link: false, shared: false })
    assert.deepInclude(see("/dev/null"), { type: "other", executable: false })
    assert.isUndefined(see(lost))
    assert.isUndefined(see("a\0b"))
    assert.deepEqual([real(link), real(file), real(join(link, "x")), real("/")], [home, file, join(home, "x"), "/"])
    assert.deepEqual(list(home).map(({ name, type }) => `${name} ${type}`), ["file file", "link link", "lost link"])
    assert.deepEqual([list(file), list(join(home, "none"))], [[], []])
    fs.mkdirSync(join(home, "folder"))
    const later = Files.make()
    assert.deepEqual(later.list(home).map(({ type }) => type), ["file", "folder", "link", "link"])
    fs.linkSync(file, join(home, "same"))
    fs.chmodSync(file, 0o010)
    assert.deepInclude(later.see(file) as object, { executable: true, shared: true })
  })

  it("is listed in the order of the names, whatever the order of the file system", () => {
    const home = folder()
    const names = ["a", "b", "c", "d", "e"]
    for (const name of names) fs.writeFileSync(join(home, name), "")
    const mutable = process.getBuiltinModule("node:fs") as { readdirSync: unknown }
    const { readdirSync } = fs
    const entries = readdirSync(home, { withFileTypes: true })
    mutable.readdirSync = () => [3, 0, 4, 2, 1].map((at) => entries[at])
    syncBuiltinESMExports()
    try {
      assert.deepEqual(Files.make().list(home).map(({ name }) => name), names)
    } finally {
      mutable.readdirSync = readdirSync
      syncBuiltinESMExports()
    }
  })

  it("is looked at once in a check", () => {
    const path = join(folder(), "x.sh")
    const files = Files.make()
    assert.isFalse(files.isQuiet(() => true), "there was no check")
    assert.isUndefined(files.see(path))
    fs.writeFileSync(path, "")
    assert.isUndefined(files.see(path))
    files.begin()
    assert.isDefined(files.see(path))
  })

  it("is asked for its text once while it does not change", () =>
    later(() => {
      const path = written("settings.json", "one")
      const files = Files.make()
      const heard: Array<string> = []
      const text = (at = path, about = "x") =>
        files.text(at, about, (content) => {
          heard.push(content)
          return content.length
        })
      files.begin()
      assert.deepEqual([text(), text(), text(path, "y")], [3, 3, 3])
      assert.deepEqual(heard, ["one", "one"], "once for each thing that is made of it")
      fs.writeFileSync(path, "four")
      assert.strictEqual(text(), 3, "in the same check")
      files.begin()
      assert.strictEqual(text(), 4)
      fs.rmSync(path)
      files.begin()
      assert.strictEqual(text(), 0)
      fs.writeFileSync(path, "x".repeat(1_048_576))
      files.begin()
      assert.strictEqual(text(), 1_048_576)
      fs.writeFileSync(path, "x".repeat(1_048_577))
      files.begin()
      assert.strictEqual(text(), 0)
    }))

  it("is not read if its state is known", () =>
    later(() => {
      const path = written("guard.sh", "exit 2")
      const asked: Array<string> = []
      const files = Files.make((at, key) => {
        asked.push(key)
        return at === path ? "known" : undefined
      })
      files.begin()
      assert.deepEqual([files.state(path), files.state(join(path, "none"))], ["known", "absent"])
      assert.deepEqual(asked, [files.settledKey(path)])
    }))

  it("has a key only if it had not changed just before", () => {
    const path = written("guard.sh", "exit 2")
    const files = Files.make()
    assert.isUndefined(files.settledKey(path))
    files.begin()
    files.state(path)
    assert.isUndefined(files.settledKey(path), "it was written just now")
    later(() => {
      files.begin()
      files.state(path)
      const { ctimeMs, dev, ino, mode, mtimeMs } = fs.statSync(path)
      assert.strictEqual(files.settledKey(path), `${dev} ${ino} ${mode} 6 ${mtimeMs} ${ctimeMs}`)
    })
  })
})

describe("a check of many files", () => {
  /** Looks at a file, a link and as many other paths as it needs. */
  const checked = (total: number) => {
    const home = folder()
    const [file, link, inner] = [join(home, "file"), join(home, "link"), join(home, "inner")]
    fs.writeFileSync(file, "")
    fs.mkdirSync(inner)
    fs.symlinkSync(file, link)
    const files = Files.make()
    files.begin()
    for (const path of [file, link, inner]) files.state(path)
    for (let at = 3; at < total; at++) files.see(join(home, `none/${at}`))
    return { files, home, file, link, inner }
  }

  it("names the folders to watch", () =>
    later(() => {
      assert.isUndefined(checked(999).files.folders())
      const { files, home, inner } = checked(1_000)
      assert.deepEqual(files.folders(), new Set([home, inner]))
    }))

  it("looks only at paths that changed, and at those whose changes are not noticed", () =>
    later(() => {
      const { file, files, home, link } = checked(4)
      const all = () => true
      const quiet = (...only: ReadonlyArray<string>) => files.isQuiet(all, new Set(only))
      assert.isTrue(quiet())
      fs.writeFileSync(file, "more")
      assert.isFalse(quiet(), "the link leads to it")
      fs.rmSync(link)
      fs.symlinkSync(home, link)
      files.begin()
      files.state(file)
      fs.writeFileSync(file, "yet more")
      vi.setSystemTime(Date.now() + 3_600_000)
      files.begin()
      files.state(file)
      fs.writeFileSync(file, "and more")
      assert.isTrue(quiet(), "nobody said that it changed")
      fs.writeFileSync(join(home, "other"), "")
      assert.isTrue(quiet(join(home, "other")), "it was never looked at")
      assert.isFalse(quiet(join(home, "other"), file))
      files.begin()
      files.see(join(home, "none"))
      fs.writeFileSync(join(home, "none"), "")
      assert.isFalse(quiet(), "there was no file")
    }))
})

describe("the state of a package", () => {
  it("is the same in every version of this program, whatever the order of its fields", () => {
    const path = written("package.json", "{\"version\":\"1\",\"type\":\"module\",\"bin\":\"./a.js\",\"scripts\":{}}")
    const counts = "[[\"bin\",\"./a.js\"],[\"scripts\",{}],[\"type\",\"module\"]]"
    const { mode } = fs.statSync(path)
    assert.strictEqual(Files.stateOf(path), `${(mode & 0o777).toString(8)} ${sha256(counts)}`)
  })
})
