/** Where decisions are kept, and whose decisions count. */
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { folder } from "../support/processes.ts"

const print = "claude:0000"

/** Two projects and a folder of decisions outside of them. */
const projects = () => {
  const root = folder()
  const [one, two, outside] = [join(root, "one"), join(root, "two"), join(root, "decisions")]
  for (const path of [one, two, outside]) mkdirSync(path)
  return { root, one, two, outside }
}

describe("a folder of decisions", () => {
  it("that is inside of a project does not trust it, because the project could have written it", () => {
    const { one, two } = projects()
    const store = Trust.folder(join(one, ".belay/trust"))
    store.trust(one, print)
    store.trust(two, print)
    assert.isFalse(store.isTrusted(one, print))
    assert.isTrue(store.isTrusted(two, print), "the folder is outside of this project")
  })

  it("that leads into a project through a link does not trust it", () => {
    const { one, root } = projects()
    mkdirSync(join(one, "trust"))
    symlinkSync(join(one, "trust"), join(root, "link"))
    const store = Trust.folder(join(root, "link"))
    store.trust(one, print)
    assert.isFalse(store.isTrusted(one, print))
  })

  it("that a project reaches through a link of its own does not trust it", () => {
    const { one, outside } = projects()
    symlinkSync(outside, join(one, "trust"))
    const store = Trust.folder(join(one, "trust"))
    store.trust(one, print)
    assert.isFalse(store.isTrusted(one, print))
  })

  it("has one decision for each project, and a copy of it does not count for another one", () => {
    const { one, outside, two } = projects()
    const store = Trust.folder(outside)
    store.trust(one, print)
    const [ofOne] = readdirSync(outside)
    store.trust(two, "claude:1111")
    const ofTwo = readdirSync(outside).find((name) => name !== ofOne)
    copyFileSync(join(outside, ofOne!), join(outside, ofTwo!))
    assert.isTrue(store.isTrusted(one, print))
    assert.isFalse(store.isTrusted(two, print))
  })
})
