/** Objects of unknown JSON. */
import { assert, describe, it } from "vitest"
import { isFields } from "../../src/internal/fields.ts"

describe("an object with fields", () => {
  it("is neither a list nor empty nor another value", () => {
    assert.isTrue(isFields({}))
    assert.isTrue(isFields({ a: 1 }))
    for (const value of [null, undefined, [], [{}], "a", 1, true]) assert.isFalse(isFields(value))
  })
})
