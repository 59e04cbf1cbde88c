/** Ranks tools by the words of a query, with BM25 over their names, descriptions and arguments. */

/** A tool that can be found. */
export interface Findable {
  readonly name: string
  readonly description: string
  /** The names and descriptions of its arguments. */
  readonly arguments: string
}

/** Finds tools. */
export interface Index {
  /** Returns the positions of the tools that fit, best first. */
  readonly search: (query: string) => ReadonlyArray<number>
}

/** How much a word counts in each field. */
const weights = [["name", 3], ["description", 1], ["arguments", 0.4]] as const

/** The usual parameters of BM25. */
const k1 = 1.2
const b = 0.75

/** The most words of a query, and of a field, that count. */
const maxQueryWords = 32
const maxFieldWords = 400

/** Makes an index. Its cost grows with the length of the descriptions. */
export const makeIndex = (tools: ReadonlyArray<Findable>): Index => {
  /** For each word, the tools with it and how much it counts there. */
  const postings = new Map<string, Map<number, number>>()
  const lengths = tools.map((tool, at) => {
    let length = 0
    for (const [field, weight] of weights) {
      for (const word of wordsOf(tool[field], maxFieldWords)) {
        length += weight
        const found = postings.get(word) ?? new Map<number, number>()
        postings.set(word, found)
        found.set(at, (found.get(at) ?? 0) + weight)
      }
    }
    return length
  })
  const average = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, tools.length))
  const places = new Map(tools.map(({ name }, at) => [name.toLowerCase(), at]))
  return {
    search: (query) => {
      const scores = new Map<number, number>()
      for (const word of new Set(wordsOf(query, maxQueryWords))) {
        for (const [at, count] of postings.get(word) ?? []) {
          const rarity = Math.log(
            1 + (tools.length - postings.get(word)!.size + 0.5) / (postings.get(word)!.size + 0.5)
          )
          const share = (count * (k1 + 1)) / (count + k1 * (1 - b + b * lengths[at]! / average))
          scores.set(at, (scores.get(at) ?? 0) + rarity * share)
        }
      }
      // Whoever writes the whole name of a tool means it.
      for (const one of query.toLowerCase().split(/[\s,;"'`]+/)) {
        const at = places.get(one)
        if (at !== undefined) scores.set(at, (scores.get(at) ?? 0) + 1_000)
      }
      return [...scores].sort(([one, a], [other, z]) => z - a || one - other).map(([at]) => at)
    }
  }
}

/** The words of a text: also those of `createIssue` and `create_issue`, without their endings. */
const wordsOf = (text: string, most: number): ReadonlyArray<string> =>
  text.slice(0, 20_000).replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu)?.slice(
    0,
    most
  ).filter((word) => !common.has(word)).map(stem) ?? []

const common: ReadonlySet<string> = new Set(
  ("a an and are as at be by can do for from how i in into is it my of on or that the this to tool tools use want " +
    "what when which with you your").split(" ")
)

const stem = (word: string): string => {
  if (word.length <= 3) return word
  const short = word.replace(/(?:ies|ied)$/, "y").replace(/(?:ing|ed|es|s)$/, "")
  return (short.length < 3 ? word : short).replace(/e$/, "").replace(/([^aeiou\d])\1$/, "$1")
}
