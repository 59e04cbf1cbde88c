/** Which texts are not searched again. */
import { assert, describe, it } from "vitest"
import { CleanTexts } from "../../../src/guardrail/internal/cleanTexts.ts"

describe("texts in which nothing was found", () => {
  it("are known again, and of the long ones the last, also after shorter ones", () => {
    const texts = new CleanTexts()
    const [first, second] = ["a".repeat(60_000), "b".repeat(60_000)]
    const usual = "c".repeat(100)
    texts.add(first)
    texts.add(usual)
    assert.deepStrictEqual([first, second, usual].map((text) => texts.has(text)), [true, false, true])
    texts.add(second)
    assert.deepStrictEqual([first, second, usual].map((text) => texts.has(text)), [false, true, true])
  })

  it("are too many at some time: the oldest are searched again", () => {
    const texts = new CleanTexts()
    const all = Array.from({ length: 50 }, (_, index) => String(index).padStart(2, "0").repeat(25_000))
    for (const text of all) texts.add(text)
    assert.deepStrictEqual(all.map((text) => texts.has(text)), all.map((_, index) => index >= 10))
  })
})
