/** What functions say about arguments of the wrong type, to the letter. */
import * as all from "@belay/server"
import { describe, expect, it } from "vitest"

describe("the functions of the server", () => {
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
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../support/wrongArguments.txt")
  })
})
