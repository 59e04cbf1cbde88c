/**
 * US dollars as whole numbers of pico-dollars: sums are exact. Prices are read as the decimals they were written as.
 */

/** A price in units of ten to the minus 36 dollars: enough for every digit of a price far below a pico-dollar. */
export type Exact = bigint

const decimals = 36

const perPico = 10n ** BigInt(decimals - 12)

/** Reads a number of dollars by its shortest decimal text: 0.1 is exactly a tenth. */
export const exact = (usd: number): Exact => {
  const [mantissa, exponent = "0"] = String(usd).split("e")
  const [whole, fraction = ""] = mantissa!.split(".")
  const shift = decimals - fraction.length + Number(exponent)
  const digits = BigInt(whole! + fraction)
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
}

/** Rounds to whole pico-dollars. */
export const rounded = (amount: Exact): bigint => (amount + perPico / 2n) / perPico

/** A number of dollars, rounded to the pico-dollar. */
export const pico = (usd: number): bigint => rounded(exact(usd))

/** The number of dollars that is nearest. */
export const dollars = (amount: bigint): number => Number(decimal(amount))

/** For people: all decimals that count, two at least. */
export const show = (amount: bigint): string => {
  const [whole, fraction] = decimal(amount).split(".")
  return `$${whole}.${fraction!.replace(/0+$/, "").padEnd(2, "0")}`
}

const decimal = (amount: bigint): string => {
  const digits = String(amount).padStart(13, "0")
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}
