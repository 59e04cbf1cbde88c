/** Which parts of a file the trust in it is about: if one of them changes, the user is asked again. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { builtIn } from "@belay/hook-files/Systems"
import { assert, describe, it } from "vitest"

const parts: ReadonlyArray<readonly [dialect: Dialect, ...keys: ReadonlyArray<string>]> = [
  ["basecoat", "version", "hooks"],
  ["copilot", "version", "hooks", "disableAllHooks"],
  ["cursor", "version", "hooks"],
  ["factory", "hooks", "hooksDisabled", "PreToolUse", "Stop"],
  ["gemini", "hooks", "hooksConfig"],
  ["windsurf", "hooks"]
]

describe("the trust in a file", () => {
  it.each(parts)("of %s is about these parts, and about no others", (dialect, ...keys) => {
    const system = builtIn.find((one) => one.dialect === dialect)!
    const about = (value: object) => JSON.stringify(system.about({ text: JSON.stringify(value) } as never))
    const file = Object.fromEntries(keys.map((key) => [key, { a: 1 }]))
    assert.strictEqual(about({ ...file, other: 2 }), about(file))
    for (const key of keys) {
      assert.notStrictEqual(about({ ...file, [key]: { a: 2 } }), about(file), key)
      assert.notStrictEqual(about({ ...file, [key]: undefined }), about(file), key)
    }
  })
})
