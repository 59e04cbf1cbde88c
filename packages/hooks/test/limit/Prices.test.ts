/** The cost of calls is exact, whether or not prices are whole numbers of pico-dollars. */
import { random } from "@belay/testing/SeededRandom"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import { compilePrices, costOf } from "../../src/limit/internal/prices.ts"

/** Dollars for a token, with the digits and the number of decimals from which they were made. */
const priceFrom = ({ below }: ReturnType<typeof random>) => {
  const digits = below(10_000)
  const decimals = 4 + below(16)
  return { digits: BigInt(digits), decimals, usd: Number(`${digits}e-${decimals}`) }
}

describe("the cost of a call", () => {
  it("is the sum of its tokens times their prices, rounded to pico-dollars", () => {
    for (let seed = 0; seed < 2_000; seed++) {
      const source = random(seed)
      const [input, cached, written, output] = [0, 1, 2, 3].map(() => priceFrom(source))
      const most = 10 ** (1 + source.below(10))
      const [inputTokens, outputTokens] = [source.below(most), source.below(most)]
      const cachedTokens = source.below(inputTokens + 1)
      const cacheWriteTokens = source.below(inputTokens - cachedTokens + 1)
      const { priceOf } = Result.getOrThrow(compilePrices({
        prices: {
          m: {
            costPerInputToken: input!.usd,
            costPerOutputToken: output!.usd,
            costPerCachedToken: cached!.usd,
            costPerCacheWriteToken: written!.usd
          }
        }
      }, "test"))
      const cost = costOf({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens }, priceOf(["m"]))
      const parts = [
        [input!, inputTokens - cachedTokens - cacheWriteTokens],
        [cached!, cachedTokens],
        [written!, cacheWriteTokens],
        [output!, outputTokens]
      ] as const
      const unit = 10n ** 12n
      const exact = parts.reduce(
        (sum, [{ decimals, digits }, tokens]) => sum + digits * BigInt(tokens) * 10n ** BigInt(24 - decimals),
        0n
      )
      assert.strictEqual(cost, (exact + unit / 2n) / unit, `seed ${seed}`)
    }
  })
})
