import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { commentsOf, type Finding, longCells, phrasesIn, proseOf, titlesOf } from "./words.ts"

const read = (path: string): string => readFileSync(path, "utf8")
const pages = globSync(["*.md", "docs/**/*.md", "packages/*/*.md"]).sort()
const sources = globSync(["packages/*/src/**/*.ts", "bench/*.ts"]).sort()
const tests = globSync(["packages/*/test/**/*.ts", "test/*.ts"]).filter((path) => !/(^|\/)test\/words\./.test(path))
  .sort()

const found = (paths: ReadonlyArray<string>, prose: (text: string) => string): string =>
  paths.flatMap((path) =>
    phrasesIn(prose(read(path))).map(({ instead, line, text }: Finding) => `${path}:${line}: ${text} (${instead})`)
  ).join("\n")

describe("the text of the project", () => {
  it("has no phrase in its pages that must be read twice", () => assert.strictEqual(found(pages, proseOf), ""))

  it("has none in the comments of its sources", () => assert.strictEqual(found(sources, commentsOf), ""))

  it("has none in the comments and titles of its tests", () => {
    assert.strictEqual(found(tests, commentsOf), "")
    assert.strictEqual(found(tests, titlesOf), "")
  })

  it("has no code of a row in the title of a test", () => {
    const coded = tests.flatMap((path) =>
      titlesOf(read(path)).split("\n").flatMap((title, index) =>
        /\b(?:[A-EU]-\d\d|DEC-\d+|S\d+)\b/.test(title) ? [`${path}:${index + 1}: ${title}`] : []
      )
    )
    assert.deepEqual(coded, [])
  })

  it("has tables whose cells have at most 22 words", () => {
    const long = pages.flatMap((path) => longCells(read(path), 22).map((cell) => `${path}: ${cell}`))
    assert.deepEqual(long, [])
  })

  it("is searched as it is written: prose, comments and titles, but not code", () => {
    assert.deepEqual(phrasesIn("It is no list.\nThere is no list.").map(({ line }) => line), [1])
    assert.lengthOf(phrasesIn(proseOf("```ts\n// besides\n```\nbesides `besides`\n")), 1)
    const source =
      `/** Goes on with it. */\nconst besides = "besides"\n// besides\n/**\n * \`\`\`ts\n * besides\n * \`\`\`\n */`
    assert.deepEqual(phrasesIn(commentsOf(source)).map(({ line }) => line), [1, 3])
    assert.strictEqual(titlesOf(`  it("is told twice", () => {})`), "is told twice")
    assert.deepEqual(longCells("| a | one two three |\n| --- | --- |\n| [one](x y z) | `a b c d` |", 2), [
      "one two three"
    ])
  })
})
