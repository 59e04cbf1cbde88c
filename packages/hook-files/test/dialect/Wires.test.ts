/** What Belay reads from each system and writes to it, to the letter: guards in their programs are made from it. */
import { all } from "@belay/hook-files/Wires"
import { describe, expect, it } from "vitest"

describe("the format of a system", () => {
  it.each(all)("$system is exactly this", async (wire) => {
    // JSON has no patterns.
    const text = JSON.stringify(wire, (_, value: unknown) => value instanceof RegExp ? String(value) : value, 2)
    await expect(`${text}\n`).toMatchFileSnapshot(`./wires/${wire.system}.txt`)
  })
})
