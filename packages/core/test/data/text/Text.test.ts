import { assert, describe, it } from "@effect/vitest"
import { cutMiddle } from "../../../src/data/text/Text.ts"

describe("cutMiddle", () => {
  it("leaves a text that is short enough as it is", () => assert.strictEqual(cutMiddle("hello", 5), "hello"))

  it("keeps the beginning and the end, says how much is missing, and is never longer than asked", () => {
    const text = `${"a".repeat(500)}${"b".repeat(500)}`
    const cut = cutMiddle(text, 200)
    assert.isAtMost(cut.length, 200)
    assert.match(cut, /^a+\n\[cut: 800 characters or more\]\nb+$/)
  })

  it("omits the note when there is no room for it", () => {
    assert.strictEqual(cutMiddle("a".repeat(100), 20), "a".repeat(20))
  })

  it("never cuts a character in half, however long the text may be", () => {
    const text = "😀".repeat(300)
    for (let max = 0; max < 200; max++) {
      const cut = cutMiddle(text, max)
      assert.isTrue(cut.isWellFormed(), `max ${max}`)
      assert.isAtMost(cut.length, max)
    }
  })
})
