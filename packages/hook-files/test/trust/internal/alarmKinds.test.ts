/** Where changes are noticed: on which file systems, how often each, and until when. */
import { assert, describe, it, vi } from "@effect/vitest"
import * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { caughtUp, make } from "../../../src/trust/internal/alarm.ts"
import { folder } from "../../support/processes.ts"

const isPossible = process.platform === "linux"

/** Runs with another answer about file systems. */
const onSystem = <A>(type: number, run: () => A): A => {
  const mutable = process.getBuiltinModule("node:fs") as { statfsSync: unknown }
  const { statfsSync } = fs
  mutable.statfsSync = (path: string) => ({ ...statfsSync(path), type })
  syncBuiltinESMExports()
  try {
    return run()
  } finally {
    mutable.statfsSync = statfsSync
    syncBuiltinESMExports()
  }
}

describe.runIf(isPossible)("changes", () => {
  it.each([
    ["ext4", 0xef53],
    ["Btrfs", 0x9123683e],
    ["Btrfs, with a sign", 0x9123683e | 0],
    ["XFS", 0x58465342],
    ["tmpfs", 0x01021994],
    ["overlayfs", 0x794c7630],
    ["ZFS", 0x2fc12fc1],
    ["F2FS", 0xf2f52010]
  ])("are noticed on %s", (_, type) => {
    const alarm = onSystem(type, () => make(new Set([folder()])))
    assert.isDefined(alarm)
    alarm?.close()
  })

  it.each([["NFS", 0x6969], ["SMB", 0xff534d42 | 0], ["FUSE", 0x65735546], ["9P", 0x01021997]])(
    "are not noticed on %s",
    (_, type) => assert.isUndefined(onSystem(type, () => make(new Set([folder()]))))
  )

  it("are not noticed in too many folders, and in none that is missing", () => {
    const root = folder()
    assert.isUndefined(make(new Set([join(root, "missing")])))
    assert.isUndefined(make(new Set([root, join(root, "missing")])))
    const many = (count: number) => new Set(Array.from({ length: count }, (_, index) => join(root, `missing${index}`)))
    const [watch, statfs] = [vi.fn(), vi.fn()]
    const mutable = process.getBuiltinModule("node:fs") as unknown as { statfsSync: unknown; watch: unknown }
    const { statfsSync, watch: real } = fs
    const one = { close: watch, on: () => one }
    mutable.statfsSync = () => (statfs(), { type: 0xef53 })
    mutable.watch = () => one
    syncBuiltinESMExports()
    try {
      assert.isUndefined(make(many(4_001)))
      assert.strictEqual(statfs.mock.calls.length, 0)
      const alarm = make(many(4_000))
      assert.isDefined(alarm)
      alarm?.close()
      assert.strictEqual(watch.mock.calls.length, 4_000)
    } finally {
      mutable.statfsSync = statfsSync
      mutable.watch = real
      syncBuiltinESMExports()
    }
  })

  it("are returned once", async () => {
    const root = fs.realpathSync(folder())
    const alarm = make(new Set([root]))
    if (alarm === undefined) return
    assert.deepEqual([...alarm.heard() ?? []], [])
    fs.writeFileSync(join(root, "a"), "x")
    await caughtUp()
    assert.sameMembers([...alarm.heard() ?? []], [join(root, "a"), root])
    assert.deepEqual([...alarm.heard() ?? []], [])
    fs.writeFileSync(join(root, "b"), "x")
    await caughtUp()
    assert.sameMembers([...alarm.heard() ?? []], [join(root, "b"), root])
    alarm.close()
    assert.isUndefined(alarm.heard())
    assert.isUndefined(alarm.heard())
  })

  it("are noticed for half a minute", () => {
    vi.useFakeTimers()
    try {
      const alarm = make(new Set([folder()]))
      if (alarm === undefined) return
      vi.advanceTimersByTime(29_999)
      assert.isDefined(alarm.heard())
      vi.advanceTimersByTime(1)
      assert.isUndefined(alarm.heard())
    } finally {
      vi.useRealTimers()
    }
  })
})
