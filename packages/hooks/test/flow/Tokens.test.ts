/** The tokens of results that are remembered for questions. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import { eachTellingToken, tokensOf } from "../../src/flow/internal/text/words.ts"

const found = (text: string): ReadonlyArray<string> => {
  const tokens: Array<string> = []
  eachTellingToken(text, (token) => tokens.push(token) > 0)
  return tokens
}

const expected = (text: string): ReadonlyArray<string> => tokensOf(text).filter((token) => /[\d@/.:_-]/.test(token))

describe("the tokens that questions need", () => {
  it("are separated by the same characters as all tokens", () => {
    for (let code = 0; code < 0x10000; code++) {
      const sign = String.fromCharCode(code)
      const text = `1${sign}2 a${sign}b`
      if (found(text).join("\0") !== expected(text).join("\0")) assert.fail(`U+${code.toString(16)}`)
    }
  })

  it("are those with a digit or a sign of an address, in their order", () => {
    const { below, pick } = random(7)
    for (let n = 0; n < 5_000; n++) {
      const text = Array.from({ length: below(20) }, () => pick([..."aZ09._-@/: ,;()\"'<>[]|{}\n\tüß“"])).join("")
      assert.deepEqual(found(text), expected(text), JSON.stringify(text))
    }
  })

  it("end when the reader has enough", () => {
    const tokens: Array<string> = []
    eachTellingToken("a1 b2 c3", (token) => tokens.push(token) < 2)
    assert.deepEqual(tokens, ["a1", "b2"])
  })
})
