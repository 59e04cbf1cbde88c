/** Which characters count as invisible. */
import { assert, describe, it } from "vitest"
import { withoutHidden } from "../../src/skill/internal/hidden.ts"

/** The first and the last of each group, with one in between. */
const groups: ReadonlyArray<readonly [name: string, codes: ReadonlyArray<number>]> = [
  ["control characters", [0x00, 0x08, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f, 0x7f, 0x85, 0x9f]],
  ["fillers", [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0]],
  ["Mongolian selectors", [0x180b, 0x180d, 0x180e, 0x180f]],
  ["zero-width characters", [0x200b, 0x200c, 0x200d, 0x2060, 0x2064, 0xfeff]],
  ["marks of direction", [0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0x206a, 0x206f]],
  ["selectors of variants", [0xfe00, 0xfe0f, 0xe0100, 0xe01ef]],
  ["annotations and notes", [0xfff9, 0xfffb, 0x1d173, 0x1d17a]],
  ["tags", [0xe0000, 0xe0001, 0xe0041, 0xe007f, 0xe0fff]]
]

describe("withoutHidden", () => {
  it.each(groups)("removes %s", (_name, codes) => {
    for (const code of codes) {
      assert.strictEqual(withoutHidden(`a${String.fromCodePoint(code)}b`), "ab", code.toString(16))
    }
  })

  it("keeps line ends, letters of all scripts, and what emoji are made of", () => {
    const text = "a\tb\r\nc é 漢字 العربية हिन्दी 👩🏽‍💻 ❤️"
    assert.strictEqual(withoutHidden(text), text)
  })
})
