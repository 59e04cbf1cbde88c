import { assert, describe, it } from "@effect/vitest"
import { messageOf, oneLine } from "../../../src/data/text/ErrorMessage.ts"

describe("messageOf", () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  const hostile = Object.defineProperty(new Error("x"), "message", { get: () => assert.fail("read") })
  const cases: ReadonlyArray<readonly [what: string, error: unknown, message: string]> = [
    ["an error", new Error("disk full"), "disk full"],
    ["an error without a message", new TypeError(), "TypeError"],
    ["text", "disk full", "disk full"],
    ["an object", { code: 7 }, `{"code":7}`],
    ["undefined", undefined, "undefined"],
    ["a number", 7, "7"],
    ["a cycle", circular, "an error that cannot be described"],
    ["an error whose message throws", hostile, "an error that cannot be described"]
  ]
  for (const [what, error, message] of cases) {
    it(`reads ${what}`, () => assert.strictEqual(messageOf(error), message))
  }
})

describe("oneLine", () => {
  it("turns line breaks into spaces, and control characters into question marks", () => {
    assert.strictEqual(oneLine("a\r\nb\tc\u2028d"), "a b c d")
    assert.strictEqual(oneLine("a\u001b[2Jb\u202e"), "a?[2Jb?")
  })

  it("keeps a text well-formed", () => assert.strictEqual(oneLine("a\ud800"), "a\ufffd"))
})
