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

  it("is quiet when its change is long ago", () => {
    const path = join(folder(), "guard.sh")
    const files = Files.make()
    fs.writeFileSync(path, "exit 2")
    vi.useFakeTimers({ now: fs.statSync(path).ctimeMs + 10_000, toFake: ["Date"] })
    try {
      files.begin()
      files.state(path)
      assert.isTrue(files.isQuiet(() => true))
    } finally {
      vi.useRealTimers()
    }
  })
})
