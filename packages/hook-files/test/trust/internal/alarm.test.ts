/** A change of one of many files is found, although not all of them are looked at before each start of an entry. */
import * as Discovery from "@belay/hook-files/Discovery"
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it, vi } from "@effect/vitest"
import * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { dirname, join } from "node:path"
import * as Covered from "../../../src/trust/internal/covered.ts"
import * as Files from "../../../src/trust/internal/files.ts"
import * as Watch from "../../../src/trust/internal/watch.ts"
import { folder } from "../../support/processes.ts"

const count = 1_200

/** A trusted project with many modules beside its hook. An hour has passed since they were written. */
const project = () => {
  const root = fs.realpathSync(folder())
  const [home, cwd] = [join(root, "home"), join(root, "work/project")]
  const put = (path: string, text: string): string => {
    fs.mkdirSync(dirname(join(cwd, path)), { recursive: true })
    fs.writeFileSync(join(cwd, path), text)
    return join(cwd, path)
  }
  const command = "node .claude/hooks/guard.js"
  put(
    ".claude/settings.json",
    JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } })
  )
  put(".claude/hooks/guard.js", "process.exit(2)")
  for (let at = 0; at < count; at++) put(`.claude/hooks/lib${at % 20}/deep/module${at}.js`, `// ${at}`)
  fs.mkdirSync(join(root, "elsewhere"))
  fs.writeFileSync(join(root, "elsewhere/shared.js"), "// shared")
  fs.linkSync(join(root, "elsewhere/shared.js"), join(cwd, ".claude/hooks/lib3/deep/hard.js"))
  fs.symlinkSync(join(root, "elsewhere/shared.js"), join(cwd, ".claude/hooks/lib4/deep/soft.js"))
  fs.symlinkSync(join(cwd, ".claude/hooks/lib5"), join(cwd, ".claude/hooks/alias"))
  vi.setSystemTime(Date.now() + 3_600_000)
  const find = () => Discovery.find({ cwd, home, managed: join(root, "no") }).sources.filter((one) => one.ofProject)
  const store = Trust.folder(join(home, "trust"))
  const [files, sources] = [Files.make(), find()]
  const trusted = Covered.of(cwd, sources, home, files)
  store.trust(cwd, Covered.print(cwd, trusted))
  const isTrusted = (print: string) => store.isTrusted(cwd, print)
  const { changed, ready } = Watch.make({ cwd, home, files, sources, trusted, find, isTrusted })
  /** The answer to an entry that is about to start. */
  const look = async () => {
    await ready()
    return changed()
  }
  return { root, cwd, put, look, hooks: join(cwd, ".claude/hooks") }
}

/** How many files are looked at. */
const looked = async (run: () => Promise<unknown>): Promise<number> => {
  const mutable = process.getBuiltinModule("node:fs") as { lstatSync: unknown }
  const { lstatSync } = fs
  let times = 0
  mutable.lstatSync = (...args: Parameters<typeof lstatSync>) => {
    times++
    return lstatSync(...args)
  }
  syncBuiltinESMExports()
  try {
    await run()
  } finally {
    mutable.lstatSync = lstatSync
    syncBuiltinESMExports()
  }
  return times
}

const withClock = (run: () => Promise<void>) => async () => {
  vi.useFakeTimers({ toFake: ["Date"] })
  try {
    await run()
  } finally {
    vi.useRealTimers()
  }
}

describe.skipIf(process.platform !== "linux")("many files beside a hook", () => {
  it(
    "are not all looked at again",
    withClock(async () => {
      const { look, put } = project()
      assert.isUndefined(await look())
      assert.isUndefined(await look())
      assert.isBelow(await looked(look), 30)
      put(".claude/hooks/lib1/deep/notes.log", "a line")
      assert.isUndefined(await look())
      assert.isUndefined(await look(), "the file is there now, and does not count")
    })
  )

  type Made = ReturnType<typeof project>
  const changes: ReadonlyArray<readonly [what: string, (made: Made) => unknown]> = [
    ["a changed file", ({ put }) => put(".claude/hooks/lib7/deep/module7.js", "// evil")],
    ["a new file", ({ put }) => put(".claude/hooks/lib7/deep/new.js", "// evil")],
    ["a new file in a new folder", ({ put }) => put(".claude/hooks/lib7/more/new.js", "// evil")],
    ["a removed file", ({ hooks }) => fs.rmSync(join(hooks, "lib7/deep/module7.js"))],
    ["a removed folder", ({ hooks }) => fs.rmSync(join(hooks, "lib7"), { recursive: true })],
    ["a mode", ({ hooks }) => fs.chmodSync(join(hooks, "lib7/deep/module7.js"), 0o755)],
    ["the script", ({ put }) => put(".claude/hooks/guard.js", "process.exit(0)")],
    ["the settings", ({ put }) => put(".claude/settings.json", "{}")],
    ["a file with another path", ({ root }) => fs.writeFileSync(join(root, "elsewhere/shared.js"), "// evil")],
    ["a file in the place of another one", ({ hooks, put }) => {
      put("evil.js", "// evil")
      fs.renameSync(join(hooks, "../../evil.js"), join(hooks, "lib7/deep/module7.js"))
    }],
    ["a folder in the place of another one", ({ cwd, hooks, put }) => {
      put("evil/deep/module7.js", "// evil")
      fs.renameSync(join(hooks, "lib7"), join(cwd, "old"))
      fs.renameSync(join(cwd, "evil"), join(hooks, "lib7"))
    }],
    ["another folder behind a link", ({ cwd, hooks, put }) => {
      put("evil/deep/module7.js", "// evil")
      fs.rmSync(join(hooks, "alias"))
      fs.symlinkSync(join(cwd, "evil"), join(hooks, "alias"))
    }],
    ["another folder of settings", ({ cwd, put }) => {
      fs.renameSync(join(cwd, ".claude"), join(cwd, "old"))
      put(".claude/settings.json", "{}")
    }],
    ["another project", ({ root, put }) => {
      fs.renameSync(join(root, "work"), join(root, "old"))
      put(".claude/settings.json", "{}")
    }]
  ]
  it.each(changes)("%s is found", (_what, change) =>
    withClock(async () => {
      const made = project()
      assert.isUndefined(await made.look())
      assert.isUndefined(await made.look())
      assert.isBelow(await looked(made.look), 30)
      change(made)
      assert.isString(await made.look())
    })())
})
