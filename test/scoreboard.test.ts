import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { page, read, render, type Row } from "./scoreboard.ts"

describe("the page of the scoreboard", () => {
  const text = readFileSync(page, "utf8")
  const rows = read(text)

  it("has no failures, and only tests that exist", () => {
    assert.isAbove(rows.length, 10)
    for (const { failed, test, tried, what } of rows) {
      assert.strictEqual(failed, 0, what)
      assert.isAbove(tried, 0, what)
      assert.isTrue(existsSync(test), test)
    }
  })

  it("is as the scoreboard writes it", () => assert.strictEqual(render(rows, text), text))

  it("can be read back with failures", () => {
    const row: Row = { what: "locks × keys", tried: 12_345, failed: 2, test: "test/scoreboard.test.ts" }
    assert.deepStrictEqual(read(render([row])), [row])
  })
})
