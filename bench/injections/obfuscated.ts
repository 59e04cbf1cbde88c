/** The ways in which authors of injections hide what they write. */
const ways = {
  spaced: (text: string) => text.split(" ").map((word) => [...word].join(" ")).join("   "),
  dashed: (text: string) => text.split(" ").map((word) => [...word].join("-")).join(" "),
  zeroWidth: (text: string) => [...text].join("\u200b"),
  base64: (text: string) => Buffer.from(text).toString("base64"),
  homoglyphs: (text: string) => text.replaceAll(/[aeopc]/g, (letter) => lookalikes[letter] ?? letter),
  leet: (text: string) => text.replaceAll(/[aeios]/g, (letter) => digits[letter] ?? letter)
} as const

const lookalikes: Record<string, string> = { a: "\u0430", e: "\u0435", o: "\u043e", p: "\u0440", c: "\u0441" }
const digits: Record<string, string> = { a: "4", e: "3", i: "1", o: "0", s: "5" }

/** Returns a text hidden in each of some ways. */
export const obfuscated = (text: string, names: ReadonlyArray<keyof typeof ways>): ReadonlyArray<string> =>
  names.map((name) => ways[name](text))
