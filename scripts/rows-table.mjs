// Writes docs/compatibility.md: what is promised, row by row, and the tests that show it. `--check` only compares.
// A test shows a row when the line above it is a tag such as `// rows: B-13, C-34`.
import { globSync, readFileSync, writeFileSync } from "node:fs"

const page = "docs/compatibility.md"

/** The number of tagged tests by row and file. */
const testsOf = new Map()
const wrongTags = []
for (const file of globSync("packages/*/test/**/*.test.ts").map((name) => name.replaceAll("\\", "/")).sort()) {
  for (const [line, list] of readFileSync(file, "utf8").matchAll(/^[ \t]*\/\/ rows:(.*)$/gm)) {
    const ids = list.trim().split(/, */)
    if (ids.some((id) => !/^(?:[A-E]|U|DEC)-\d\d$/.test(id))) wrongTags.push(`${file}: ${line.trim()}`)
    for (const id of ids) {
      const counts = testsOf.get(id) ?? new Map()
      testsOf.set(id, counts.set(file, (counts.get(file) ?? 0) + 1))
    }
  }
}

const known = new Set()
let open = 0
const lines = readFileSync("scripts/rows.txt", "utf8").trim().split("\n").flatMap((line) => {
  if (line.startsWith("# ")) {
    return ["", `## ${line.slice(2)}`, "", "| row | what it says | tests |", "| --- | --- | --- |"]
  }
  const [, id, text] = /^(\S+) (.*)$/.exec(line)
  known.add(id)
  const counts = [...testsOf.get(id) ?? []]
  if (counts.length === 0) open++
  const tests = counts.map(([file, count]) =>
    `[${file.split("/").at(-1).replace(".test.ts", "")}](../${file})${count > 1 ? ` (${count})` : ""}`
  )
  return [`| ${id} | ${text} | ${tests.join(", ") || "none"} |`]
})
const unknown = [...testsOf.keys()].filter((id) => !known.has(id)).map((id) => `${id} is not in scripts/rows.txt`)

/** The tables of differences on the pages of the systems, as one. */
const systems = ["claude-code", "codex", "copilot", "gemini", "cursor", "windsurf", "factory", "kodelet", "base-coat"]
const differences = systems.flatMap((name) => {
  const page = readFileSync(`docs/${name}.md`, "utf8")
  const [, part = ""] = /^## What differs\n([\s\S]*?)(?:^## |$(?![\s\S]))/m.exec(page) ?? []
  const [, title = ""] = /^\| in (.*?) \|/m.exec(part) ?? []
  const rows = part.split("\n").filter((line) => line.startsWith("| ")).slice(2)
  if (rows.length === 0) wrongTags.push(`docs/${name}.md has no table below "What differs"`)
  return rows.map((row) => `| [${title}](${name}.md) ${row}`)
})

const text = `# What runs as it does elsewhere

Each row is one promise of Belay, with the tests that check it. The rows are about Belay itself, about the systems whose hooks it runs, and about cases in which those systems differ.
Written by \`npm run rows\` from \`scripts/rows.txt\` and from the tags \`// rows: …\` above the tests.

## What differs on purpose

What a system does, and what Belay does instead. The rows are those of the pages of the systems. There are two reasons for most of them: hooks can only make an agent stricter, and a project decides nothing before somebody has trusted it.

| system | there | in Belay |
| --- | --- | --- |
${differences.join("\n")}

Hooks of Cline are not loaded: two pages of its documentation describe two different inputs, with other names for the same fields, so scripts for one of them fail with the other.
${lines.join("\n")}
`

const problems = [...wrongTags.map((tag) => `not a tag of rows: ${tag}`), ...unknown]
if (process.argv.includes("--check") && readFileSync(page, "utf8") !== text) {
  problems.push(`${page} is not up to date. Run: npm run rows`)
}
if (problems.length > 0) {
  console.error(problems.join("\n"))
  process.exitCode = 1
}
if (!process.argv.includes("--check")) writeFileSync(page, text)
console.log(`${known.size - open} rows shown, ${open} open`)
