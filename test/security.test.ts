import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const rows = [...readFileSync("SECURITY.md", "utf8").matchAll(/^\| ([^|]+) \| \[([^\]]+)\]\(([^)]+)\) \|$/gm)].map((
  [, promise = "", title = "", test = ""]
) => ({ promise, title, test }))

describe("the promises of SECURITY.md", () => {
  it("are at least fifteen", () => assert.isAtLeast(rows.length, 15))

  it.each(rows)("have a test that exists: $promise", ({ test, title }) => {
    assert.isTrue(existsSync(test), test)
    assert.include(readFileSync(test, "utf8"), title)
  })
})
