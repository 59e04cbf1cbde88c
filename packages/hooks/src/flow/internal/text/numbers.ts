/** Numbers and dates as people write them. */

const small = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
  "thirteen",
  "fourteen",
  "fifteen",
  "sixteen",
  "seventeen",
  "eighteen",
  "nineteen"
]
const tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
const named = new Map<string, number>([
  ...small.map((word, index) => [word, index] as const),
  ...tens.map((word, index) => [word, (index + 2) * 10] as const),
  ["dozen", 12],
  ["hundred", 100],
  ["thousand", 1000]
])

/** Every way to read a token as a number: `1,284.00`, `1.284,00`, `€45`, `45%`, `3k`. */
export const numbersIn = (token: string): ReadonlyArray<number> => {
  const digits = /^\D{0,4}?(-?\d[\d.,' ]{0,20}?)(k|m)?[^\d.,]{0,4}[.,]?$/i.exec(token)
  if (digits === null) return []
  const text = digits[1]!.replace(/[' ]/g, "").replace(/[.,]$/, "")
  const factor = digits[2] === undefined ? 1 : /k/i.test(digits[2]) ? 1_000 : 1_000_000
  const english = Number(text.replaceAll(",", ""))
  const continental = Number(text.replaceAll(".", "").replace(",", "."))
  return [...new Set([english, continental].filter(Number.isFinite).map((one) => one * factor))]
}

/**
 * The numbers that a list of words spells: `twenty`, `five` is 20, 5 and 25; `one`, `hundred`, `and`, `eighty` is 180
 * and its parts.
 */
export const spelled = (words: ReadonlyArray<string>): ReadonlyArray<number> => {
  const found: Array<number> = []
  let thousands = 0
  let rest = 0
  const end = () => {
    if (thousands + rest > 0) found.push(thousands + rest)
    thousands = 0
    rest = 0
  }
  for (const [index, word] of words.entries()) {
    const value = named.get(word)
    if (value === undefined) {
      if (!(word === "and" && (rest >= 100 || thousands > 0) && named.has(words[index + 1] ?? ""))) end()
      continue
    }
    found.push(value)
    if (value === 1_000 && thousands === 0) {
      thousands = (rest === 0 ? 1 : rest) * 1_000
      rest = 0
    } else if (value === 100 && rest < 100) rest = (rest === 0 ? 1 : rest) * 100
    else {
      const isNext = rest % 100 === 0 ? value < 100 : rest % 10 === 0 && rest % 100 >= 20 && value < 10 && value > 0
      if (!isNext) end()
      rest += value
    }
  }
  end()
  return found
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const monthOf = (word: string): number => word.length < 3 ? 0 : months.indexOf(word.slice(0, 3)) + 1

/** The days that a text names, as `12-04` and, with a year, `2026-12-04`. */
export const daysIn = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const [index, word] of words.entries()) {
    const month = monthOf(word)
    if (month > 0) {
      const day = [words[index - 1], words[index + 1], words[index - 2]].map(dayOf).find((one) => one > 0)
      if (day !== undefined) found.push(dayText(month, day))
    }
    const [year, second, third] = [word, words[index + 1] ?? "", words[index + 2] ?? ""]
    if (/^\d{4}$/.test(year) && /^\d\d$/.test(second) && /^\d\d$/.test(third)) {
      found.push(`${year}-${second}-${third}`, `${second}-${third}`)
    }
    if (/^\d{1,2}$/.test(year) && /^\d{1,2}$/.test(second) && /^\d{4}$/.test(third)) {
      found.push(dayText(Number(second), Number(year)), dayText(Number(year), Number(second)))
    }
  }
  return found
}

const dayOf = (word: string | undefined): number => Number(/^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word ?? "")?.[1] ?? 0)

const dayText = (month: number, day: number): string =>
  `${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`

/** The day of a value such as `2026-12-04` or `2026-12-04T10:00`. */
export const dayOfValue = (value: string): { readonly day: string; readonly date: string } | undefined => {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]|$)/.exec(value)
  return match === null ? undefined : { day: `${match[2]}-${match[3]}`, date: `${match[1]}-${match[2]}-${match[3]}` }
}

/** Whether a value is nothing but a date or a time. */
export const isMoment = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$|^\d{1,2}:\d\d(?::\d\d)?$/.test(
    value.trim()
  )
