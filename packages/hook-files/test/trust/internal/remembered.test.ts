/** What is kept of the files that a decision was about. */
import { assert, describe, it, vi } from "@effect/vitest"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { sha256 } from "../../../src/internal/files.ts"
import type { Item } from "../../../src/trust/internal/covered.ts"
import * as Files from "../../../src/trust/internal/files.ts"
import * as Remembered from "../../../src/trust/internal/remembered.ts"
import { pathOf } from "../../../src/trust/internal/rememberedPath.ts"
import { folder, write } from "../../support/processes.ts"

/** Remembers files of a project. `settings` are texts of settings files, by path. */
const remember = (
  files: { readonly [path: string]: string | Buffer },
  settings: { readonly [path: string]: string } = {},
  more: { readonly [path: string]: Item } = {}
) => {
  const [cwd, kept] = [folder(), folder()]
  const all = Files.make()
  const items = new Map<string, Item>()
  for (const [name, content] of Object.entries(files)) {
    write(join(cwd, name), "")
    writeFileSync(join(cwd, name), content)
  }
  all.begin()
  for (const name of Object.keys(files)) {
    items.set(join(cwd, name), { real: join(cwd, name), state: all.state(join(cwd, name)) })
  }
  for (const name of Object.keys(settings)) {
    items.set(join(cwd, name), { real: join(cwd, name), state: "hooks 0", isSource: true })
  }
  for (const [path, item] of Object.entries(more)) items.set(path, item)
  const save = (dialect: "claude" | "codex" = "claude") =>
    Remembered.write(kept, cwd, new Map([[dialect, items]]), all, (path) => settings[path.slice(cwd.length + 1)])
  save()
  const file = (name: string) => Remembered.read(kept, cwd)?.["claude"]?.[join(cwd, name)]
  return { cwd, kept, save, file, read: () => Remembered.read(kept, cwd) }
}

describe("what is remembered of a decision", () => {
  it("is the state of a file and its text", () => {
    const { file } = remember({ "x.sh": "exit 2" })
    assert.deepEqual(file("x.sh"), { state: `644 ${sha256("exit 2")}`, text: "exit 2" })
  })

  it("is the settings of hooks in a settings file, not its text", () => {
    const { file } = remember({ "x.json": "all of it" }, { "x.json": "the hooks" })
    assert.deepEqual(file("x.json"), { state: "hooks 0", text: "the hooks" })
  })

  it("is the real path only if it is another one", () => {
    const { file } = remember({}, {}, { "/a/link": { real: "/a/target", state: "absent" } })
    assert.isUndefined(file("x"))
    const { read } = remember({}, {}, { "/a/link": { real: "/a/target", state: "absent" } })
    assert.deepEqual(read(), { claude: { "/a/link": { state: "absent", real: "/a/target" } } })
  })

  it("is the data of the file system, if the file had not changed just before", () => {
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] })
    try {
      const { cwd, file } = remember({ "x.sh": "exit 2", "x.json": "{}" }, { "x.json": "{}" })
      const { ctimeMs, dev, ino, mode, mtimeMs, size } = statSync(join(cwd, "x.sh"))
      const key = `${dev} ${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`
      assert.deepEqual(file("x.sh"), { state: `644 ${sha256("exit 2")}`, key, text: "exit 2" })
      assert.deepEqual(file("x.json"), { state: "hooks 0", text: "{}" }, "settings are always read")
      const known = Remembered.known({ codex: {}, claude: { [join(cwd, "x.sh")]: file("x.sh")! } })!
      assert.strictEqual(known(join(cwd, "x.sh"), key), `644 ${sha256("exit 2")}`)
      assert.isUndefined(known(join(cwd, "x.sh"), "other"))
      assert.isUndefined(known(join(cwd, "y.sh"), key))
      assert.isUndefined(known("constructor", key))
    } finally {
      vi.useRealTimers()
    }
  })

  it("leaves out the text of large files, of binary files and of packages", () => {
    const { file } = remember({
      "fits.sh": "x".repeat(65_536),
      "large.sh": "x".repeat(65_537),
      "binary": Buffer.from([65, 0]),
      "node_modules/a/x.js": "x",
      "my_node_modules/x.js": "x"
    }, { "large.json": "y".repeat(65_537) })
    const has = ["fits.sh", "large.sh", "binary", "node_modules/a/x.js", "my_node_modules/x.js", "large.json"].map((
      name
    ) => file(name)!.text?.length)
    assert.deepEqual(has, [65_536, undefined, undefined, undefined, 1, undefined])
  })

  it("has at most two megabytes of texts", () => {
    const names = Array.from({ length: 40 }, (_, at) => `${at}.json`)
    const { file } = remember({}, Object.fromEntries(names.map((name) => [name, "x".repeat(65_536)])))
    assert.lengthOf(names.filter((name) => file(name)!.text !== undefined), 33)
  })

  it("is kept for each system of the project, and only its owner can read it", () => {
    const { cwd, kept, read, save } = remember({ "x.sh": "" })
    save("codex")
    assert.deepEqual(Object.keys(read()!), ["claude", "codex"])
    const path = pathOf(kept, cwd)
    assert.deepEqual([readdirSync(kept), statSync(path).mode & 0o777], [[`${sha256(cwd)}.files.json`], 0o600])
    assert.match(readFileSync(path, "utf8"), /\}\n$/)
  })

  it("is of a project wherever a link leads to it, and of no other project", () => {
    const { cwd, kept, read } = remember({ "x.sh": "" })
    const link = join(folder(), "link")
    symlinkSync(cwd, link)
    assert.deepEqual(Remembered.read(kept, link), read())
    const other = folder()
    writeFileSync(pathOf(kept, other), readFileSync(pathOf(kept, cwd)))
    assert.isUndefined(Remembered.read(kept, other))
    assert.isUndefined(Remembered.read(kept, folder()))
    assert.isUndefined(Remembered.known(undefined))
  })

  it("is nothing if the file is damaged", () => {
    const { cwd, kept, read } = remember({})
    for (const systems of ["[]", "1", "{\"claude\":1}", "{\"claude\":{},\"codex\":[]}"]) {
      writeFileSync(pathOf(kept, cwd), `{"project":${JSON.stringify(cwd)},"systems":${systems}}`)
      assert.isUndefined(read(), systems)
    }
    writeFileSync(pathOf(kept, cwd), "{")
    assert.isUndefined(read())
    rmSync(pathOf(kept, cwd))
    mkdirSync(pathOf(kept, cwd))
    assert.isUndefined(read(), "it is not a file")
  })
})

describe("the text of a file", () => {
  it("counts only while it is what the decision was about", () => {
    const path = write(join(folder(), "x.sh"), "one")
    const state = Files.stateOf(path)
    assert.strictEqual(Remembered.current(path, { state }), "one")
    writeFileSync(path, "two")
    assert.isUndefined(Remembered.current(path, { state }))
    assert.isUndefined(Remembered.current(join(path, "none"), { state }))
    assert.isUndefined(Remembered.current(path, { state: "of the system" }))
    assert.isUndefined(Remembered.current(folder(), { state }))
  })
})
