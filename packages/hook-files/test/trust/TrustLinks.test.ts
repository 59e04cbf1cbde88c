/** Files that a decision covers because links or packages lead to them. */
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { place, settings } from "../support/places.ts"
import { write } from "../support/processes.ts"

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  return write(path, text)
}

const prints = (one: ReturnType<typeof place>) => () =>
  Trust.fingerprint(one.cwd, one.load().sources.filter(({ ofProject }) => ofProject), one.home)

describe("a decision about scripts behind links", () => {
  it("covers what is beside the file that a link leads to, and beside a path through another link", () => {
    const one = place()
    const real = join(one.root, "real")
    symlinkSync(one.cwd, real)
    one.project(settings(`python3 tools/guard.py; python3 ${real}/other/x.py`))
    for (const file of ["shared/guard.py", "shared/helper.py", "other/x.py", "other/lib/y.py", "tools/z.sh"]) {
      put(join(one.cwd, file), "1")
    }
    symlinkSync("../shared/guard.py", join(one.cwd, "tools/guard.py"))
    const print = prints(one)
    for (const file of ["shared/helper.py", "other/lib/y.py", "tools/z.sh", "shared/guard.py"]) {
      const before = print()
      put(join(one.cwd, file), "2")
      assert.notStrictEqual(print(), before, file)
    }
  })

  it("covers the files of a folder outside of the project that a link in the project leads to", () => {
    const one = place()
    one.project(settings("python3 tools/guard.py"))
    for (const file of ["guard.py", "helper.py", "lib/common.py"]) put(join(one.root, "shared", file), "1")
    symlinkSync("../shared", join(one.cwd, "tools"))
    const print = prints(one)
    for (const file of ["guard.py", "helper.py", "lib/common.py"]) {
      const before = print()
      put(join(one.root, "shared", file), "2")
      assert.notStrictEqual(print(), before, file)
    }
  })

  it("covers the nearest package.json above a script, and none above it", () => {
    const one = place()
    one.project(settings("node tools/lib/x.js"))
    for (const file of ["tools/lib/x.js", "tools/package.json", "package.json"]) put(join(one.cwd, file), "{}")
    const print = prints(one)
    const before = print()
    put(join(one.cwd, "package.json"), "{\"type\":\"module\"}")
    assert.strictEqual(print(), before)
    put(join(one.cwd, "tools/package.json"), "{\"type\":\"module\"}")
    assert.notStrictEqual(print(), before)
  })
})
