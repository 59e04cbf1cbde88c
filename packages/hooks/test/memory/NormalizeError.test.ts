/** `ErrorKnowledge.normalizeError`: two occurrences of one failure become the same text. */
import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { cpuMs } from "../../../../test/support/cpu.ts"

const cases: ReadonlyArray<readonly [what: string, error: string, normalized: string]> = [
  ["a path", "cannot open /tmp/a1.log: code 13", "cannot open <path>: code <n>"],
  ["a path of Windows", "cannot open C:\\Users\\ada\\a.log", "cannot open <path>"],
  ["a relative path", "no such file: ./src/a.ts", "no such file: <path>"],
  ["quoted names", "unknown key \"a\", `b` or 'c'", "unknown key <quoted>, <quoted> or <quoted>"],
  ["a UUID", "job 0F8FAD5B-D9CB-469F-A165-70867728950E failed", "job <uuid> failed"],
  ["hexadecimal numbers", "at 0x7ffe in commit 1f85538c", "at <hex> in commit <hex>"],
  ["numbers and times", "took 1,204.5 ms at 12:30:01", "took <n> ms at <n>"],
  ["white space", "  first\n\tsecond  ", "first second"],
  ["an apostrophe inside of words", "can't and won't", "can't and won't"]
]

describe("ErrorKnowledge.normalizeError", () => {
  it.each(cases)(
    "normalizes %s",
    (_what, error, normalized) => assert.strictEqual(ErrorKnowledge.normalizeError(error), normalized)
  )

  it("gives two occurrences of one failure the same text", () =>
    assert.strictEqual(
      ErrorKnowledge.normalizeError("ENOENT: no such file, open '/tmp/run-1/a.txt' (attempt 1)"),
      ErrorKnowledge.normalizeError("ENOENT: no such file, open '/tmp/run-27/b.txt' (attempt 12)")
    ))

  it("returns different texts for different failures", () =>
    assert.notStrictEqual(
      ErrorKnowledge.normalizeError("permission denied: /tmp/a"),
      ErrorKnowledge.normalizeError("no such file: /tmp/a")
    ))

  it.prop("returns one line of at most 300 characters for any text", [Schema.String], ([error]) => {
    const normalized = ErrorKnowledge.normalizeError(error.repeat(50))
    assert.isAtMost(normalized.length, 300)
    assert.notMatch(normalized, /[\r\n]/)
    assert.isTrue(normalized.isWellFormed())
  })

  it("takes linear time for a long text", () => {
    const began = cpuMs()
    for (const unit of ["/a", "\"", "'", "`a", "0x", "a1", "1.", "C:\\", " "]) {
      ErrorKnowledge.normalizeError(unit.repeat(500_000))
    }
    assert.isBelow(cpuMs() - began, 2_000)
  })
})
