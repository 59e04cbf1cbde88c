/**
 * Writes the page with what is promised, row by row, and the tests that show it. A test shows a row when the line above
 * it is a tag such as `// rows: B-13, C-34`.
 */
import { globSync, readFileSync } from "node:fs"

/** The systems whose pages have a table of differences. */
const systems = ["claude-code", "codex", "copilot", "gemini", "cursor", "windsurf", "factory", "kodelet", "base-coat"]

interface Rows {
  /** The page `docs/rows.md`. */
  readonly text: string
  /** What keeps the page from being right, for people. */
  readonly problems: ReadonlyArray<string>
  /** The rows that no test shows. */
  readonly open: ReadonlyArray<string>
}

/** The number of tagged tests by row and file. */
const taggedTests = (problems: Array<string>): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const tests = new Map<string, Map<string, number>>()
  for (const file of globSync("packages/*/test/**/*.test.ts").map((name) => name.replaceAll("\\", "/")).sort()) {
    for (const [line, list] of readFileSync(file, "utf8").matchAll(/^[ \t]*\/\/ rows:(.*)$/gm)) {
      const ids = list!.trim().split(/, */)
      if (ids.some((id) => !/^(?:[A-E]|U|DEC)-\d\d$/.test(id))) problems.push(`${file}: not a tag: ${line.trim()}`)
      for (const id of ids) {
        const counts = tests.get(id) ?? new Map<string, number>()
        tests.set(id, counts.set(file, (counts.get(file) ?? 0) + 1))
      }
    }
  }
  return tests
}

/** The tables of differences on the pages of the systems, as one. */
const differences = (problems: Array<string>): ReadonlyArray<string> =>
  systems.flatMap((name) => {
    const page = readFileSync(`docs/${name}.md`, "utf8")
    const [, part = ""] = /^## What differs\n([\s\S]*?)(?:^## |$(?![\s\S]))/m.exec(page) ?? []
    const [, title = ""] = /^\| in (.*?) \|/m.exec(part) ?? []
    const rows = part.split("\n").filter((line) => line.startsWith("| ")).slice(2)
    if (rows.length === 0) problems.push(`docs/${name}.md has no table below "What differs"`)
    return rows.map((row) => `| [${title}](${name}.md) ${row}`)
  })

export const rows = (): Rows => {
  const problems: Array<string> = []
  const tests = taggedTests(problems)
  const known = new Set<string>()
  const lines = readFileSync("scripts/rows.txt", "utf8").trim().split("\n").flatMap((line) => {
    if (line.startsWith("# ")) {
      return ["", `## ${line.slice(2)}`, "", "| row | what it says | tests |", "| --- | --- | --- |"]
    }
    const [, id, text] = /^(\S+) (.*)$/.exec(line)!
    known.add(id!)
    const links = [...tests.get(id!) ?? []].map(([file, count]) =>
      `[${file.split("/").at(-1)!.replace(".test.ts", "")}](../${file})${count > 1 ? ` (${count})` : ""}`
    )
    return [`| ${id} | ${text} | ${links.join(", ") || "none"} |`]
  })
  problems.push(...[...tests.keys()].filter((id) => !known.has(id)).map((id) => `${id} is not in scripts/rows.txt`))
  const text = [
    "# What runs as it does elsewhere, row by row",
    "",
    "Each row is one promise of Belay, with the tests that check it. The rows are about Belay itself, about the systems whose hooks it runs, and about cases in which those systems differ.",
    "",
    "## What differs on purpose",
    "",
    "What a system does, and what Belay does instead. [Compatibility](compatibility.md) has the reasons.",
    "",
    "| system | there | in Belay |",
    "| --- | --- | --- |",
    ...differences(problems),
    ...lines,
    ""
  ].join("\n")
  return { text, problems, open: [...known].filter((id) => !tests.has(id)) }
}
