import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../../../src/data/text/NamePattern.ts"

describe("nearest", () => {
  const points = ["preToolCall", "postToolCall", "preTurn", "Stop"]

  it("finds the known name for a misspelt one, ignoring case and punctuation", () => {
    for (const name of ["pre_tool_call", "preToolcal", "PRE-TOOL-CALL", "preTolCall"]) {
      assert.strictEqual(nearest(name, points), "preToolCall", name)
    }
    assert.strictEqual(nearest("post_tol_call", points), "postToolCall")
    assert.strictEqual(nearest("Stopp", points), "Stop")
    assert.strictEqual(nearest("tSop", points), "Stop")
  })

  it("finds nothing for a name that is too different, empty or very long", () => {
    for (const name of ["", "deploy", "xy", "S", "preToolCall".repeat(100)]) {
      assert.isUndefined(nearest(name, points), name)
    }
    assert.isUndefined(nearest("x", []))
    assert.isUndefined(nearest("ab", ["cd", "x".repeat(10_000)]))
  })
})
