import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../../src/data/NamePattern.ts"

describe("nearest", () => {
  const points = ["preToolCall", "postToolCall", "preTurn", "Stop"]

  it("knows what a misspelt name is meant to be, whatever its case and its signs", () => {
    for (const name of ["pre_tool_call", "preToolcal", "PRE-TOOL-CALL", "preTolCall"]) {
      assert.strictEqual(nearest(name, points), "preToolCall", name)
    }
    assert.strictEqual(nearest("post_tol_call", points), "postToolCall")
    assert.strictEqual(nearest("Stopp", points), "Stop")
    assert.strictEqual(nearest("tSop", points), "Stop")
  })

  it("knows nothing of what is far from all of them, empty or endless", () => {
    for (const name of ["", "deploy", "xy", "S", "preToolCall".repeat(100)]) {
      assert.isUndefined(nearest(name, points), name)
    }
    assert.isUndefined(nearest("x", []))
    assert.isUndefined(nearest("ab", ["cd", "x".repeat(10_000)]))
  })
})
