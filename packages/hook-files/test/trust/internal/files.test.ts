/** Which files are read again when they are checked again. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import * as Files from "../../../src/trust/internal/files.ts"
import { folder } from "../../support/processes.ts"

/** Runs a test on a file system whose clock has whole seconds only. */
const withCoarseClock = (run: () => void): void => {
  const mutable = process.getBuiltinModule("node:fs") as { lstatSync: unknown }
  const { lstatSync } = fs
  const seconds = (ms: number) => Math.floor(ms / 1_000) * 1_000
  mutable.lstatSync = (...args: Parameters<typeof lstatSync>) => {
    const stat = lstatSync(...args) as fs.Stats | undefined
    return stat === undefined
      ? undefined
      : Object.assign(stat, { ctimeMs: seconds(stat.ctimeMs), mtimeMs: seconds(stat.mtimeMs) })
  }
  syncBuiltinESMExports()
  try {
    run()
  } finally {
    mutable.lstatSync = lstatSync
    syncBuiltinESMExports()
  }
}

describe("a file that changes within the resolution of the file system's clock", () => {
  it("is read again, although its size and its times are the same", () =>
    withCoarseClock(() => {
      const path = join(folder(), "guard.sh")
      const files = Files.make()
      fs.writeFileSync(path, "exit 2")
      files.begin()
      const before = files.state(path)
      fs.writeFileSync(path, "exit 0")
      files.begin()
      assert.notStrictEqual(files.state(path), before)
    }))

  it("is not quiet, although nothing in its data has changed", () =>
    withCoarseClock(() => {
      const path = join(folder(), "guard.sh")
      const files = Files.make()
      fs.writeFileSync(path, "exit 2")
      files.begin()
      files.state(path)
      fs.writeFileSync(path, "exit 0")
      assert.isFalse(files.isQuiet(() => true))
    }))
})

describe("a folder that was quiet when it was checked", () => {
  /** Checks a script, a folder and a path without a file, an hour after they were made. */
  const quietFolder = () => {
    const home = folder()
    const [script, notes] = [join(home, "guard.sh"), join(home, "notes.txt")]
    const files = Files.make()
    fs.writeFileSync(script, "exit 2")
    fs.writeFileSync(notes, "")
    files.begin()
    files.state(script)
    files.state(join(home, "absent.sh"))
    files.see(notes)
    files.list(home)
    return { home, script, notes, isQuiet: () => files.isQuiet((path) => path !== notes) }
  }
  const changes: ReadonlyArray<
    readonly [what: string, isQuiet: boolean, change: (paths: ReturnType<typeof quietFolder>) => void]
  > = [
    ["nothing changes", true, () => {}],
    ["a script changes", false, ({ script }) => fs.writeFileSync(script, "exit 0")],
    ["a script has other execute bits", false, ({ script }) => fs.chmodSync(script, 0o700)],
    ["a script is replaced", false, ({ home, script }) => {
      fs.writeFileSync(join(home, "new"), "exit 2")
      fs.renameSync(join(home, "new"), script)
    }],
    ["a script is removed", false, ({ script }) => fs.rmSync(script)],
    ["a script becomes a link", false, ({ notes, script }) => {
      fs.rmSync(script)
      fs.symlinkSync(notes, script)
    }],
    ["a file comes where there was none", false, ({ home }) => fs.writeFileSync(join(home, "absent.sh"), "")],
    ["a file comes into a folder that was listed", false, ({ home }) => fs.writeFileSync(join(home, "more.sh"), "")],
    ["a file changes that does not count", true, ({ notes }) => fs.writeFileSync(notes, "more")]
  ]
  it.each(changes)("%s: quiet is %s", (_what, isQuiet, change) => {
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] })
    try {
      const paths = quietFolder()
      change(paths)
      assert.strictEqual(paths.isQuiet(), isQuiet)
    } finally {
      vi.useRealTimers()
    }
  })
})
