/** What functions say about arguments of the wrong type, to the letter. */
import * as all from "@belay/hook-files"
import { assert, describe, expect, it } from "vitest"

describe("the functions of hook files", () => {
  it("name their arguments when these are wrong", async () => {
    const lines: Array<string> = []
    for (const [module, members] of Object.entries(all)) {
      for (const [name, member] of Object.entries(members)) {
        if (typeof member !== "function") continue
        try {
          await (member as (...args: ReadonlyArray<unknown>) => unknown)(null, null, null, null)
        } catch (error) {
          const text = String(Object(error).message)
          if (text.startsWith(`${module}.${name}: it cannot`)) lines.push(text)
        }
      }
    }
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./support/wrongArguments.txt")
  })

  it("name an option that does not exist, and the hook", () => {
    const { BaseCoat, ClaudeCode, Codex, Copilot, Cursor, Factory, Gemini, Kodelet, Windsurf } = all
    const named = { BaseCoat, ClaudeCode, Codex, Copilot, Cursor, Factory, Gemini, Kodelet, Windsurf }
    const said = Object.values(named).map(({ make }) => {
      try {
        make({ handlers: [], projectDir: "/srv/app", nope: 1 } as never)
        return "nothing"
      } catch (error) {
        return String(Object(error).message).replace(/;.*/, "")
      }
    })
    const keys = [
      "basecoat",
      "claude-code",
      "codex",
      "copilot",
      "cursor",
      "factory",
      "gemini-hooks",
      "kodelet",
      "windsurf"
    ]
    assert.deepEqual(said, keys.map((key) => `${key}.nope: there is no option "nope"`))
  })
})
