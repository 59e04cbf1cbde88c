// Writes docs/compatibility.md: what the systems whose hooks run here promise, and the tests that show it. `--check`
// only says whether it is up to date.
import { globSync, readFileSync, writeFileSync } from "node:fs"

const path = "docs/compatibility.md"

/** Titles of tests that begin with ids of rows, by id. */
const shown = new Map()
for (const file of globSync("packages/*/test/**/*.test.ts").map((name) => name.replaceAll("\\", "/")).sort()) {
  for (
    const [, title] of readFileSync(file, "utf8").matchAll(
      /(?:\b(?:it|describe)\b[\w.]*\(\s*|^\s*)["'`]((?:[A-Z]+-?\d+ )*[BCDE]-\d\d\b[^"'`\n]*)/gm
    )
  ) {
    for (const id of title.match(/\b[BCDE]-\d\d\b/g)) {
      const found = shown.get(id) ?? new Map()
      shown.set(id, found.set(file, [...found.get(file) ?? [], title.replaceAll(/\b[A-Z]+-?\d+ /g, "").trim()]))
    }
  }
}

let open = 0
const lines = readFileSync("scripts/rows.txt", "utf8").trim().split("\n").flatMap((line) => {
  if (line.startsWith("# ")) {
    return ["", `## ${line.slice(2)}`, "", "| row | what it says | tests | status |", "| --- | --- | --- | --- |"]
  }
  const id = line.slice(0, 4)
  const found = shown.get(id)
  if (found === undefined) open++
  const tests = [...found ?? []].map(([file, titles]) =>
    `[${file.split("/").at(-1).replace(".test.ts", "")}](../${file})${titles.length > 1 ? ` (${titles.length})` : ""}`
  )
  return [`| ${id} | ${line.slice(5)} | ${tests.join(", ")} | ${found === undefined ? "open" : "shown"} |`]
})

const text = `# What runs as it does elsewhere

What the systems promise whose hooks run here, row by row, and the tests that show it. Written by \`npm run rows\`: a test shows a row when its title begins with the row's id.
${lines.join("\n")}
`

if (process.argv.includes("--check")) {
  if (readFileSync(path, "utf8") !== text) {
    console.error(`${path} is not up to date. Run: npm run rows`)
    process.exit(1)
  }
} else writeFileSync(path, text)
console.log(`${lines.filter((line) => line.endsWith("| shown |")).length} rows shown, ${open} open`)
