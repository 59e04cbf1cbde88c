/** Texts that were written so that a search does not find them, as they are read. */

/** Letters with the shape of a Latin one. */
const shapes = Array.from(
  "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501" +
    "\u03bf\u03b1\u03b5\u03b9\u03ba\u03bd\u03c1\u03c4\u03c5"
)
const lookalikes: ReadonlyMap<string, string> = new Map(
  shapes.map((from, index) => [from, "aeopcyxijsdoaeikvptu".charAt(index)])
)
const digits: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", $: "s", "@": "a" }

const spaced = /(?<![\p{L}\d])\p{L}(?:[ .*_-]\p{L}(?!\p{L})){2,40}/gu
const mixed = /(?=[\p{L}]{0,40}[a-z])(?=[\p{L}]{0,40}[\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}]{2,40}/giu
const leet = /(?<![\w@$])(?=[\w@$]{0,30}[a-z])(?=[\w@$]{0,30}[013457@$])[\w@$]{2,30}/giu

/** Letters of which some look like Latin ones. */
const foreign = /[\p{Script=Cyrillic}\p{Script=Greek}]/u

/** Returns other readings of a text: without separated letters, lookalikes, and digits for letters. */
export const unmasked = (text: string): ReadonlyArray<string> => {
  const joined = text.replaceAll(spaced, (word) => word.replaceAll(/[ .*_-]/g, ""))
  const latin = !foreign.test(joined)
    ? joined
    : joined.replaceAll(mixed, (word) => Array.from(word, (one) => lookalikes.get(one) ?? one).join(""))
  const plain = latin.replaceAll(leet, (word) => word.replaceAll(/[013457$@]/g, (one) => digits[one] ?? one))
  return plain === text ? [] : [plain.replaceAll(/[^\S\n]+/g, " ")]
}
