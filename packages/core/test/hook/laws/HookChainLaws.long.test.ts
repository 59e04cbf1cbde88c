/** The laws of the hook chain on a big sample. HookChainLaws.test.ts checks them on a small one. */
import { describe, it } from "@effect/vitest"
import { points } from "../events.ts"
import { anyChains, hangingChains, syncChains } from "./cases.ts"
import { agrees } from "./chainLaws.ts"

const long = { timeout: 300_000 }

describe("the hook chain", () => {
  // rows, U-03, U-04
  it.effect(
    "agrees with the reference when every hook answers synchronously",
    () => agrees(syncChains(points), 80_000),
    long
  )

  it.effect("agrees with the reference when hooks answer in any way", () => agrees(anyChains(points), 40_000), long)

  // rows: DEC-35
  it.effect(
    "agrees with the reference when hooks hang, and late answers have no effect",
    () => agrees(hangingChains(points), 4000),
    long
  )
})
