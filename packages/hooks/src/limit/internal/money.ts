/**
 * US dollars as whole numbers of pico-dollars (10^-12 dollars), so that sums are exact. A price is read as the decimal
 * number that was written.
 */

/** A price in units of 10^-36 dollars, so that no digit of a very small price is lost. */
export type Price36 = bigint

const decimals = 36

const unitsPerPico = 10n ** BigInt(decimals - 12)

/** Reads a number of dollars by its shortest decimal text: 0.1 is exactly a tenth. */
export const exactPrice = (usd: number): Price36 => {
  const [mantissa, exponent = "0"] = String(usd).split("e")
  const [integer, fraction = ""] = mantissa!.split(".")
  const shift = decimals - fraction.length + Number(exponent)
  const digits = BigInt(integer! + fraction)
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
}

/** Rounds a price to pico-dollars. */
export const roundToPico = (amount: Price36): bigint => (amount + unitsPerPico / 2n) / unitsPerPico

/** A price in pico-dollars if that is a whole number; `NaN` otherwise. */
export const wholePico = (price: Price36): number =>
  price % unitsPerPico === 0n ? Number(price / unitsPerPico) : Number.NaN

/** Converts dollars to pico-dollars, rounded. */
export const toPico = (usd: number): bigint => roundToPico(exactPrice(usd))

/** Converts pico-dollars to the nearest number of dollars. */
export const toDollars = (pico: bigint): number => Number(decimalText(pico))

/** Formats pico-dollars such as `$4.20`: with two decimals, or more where they are not zero. */
export const formatDollars = (pico: bigint): string => {
  const [integer, fraction] = decimalText(pico).split(".")
  return `$${integer}.${fraction!.replace(/0+$/, "").padEnd(2, "0")}`
}

const decimalText = (pico: bigint): string => {
  const digits = String(pico).padStart(13, "0")
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`
}
