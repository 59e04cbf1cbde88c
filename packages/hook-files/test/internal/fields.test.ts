/** JSON whose fields are read one by one. */
import { assert, describe, it } from "vitest"
import { editsOf } from "../../src/dialect/shared/fileEdits.ts"
import { isFields, objectOf } from "../../src/internal/fields.ts"

const others = [null, [], [{}], "a", 1, true]

describe("an object with fields", () => {
  it("is neither a list nor empty nor another value, which counts as an object without fields", () => {
    const one = { a: 1 }
    assert.isTrue(isFields(one))
    assert.strictEqual(objectOf(one), one)
    for (const value of [...others, undefined]) {
      assert.isFalse(isFields(value))
      assert.deepStrictEqual(objectOf(value), {})
    }
  })

  it("can be the change of a file; other values change nothing", () => {
    const none = { old_string: "", new_string: "" }
    const one = { old_string: "a", new_string: "b" }
    assert.deepStrictEqual(editsOf({ name: "MultiEdit", input: { edits: [one, { old_string: 1 }, ...others] } }), [
      one,
      none,
      ...others.map(() => none)
    ])
    assert.deepStrictEqual(editsOf({ name: "Edit", input: one }), [one])
    assert.deepStrictEqual(editsOf({ name: "Write", input: { content: "x", ...one } }), [
      { old_string: "", new_string: "x" }
    ])
  })
})
